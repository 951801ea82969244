"""Pictures and texts in one space: what is given in place of them, and what does not fit."""

from dataclasses import replace

import pytest
import torch

from regard.models import build, efficientnet
from regard.models.clip import CLIP, PRESETS, Text

NANO = PRESETS["clip-nano"]
EYE = efficientnet.PRESETS["efficientnet-nano"]


def nano(**changes: object) -> CLIP:
    model = build("clip-nano", **changes)
    assert isinstance(model, CLIP)
    return model.eval()


def test_vectors_have_length_1_and_logits_are_scaled_cosines() -> None:
    model = nano()
    found = model(torch.randn(3, 3, 16, 16), torch.randint(48, (2, 5)))
    torch.testing.assert_close(found.image.norm(dim=-1), torch.ones(3))
    torch.testing.assert_close(found.text.norm(dim=-1), torch.ones(2))
    torch.testing.assert_close(found.logits, 10 * found.image @ found.text.T - 10)


def test_padding_behind_a_text_changes_nothing() -> None:
    model, ids = nano(), torch.randint(48, (1, 4))
    longer = torch.cat((ids, torch.zeros(1, 3, dtype=torch.int64)), dim=1)
    torch.testing.assert_close(model.encode_text(longer, torch.tensor([4])), model.encode_text(ids))


@pytest.mark.parametrize("both_ways", [False, True])
def test_a_text_is_pooled_at_its_last_token_and_reads_one_way_or_both(both_ways: bool) -> None:
    model = nano(text=replace(NANO.text, causal=not both_ways))
    ids = torch.tensor([[5, 6, 7]])
    other = torch.tensor([[5, 6, 9]])
    first = (model.text.read(ids) - model.text.read(other))[0, 0].abs().max()
    assert (first > 1e-4) == both_ways


@torch.no_grad()
@pytest.mark.parametrize("pool", ["tower", "attention"])
def test_what_towers_made_before_serves_in_place_of_pictures_and_texts(pool: str) -> None:
    model = nano(image=replace(EYE, classes=0), pool=pool)
    image, ids = torch.randn(2, 3, 32, 32), torch.randint(48, (2, 5))
    whole = model(image, ids)
    kept = model(seen=model.image.features(image), told=model.text(ids))
    torch.testing.assert_close(kept.image, whole.image)
    torch.testing.assert_close(kept.text, whole.text)


def test_a_map_of_a_vit_is_not_all_that_its_vector_is_made_of() -> None:
    with pytest.raises(ValueError, match="a ViT pools more than its map; give the pictures, or build with pool="):
        nano().encode_seen(torch.randn(1, 4, 4, 32))


def test_a_batch_without_pictures_or_texts_is_refused() -> None:
    for given in ({}, {"image": torch.randn(1, 3, 16, 16)}, {"ids": torch.ones(1, 3, dtype=torch.int64)}):
        with pytest.raises(ValueError, match="a batch is pictures, or what was seen of them, and texts"):
            nano()(**given)


def test_a_model_that_reads_padding_wants_full_rows() -> None:
    model = nano(text=replace(NANO.text, causal=False, filled=True))
    with pytest.raises(ValueError, match=r"rows of 5 tokens are not filled; .* so give 12"):
        model.encode_text(torch.ones(1, 5, dtype=torch.int64))
    assert model.encode_text(torch.ones(1, 12, dtype=torch.int64)).shape == (1, 16)


def test_pictures_that_are_not_projected_must_be_as_wide_as_the_space() -> None:
    with pytest.raises(ValueError, match="pictures of width 32 that are not projected do not lie in a space of 16"):
        replace(NANO, project="text")
    assert nano(project="text", joint=32).to_image(torch.ones(1, 32)).shape == (1, 32)


def test_published_sizes_have_the_parameters_of_the_papers() -> None:
    counts = {"clip-vit-b32": 151_277_313, "clip-vit-l14": 427_616_513, "clip-siglip-base": 203_155_970}
    for preset, count in counts.items():
        with torch.device("meta"):
            assert sum(each.numel() for each in build(preset).parameters()) == count


def test_a_text_tower_may_be_a_bert_whose_states_are_averaged() -> None:
    from regard.models import bert

    model = nano(text=replace(bert.PRESETS["bert-nano"], head="none"))
    ids = torch.randint(48, (2, 6))
    wanted = model.text.read(ids[1:, :4]).mean(dim=1)
    torch.testing.assert_close(model.text(ids, torch.tensor([6, 4]))[1:], wanted, atol=1e-5, rtol=1e-4)
    assert isinstance(NANO.text, Text)
