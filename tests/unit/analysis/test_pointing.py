"""Scored maps: a map that knows the thing finds it always, one by chance as often as the thing is large."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.analysis.seeing.pointing import CHANCE, MIDDLE, WAYS, Marked, agree, make_map, marked, score, score_maps
from regard.data.painted import LABELS, world_pictures
from regard.models import build


class Mask(nn.Module):
    """A network that reads the pixels of one mask alone: its class is how bright they are."""

    def __init__(self, mask: np.ndarray) -> None:
        super().__init__()
        self.mask = torch.from_numpy(mask).float()

    def forward(self, image: Tensor) -> Tensor:
        seen = (image * self.mask).sum(dim=(1, 2, 3)) / self.mask.sum()
        return torch.stack((seen, -seen), dim=-1)


def bright(masks: np.ndarray) -> Marked:
    """Pictures that are bright everywhere, and of the first class."""
    count, *sides = masks.shape
    return Marked(torch.ones(count, 3, *sides), masks, np.zeros(count, np.int64))


def squares(count: int, side: int = 16) -> np.ndarray:
    """Masks of a quarter of the side, which are a sixteenth of the picture, each in a place of its own."""
    dice, masks = np.random.default_rng(1), np.zeros((count, side, side), bool)
    for mask, (row, column) in zip(masks, dice.integers(0, 3 * side // 4 + 1, (count, 2)).tolist(), strict=True):
        mask[row : row + side // 4, column : column + side // 4] = True
    return masks


def test_a_map_that_is_the_mask_finds_everything() -> None:
    masks = squares(12)
    found = score((mask.astype(np.float32) for mask in masks), Mask(masks[0]), bright(masks))
    assert found.points.value == found.covers.value == 100
    assert found.points.interval == (100, 100)
    assert found.points.count == 12


def test_a_map_is_not_scored_where_nobody_is_sure() -> None:
    masks = squares(1)
    border = np.roll(masks, (1, 1), axis=(1, 2)) & ~masks
    shifted = (masks | border).astype(np.float32)
    shifted[border] = 2.0  # its highest places lie on the border
    plain = bright(masks)
    unsure = Marked(plain.image, masks, plain.targets, border)
    strict, fair = (score(iter(shifted), Mask(masks[0]), each, steps=1) for each in (plain, unsure))
    assert strict.points.value == 0
    assert strict.covers.value < 100
    assert fair.points.value == fair.covers.value == 100


def test_a_map_that_is_everything_but_the_mask_finds_nothing() -> None:
    masks = squares(12)
    found = score((1 - mask.astype(np.float32) for mask in masks), Mask(masks[0]), bright(masks))
    assert found.points.value == found.covers.value == 0


def test_a_map_by_chance_scores_the_share_of_the_thing() -> None:
    masks, share = squares(600), 1 / 16
    pictures, dice = bright(masks), np.random.default_rng(0)
    maps = (make_map(CHANCE, Mask(masks[0]), pictures.image[:1], target=0, chance=dice) for _ in masks)
    found = score(maps, Mask(masks[0]), pictures, steps=1)
    low, high = found.points.interval or (0, 0)
    assert low < 100 * share < high
    assert found.covers.value == pytest.approx(100 * share / (2 - share), abs=1)


def test_taking_away_what_decides_loses_the_class_and_what_does_not_keeps_it() -> None:
    masks = squares(1)
    right, wrong = (
        score([numbers], Mask(masks[0]), bright(masks)) for numbers in (masks[0].astype(np.float32), 1.0 - masks[0])
    )
    assert right.deletion is not None
    assert right.insertion is not None
    assert wrong.deletion is not None
    assert wrong.insertion is not None
    assert right.deletion.value < wrong.deletion.value
    assert right.insertion.value > wrong.insertion.value
    assert not right.deletion.higher_is_better
    assert right.insertion.higher_is_better


def test_the_middle_is_in_the_middle() -> None:
    found = make_map(MIDDLE, nn.Identity(), torch.zeros(1, 3, 9, 15), target=0, chance=np.random.default_rng(0))
    assert found.shape == (9, 15)
    assert found.argmax() == 4 * 15 + 7


def test_what_decides_beats_chance_and_the_middle_where_one_place_decides_alone() -> None:
    mask = np.zeros((1, 16, 16), bool)
    mask[0, :4, :4] = True
    ways = ("gradients", "integrated gradients", "occlusion", MIDDLE, CHANCE)
    found = score_maps(Mask(mask[0]), bright(np.repeat(mask, 3, axis=0)), ways=ways)
    assert list(found) == list(ways)
    assert all(found[way].points.value == 100 for way in ways[:3])
    assert found[MIDDLE].points.value == 0
    assert found["gradients"].covers.value == 100
    assert found["gradients"].covers.value > found[CHANCE].covers.value


@pytest.mark.parametrize("preset", ["vit-nano", "swin-nano", "convnext-nano"])
def test_every_map_of_a_model_is_scored_and_attention_where_there_is_any(preset: str) -> None:
    torch.manual_seed(0)
    model, told = build(preset).eval(), list[float]()
    pictures = marked(count=2, size=model.config.size)
    assert pictures.targets is not None
    pictures = Marked(pictures.image, pictures.masks, pictures.targets % model.config.classes)
    found = score_maps(model, pictures, steps=2, progress=told.append)
    assert list(found) == [way for way in WAYS if preset != "convnext-nano" or way not in ("attention", "rollout")]
    for one in found.values():
        assert one.deletion is not None
        assert one.insertion is not None
        assert all(0 <= each.value <= 100 for each in (one.points, one.covers, one.deletion, one.insertion))
    assert told == sorted(told)
    assert told[-1] == 1


def test_pictures_of_the_world_are_marked_by_the_thing_they_are_named_after() -> None:
    known, found, kinds = world_pictures("test"), marked(count=5, size=32), marked(count=5, size=32, kinds=True)
    assert found.image.shape == (5, 3, 32, 32)
    assert found.image.abs().max() <= 1
    assert found.targets is not None
    assert kinds.targets is not None
    assert found.unsure is None
    assert found.targets.tolist() == known.targets[:5].tolist()
    assert kinds.targets.max() < 8
    assert LABELS[found.targets[0]].endswith(
        ("disc", "square", "triangle", "star", "ring", "cross", "crescent", "heart")
    )
    assert (found.masks.sum(axis=(1, 2)) > 0).all()
    # Read otherwise, the pictures are others and the masks the same.
    grey = marked(count=5, size=32, read=lambda pixels: torch.from_numpy(pixels.mean(axis=3)[:, None] / 255))
    assert grey.image.shape == (5, 1, 32, 32)
    np.testing.assert_array_equal(grey.masks, found.masks)


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_does_not_belong_together_and_unknown_maps_are_refused() -> None:
    masks = squares(3)
    with pytest.raises(ValueError, match="2 pictures, 3 masks and 3 classes do not belong together"):
        Marked(torch.ones(2, 3, 16, 16), masks, np.zeros(3, np.int64))
    with pytest.raises(ValueError, match="2 maps are not those of 3 pictures; give one for each"):
        score([masks[0].astype(np.float32)] * 2, Mask(masks[0]), bright(masks), steps=1)
    with pytest.raises(ValueError, match="no map is called 'gradcam'; try gradients, Grad-CAM"):
        score_maps(Mask(masks[0]), bright(masks), ways=("gradcam",))


def test_maps_agree_where_they_order_places_alike_whatever_their_size() -> None:
    rising = np.arange(16, dtype=np.float32).reshape(4, 4)
    found = agree({"fine": np.kron(rising, np.ones((2, 2), np.float32)), "coarse": rising**3, "turned": -rising})
    assert found == pytest.approx({("fine", "coarse"): 1.0, ("fine", "turned"): -1.0, ("coarse", "turned"): -1.0})
