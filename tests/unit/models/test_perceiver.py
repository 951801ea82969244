"""A Perceiver reads anything that has cells and places, at a cost of cells × latents, and answers any query."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import record
from regard.layers.cells import cells, points
from regard.models import build
from regard.models.perceiver import PRESETS, Config, Perceiver
from regard.train.small import count_operations, count_parameters

ANY = replace(PRESETS["perceiver-any"], latents=8, width=16, heads=2, cross_heads=2, qk=16, bands=2)


def nano(**changes: Any) -> Perceiver:
    torch.manual_seed(0)
    return Perceiver(replace(PRESETS["perceiver-nano"], **changes)).eval()


def operations(model: Perceiver, side: int) -> int:
    image = torch.zeros(1, 3, side, side)
    with torch.no_grad():
        return count_operations(lambda: model(image))


def test_cost_grows_with_the_input_and_not_with_its_square() -> None:
    model = nano()
    first, second, third = (operations(model, side) for side in (16, 32, 64))
    # Four and sixteen times the cells of the first: the growth is a line through what the latents cost alone.
    assert third - second == 4 * (second - first)


def test_cost_of_reading_grows_with_the_latents() -> None:
    few, many = (nano(latents=count, depth=1) for count in (4, 8))
    grown = [operations(model, 64) - operations(model, 32) for model in (few, many)]
    cells_more = 16**2 - 8**2
    # Of each cell: keys and values are made once for all latents, then each latent scores and mixes it.
    scored_and_mixed = 2 * 2 * 32  # looks × (queries · keys and weights · values) × width
    assert grown[1] - grown[0] == cells_more * (8 - 4) * scored_and_mixed * 2  # a product is two operations


@torch.no_grad()
def test_cells_in_another_order_with_their_places_change_nothing() -> None:
    model, (x, places) = nano(), cells(torch.randn(2, 3, 16, 16), 4)
    order = torch.randperm(x.shape[1])
    torch.testing.assert_close(model(x, places), model(x[:, order], places[order]), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(model(x, places), model(x[:, order], places), atol=1e-3)


@torch.no_grad()
def test_padding_is_not_seen() -> None:
    model, (x, places) = nano(), cells(torch.randn(1, 3, 16, 16), 4)
    longer = torch.cat((x, torch.full((1, 3, x.shape[2]), 9.0)), dim=1)
    visible = torch.arange(19)[None] < 16
    where = torch.cat((places, places[:3]))
    torch.testing.assert_close(model(longer, where, visible=visible), model(x, places), atol=1e-5, rtol=1e-5)


def test_a_shared_tower_has_the_weights_of_one() -> None:
    shared, apart = nano(repeats=4), nano(repeats=4, share=False, looks=2)
    assert len(shared.towers) == 1
    assert len(apart.towers) == 4
    one = count_parameters(shared.towers[0])
    assert count_parameters(apart) - count_parameters(shared) == 3 * one
    assert len(nano(looks=3).crosses) == 2  # the first look is its own, and all others are one


@torch.no_grad()
def test_what_is_shared_is_used_again() -> None:
    with record(model := nano()) as trace:
        model(torch.randn(1, 3, 16, 16))
    assert len(trace["towers.0.0.attn"]) == 3
    assert [len(trace[f"crosses.{i}.attn"]) for i in range(2)] == [1, 1]


def inputs() -> dict[str, tuple[Tensor, ...]]:
    return {
        "picture": (torch.randn(2, 3, 32, 32),),
        "spectrogram": (torch.randn(2, 1, 40, 96),),
        "film": (torch.randn(2, 3, 8, 32, 32),),
        "points": points(torch.rand(2, 50, 3)),
    }


@torch.no_grad()
@pytest.mark.parametrize("kind", inputs())
def test_one_config_reads_pictures_sounds_films_and_points(kind: str) -> None:
    torch.manual_seed(0)
    model = Perceiver(ANY).eval()
    given = inputs()[kind]
    said = model(*given)
    assert said.shape == (2, 10)
    changed = (given[0] + 0.5, *given[1:]) if given[0].numel() else (given[0], -given[1])
    assert not torch.allclose(model(*changed), said)


@torch.no_grad()
def test_a_narrower_input_is_one_that_is_filled_up_with_zeros() -> None:
    model, image = Perceiver(ANY).eval(), torch.randn(1, 3, 8, 8)
    x, places = cells(image, 4)
    wide = torch.nn.functional.pad(x, (0, 3 * 64 - x.shape[-1]))
    deep = torch.nn.functional.pad(places, (1, 0))
    torch.testing.assert_close(model(image), model(wide, deep))
    torch.testing.assert_close(model(image), model(x, places))


@torch.no_grad()
def test_any_place_can_be_asked_for_and_answers_do_not_know_of_each_other() -> None:
    model, image = nano(decoder="places", classes=2), torch.randn(1, 3, 16, 16)
    everywhere = torch.rand(30, 2) * 2 - 1
    said = model(image, queries=everywhere)
    assert said.shape == (1, 30, 2)
    torch.testing.assert_close(model(image, queries=everywhere[7:8])[:, 0], said[:, 7], atol=1e-5, rtol=1e-5)
    assert model(image).shape == (1, 16, 2)  # of itself, one for each cell


@torch.no_grad()
@pytest.mark.parametrize(
    ("decoder", "shape"), [("mean", (2, 5)), ("query", (2, 5)), ("cells", (2, 16, 5)), ("none", (2, 6, 32))]
)
def test_a_decoder_says_as_much_as_it_is_asked(decoder: str, shape: tuple[int, ...]) -> None:
    assert nano(decoder=decoder)(torch.randn(2, 3, 16, 16)).shape == shape


@torch.no_grad()
def test_a_text_is_answered_word_by_word() -> None:
    model = Perceiver(replace(PRESETS["perceiver-letters"], size=12, latents=4, channels=32, width=32, qk=32)).eval()
    assert model(torch.randint(6, 262, (2, 9))).shape == (2, 9, 262)


@torch.no_grad()
def test_pictures_of_other_sizes_have_places_too() -> None:
    assert nano()(torch.randn(1, 3, 24, 40)).shape == (1, 5)


@torch.no_grad()
def test_photographs_are_read_by_pixels_or_by_patches_with_fourier_positions() -> None:
    pixels, patches = (PRESETS[name] for name in ("perceiver-cifar", "perceiver-cifar-patches"))
    assert pixels == replace(patches, patch=1)
    for config, side, numbers in ((pixels, 32, 3), (patches, 16, 12)):
        features, places = Perceiver(replace(config, depth=1)).lay_out(torch.randn(2, 3, 32, 32))
        # A frequency has a sine and a cosine along each axis, and each axis stands there as it is.
        assert features.shape == (2, side**2, numbers + 2 * (2 * config.bands + 1))
        assert torch.unique(features[0, :, numbers:], dim=0).shape[0] == side**2
        assert places.abs().max() == 1


def test_cells_are_in_reading_order() -> None:
    picture = torch.arange(16.0).view(1, 1, 4, 4)
    x, places = cells(picture, 2)
    assert x[0, 1].tolist() == [2, 3, 6, 7]
    assert places.tolist() == [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    film, where = cells(torch.zeros(1, 3, 4, 4, 6), 2)
    assert (film.shape, where.shape) == ((1, 12, 24), (12, 3))


def test_gradients_reach_every_weight() -> None:
    model = build("perceiver-nano")
    model(torch.randn(2, 3, 16, 16)).sum().backward()
    assert all(each.grad is not None and each.grad.isfinite().all() for each in model.parameters())


@pytest.mark.usefixtures("as_users_meet_it")
@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda: Config(looks=9), "9 looks do not fit 8 repeats; give 1 to 8"),
        (lambda: Config(decoder="all"), "no decoder is called 'all'; choose mean, query, places"),
        (lambda: Config(decoder="words"), "a decoder of words needs a vocabulary; give words, say 262"),
        (lambda: Config(decoder="places", axes=0), "words and sets have no places to be asked for"),
        (lambda: nano(cross_heads=5), "32 channels of queries and keys do not split into 5 heads"),
        (lambda: nano()(torch.randn(1, 3, 18, 16)), "a side of 18 does not split into patches of 4"),
        (lambda: nano()(torch.randn(1, 4, 48)), "cells of 2 axes need places"),
        (lambda: nano()(torch.randn(1, 4, 48), torch.zeros(4, 3)), "3 axes of a place are more than the 2 of this"),
        (lambda: nano()(torch.randn(1, 4, 16, 16)), "64 numbers of a cell are more than the 48 of this model"),
        (lambda: nano()(torch.randn(1, 3, 16, 16), torch.zeros(16, 2)), "has places of its own; leave places out"),
        (lambda: nano()(torch.randn(1, 3, 16, 16), queries=torch.zeros(1, 2)), "'mean' is asked for no places"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(ask: Callable[[], object], why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        ask()
