"""Flamingo: what its gates, its mask and its steps promise."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention import media, record
from regard.decode.beam import beam
from regard.decode.generate import greedy
from regard.layers.resampler import Resampler
from regard.models import build
from regard.models.flamingo import FAMILY, PRESETS, Flamingo, example


def flamingo(*, opened: bool = True, **changes: Any) -> Flamingo:
    """A small one; with its gates open as they might be after a training."""
    torch.manual_seed(0)
    model = build("flamingo-nano", **changes).eval()
    assert isinstance(model, Flamingo)
    if opened:
        for block in model.gated:
            for gate in (block.cross_gate, block.mlp_gate):
                nn.init.constant_(gate, 0.7)
    return model


def inputs(model: Flamingo) -> dict[str, Tensor]:
    torch.manual_seed(1)
    return example(model.config)


@pytest.mark.parametrize("training", [False, True])
def test_closed_gates_leave_the_language_model_bit_by_bit(training: bool) -> None:
    language = PRESETS["flamingo-nano"].language
    model = flamingo(opened=False).train(training)
    assert language.dropout > 0  # which is frozen too
    given = inputs(model)
    assert model(**given).equal(model.language(given["ids"]))
    assert model.gates == [(0.0, 0.0)] * len(model.gated)


@torch.no_grad()
def test_words_see_the_picture_that_stands_last_before_them_and_none_before_any() -> None:
    model = flamingo()
    given = inputs(model)  # pictures stand at words 1 and 3 of the first row, and at word 2 of the second
    plain = model(**given)
    for picture, first in ((0, 1), (1, 3)):
        other = given["images"].clone()
        other[0, picture] += 1.0
        changed = (model(given["ids"], other, given["shown"]) - plain)[0].abs().amax(-1) > 1e-6
        # A word passes on what it has seen, so that all behind the first that sees the picture may differ.
        assert not changed[:first].any()
        assert changed[first:].all()
    filling = given["images"].clone()
    filling[1, 1] += 1.0
    assert model(given["ids"], filling, given["shown"]).equal(plain)  # it stands nowhere


@torch.no_grad()
def test_a_look_at_pictures_goes_to_one_picture_alone() -> None:
    model = flamingo()
    given = inputs(model)
    with record(model) as trace:
        model(**given)
    latents = model.config.latents
    weights = trace.weights(model.cross_attentions[0])[0].sum(dim=0)  # words × latents of both pictures
    seen = torch.stack([part.sum(-1) > 0 for part in weights.split(latents, dim=-1)], dim=-1)
    assert seen.tolist() == [[False, False], [True, False], [True, False], [False, True], [False, True], [False, True]]


@torch.no_grad()
@pytest.mark.parametrize("cuts", [(1, 2, 3), (2, 4), (3,), ()])
def test_steps_equal_forward(cuts: tuple[int, ...]) -> None:
    model = flamingo()
    given = inputs(model)
    whole, state, steps = model(**given), model.start(given["images"]), []
    for first, last in zip((0, *cuts), (*cuts, 6), strict=True):
        logits, state = model.step(given["ids"][:, first:last], state, shown=given["shown"][:, first:last])
        steps.append(logits)
    torch.testing.assert_close(torch.cat(steps, dim=1), whole)
    assert state.seen.tolist() == [2, 1]


@torch.no_grad()
def test_padding_in_front_changes_nothing() -> None:
    model = flamingo()
    given = inputs(model)
    plain = model(**given)
    pad = torch.zeros(2, 2, dtype=torch.long)
    ids, shown = torch.cat((pad, given["ids"]), dim=1), torch.cat((pad.bool(), given["shown"]), dim=1)
    visible = torch.ones_like(ids, dtype=torch.bool)
    visible[:, :2] = False
    padded = model(ids, given["images"], shown, visible=visible)
    torch.testing.assert_close(padded[:, 2:], plain)
    _, state = model.advance(ids[:, :-1], model.start(given["images"]), shown=shown[:, :-1], visible=visible[:, :-1])
    last, _ = model.step(ids[:, -1:], state)
    torch.testing.assert_close(last[:, 0], plain[:, -1])


@torch.no_grad()
def test_pictures_one_behind_another_are_those_of_their_rows() -> None:
    model = flamingo()
    given = inputs(model)
    images = torch.cat((given["images"][0], given["images"][1, :1]))
    torch.testing.assert_close(model(given["ids"], images, given["shown"]), model(**given))
    none = torch.zeros_like(given["shown"])
    assert model(given["ids"], images[:0], none).isfinite().all()  # a text without any
    with pytest.raises(ValueError, match="need counts of those of each row"):
        model.start(images)


@torch.no_grad()
def test_a_clip_is_read_frame_by_frame_and_knows_their_order() -> None:
    model = flamingo()
    given = inputs(model)
    clips = torch.stack((given["images"], given["images"].flip(-1)), dim=2)
    one, turned = model.see(clips), model.see(clips.flip(2))
    assert one.shape == (2, 2, model.config.latents, model.config.resampler_width)
    assert not torch.allclose(one, turned)
    with pytest.raises(ValueError, match="3 frames are more than the 2 that have a time"):
        model.see(clips[:, :, [0, 1, 0]])


@torch.no_grad()
def test_greedy_and_a_beam_of_one_way_write_the_same_and_rows_do_not_disturb_each_other() -> None:
    model = flamingo()
    given = inputs(model)
    first = torch.tensor([1, 2])

    def begin(rows: slice) -> Any:
        images, ids, shown = (given[name][rows] for name in ("images", "ids", "shown"))
        _, state = model.advance(ids, model.start(images), shown=shown)
        return state

    written = greedy(model.step, begin(slice(None)), first, stop=None, limit=5)
    searched = beam(model.step, begin(slice(None)), first, stop=None, limit=5, size=1)
    assert [one.words for one in written] == [some[0].words for some in searched]
    alone = greedy(model.step, begin(slice(1, 2)), first[1:], stop=None, limit=5)
    assert alone[0].words == written[1].words
    wide = beam(model.step, begin(slice(None)), first, stop=None, limit=5, size=4, count=3)
    assert all(some[0].log_prob >= one.log_prob - 1e-4 for some, one in zip(wide, written, strict=True))


def test_only_what_is_new_learns() -> None:
    model = flamingo(opened=False)
    frozen = {name for name, one in model.named_parameters() if not one.requires_grad}
    assert frozen == {name for name, _ in model.named_parameters() if name.startswith(FAMILY.frozen)}
    seeing = flamingo(frozen_tower=False)
    assert all(one.requires_grad for one in seeing.tower.parameters())
    seeing.train()
    assert seeing.tower.training
    assert not seeing.language.training


def test_the_published_sizes_have_gated_blocks_where_the_paper_has_them() -> None:
    counts = {"flamingo-3b": 24, "flamingo-9b": 10, "flamingo-80b": 12}
    for name, count in counts.items():
        with torch.device("meta"):
            model = build(name)
        assert len(model.gated) == count
        # Tables 1 and 5: the language models have 1.4, 7 and 70 billion parameters, the gated blocks 1.2, 1.6 and 10.
        sizes = {"flamingo-3b": (1.4, 1.2), "flamingo-9b": (7, 1.6), "flamingo-80b": (70, 10)}[name]
        for part, size in zip((model.language, model.gated), sizes, strict=True):
            numbers: list[int] = [one.numel() for one in part.parameters()]
            assert sum(numbers) / 1e9 == pytest.approx(size, rel=0.25)


def test_the_one_for_the_world_is_small_enough_to_ship() -> None:
    with torch.device("meta"):
        assert sum(one.numel() for one in build("flamingo-world").parameters()) < 1_900_000


def test_a_config_that_sees_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"latents=0.*must be 1 or more"):
        FAMILY.build("flamingo-nano", latents=0)


def test_latents_look_at_the_features_and_at_themselves() -> None:
    torch.manual_seed(0)
    resampler = Resampler(16, 3, depth=2, heads=4, hidden=32)
    features = torch.randn(2, 1, 10, 16)
    with record(resampler) as trace:
        found = resampler(features)
    assert found.shape == (2, 3, 16)
    assert trace.weights("blocks.1.attn").shape == (2, 4, 3, 13)
    shuffled = resampler(features[:, :, torch.randperm(10)])
    torch.testing.assert_close(shuffled, found)  # they have no order of their own


def test_text_read_in_steps_says_how_many_images_stood_before() -> None:
    images = torch.tensor([[True, False, True, False]])
    whole = media(images, 2, 2)
    later = media(images[:, 2:], 2, 2, before=torch.tensor([1]))
    assert later.equal(whole[:, :, 2:])
