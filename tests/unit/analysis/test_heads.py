"""Masks of heads: what knows the thing outlines it, a border counts for nobody, and the best head is not told."""

import numpy as np
import pytest
import torch

from regard.analysis.seeing.heads import best_head, enlarge, head_overlaps, mask_of, middle_disc, most, overlap
from regard.analysis.seeing.pointing import CHANCE, MIDDLE, OF_ATTENTION, Marked, marked, score_maps
from regard.models import build


def test_the_largest_weights_that_hold_the_mass_are_kept() -> None:
    weights = torch.tensor([[0.1, 0.5, 0.2, 0.2], [0.25, 0.25, 0.25, 0.25]])
    kept = most(weights)
    assert kept[0].tolist() in ([False, True, True, False], [False, True, False, True])
    assert kept[1].sum() == 3  # two of them hold half


def test_the_mask_of_a_head_depends_on_shares_and_not_on_how_much_it_looks_at_cls() -> None:
    looked = np.array([[[3.0, 1.0], [0.0, 0.0]], [[0.1, 0.1], [0.1, 0.1]]], np.float32)
    assert mask_of(looked)[0].tolist() == [[True, False], [False, False]]
    np.testing.assert_array_equal(mask_of(looked), mask_of(looked / 8))


def test_overlap_is_intersection_over_union() -> None:
    right = np.zeros((1, 4, 4), bool)
    right[:, :2] = True
    said = np.stack([right, ~right, right | ~right], axis=1)
    assert overlap(said, right).tolist() == [[1.0, 0.0, 0.5]]


def test_a_border_is_scored_as_neither_thing_nor_not() -> None:
    right, border = np.zeros((1, 4, 4), bool), np.zeros((1, 4, 4), bool)
    right[:, :2], border[:, 2] = True, True
    with_border = np.stack([right | border, right], axis=1)
    assert overlap(with_border, right, border).tolist() == [[1.0, 1.0]]
    assert overlap(with_border, right)[0, 0] < 1


def test_a_cell_is_all_the_pixels_whose_middle_it_covers() -> None:
    cells = np.array([[[True, False], [False, True]]])
    np.testing.assert_array_equal(enlarge(cells, 6, 4)[0], np.kron(cells[0], np.ones((3, 2), bool)))
    assert enlarge(cells, 5, 5).sum() in (12, 13)


def test_the_head_of_a_picture_is_chosen_by_other_pictures() -> None:
    # Head 0 is best for the first, third and fifth, head 1 for those between: chosen by the others, both are wrong.
    found = np.array([[1.0, 0.0], [0.0, 1.0]] * 3)
    assert best_head(found).tolist() == [0.0] * 6
    assert best_head(np.array([[0.2, 0.6]] * 4)).tolist() == [0.6] * 4
    with pytest.raises(ValueError, match="1 pictures do not tell which head is best on others; give 2 or more"):
        best_head(found[:1])


def test_a_disc_in_the_middle_is_as_large_as_things_are() -> None:
    masks = np.zeros((2, 32, 32), bool)
    masks[0, :16, :16] = masks[1, 16:] = True
    disc = middle_disc(masks)
    assert disc.mean() == pytest.approx(masks.mean(), abs=0.02)
    assert disc[16, 16]
    assert not disc[0, 0]


def test_a_head_of_cls_that_looks_at_the_thing_alone_outlines_it() -> None:
    """[CLS] asks for what is bright, which the thing alone is."""
    torch.manual_seed(0)
    model = build("vit-nano", classes=0, registers=0, position="none", heads=1, depth=1).eval()
    mask = np.zeros((3, 16, 16), bool)
    mask[0, :8, 4:12], mask[1, 8:, 8:], mask[2, 4:12, :4] = True, True, True
    image = torch.from_numpy(np.repeat(mask[:, None], 3, axis=1)).float() * 2 - 1
    block = model.blocks[0]
    with torch.no_grad():  # the key of a bright patch is made what [CLS] asks for
        bright, dark = (block.attn_norm(model.stem(each * torch.ones(1, 3, 4, 4))[0, 0, 0]) for each in (1.0, -1.0))
        block.attn.q.weight.zero_()
        block.attn.k.weight.zero_()
        block.attn.q.bias.zero_()
        block.attn.q.bias[0] = 100.0
        block.attn.k.weight[0] = bright - dark
    found = head_overlaps(model, Marked(image, mask, None))
    assert found.shape == (3, 1)
    assert found.min() > 0.6  # of equal weights on the thing, three fifths of its cells are kept


def test_pictures_without_classes_are_scored_by_maps_that_need_none() -> None:
    torch.manual_seed(0)
    model = build("vit-nano", classes=0).eval()
    pictures = marked(count=3, data="world/big", size=16, named=False)
    found = score_maps(model, pictures)
    assert list(found) == [*OF_ATTENTION, MIDDLE, CHANCE]
    assert all(each.deletion is None and each.insertion is None for each in found.values())
    assert all(0 <= each.covers.value <= 100 for each in found.values())
    with pytest.raises(ValueError, match="Grad-CAM is of a class, and these pictures have none; choose attention"):
        score_maps(model, pictures, ways=("Grad-CAM",))


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_model_without_attention_and_pictures_without_masks_are_refused() -> None:
    with pytest.raises(ValueError, match="ConvNeXt has no attention over a picture; choose a model that has"):
        head_overlaps(build("convnext-nano").eval(), marked(count=2, size=16))
    with pytest.raises(ValueError, match="no set of pictures with the mask of one thing each is called 'cifar10'; try"):
        marked(data="cifar10")
    with pytest.raises(ValueError, match="the classes of pets are no kinds of the world; leave kinds out"):
        marked(data="pets", kinds=True)
    with pytest.raises(ValueError, match="0 pictures leave nothing to score; give 1 or more"):
        marked(count=0)
