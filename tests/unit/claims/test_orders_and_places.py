"""Criteria of the claims about orders, contexts, forcing, convolutions and places, and what they measure with."""

from itertools import product

import pytest
import torch

from regard.claims import contexts, convolution, forcing, places, reordering
from regard.claims.claim import Numbers
from regard.world.language import Pair, pairs

OPEN = "not at this scale"


@pytest.mark.parametrize(
    ("turned", "ordered", "right", "verdict"),
    [
        (90, 2, 0.9, "supported"),
        (90, 20, 0.9, OPEN),
        (30, 2, 0.9, OPEN),
        (5, 2, 0.9, "refuted"),
        (50, 60, 0.9, "refuted"),
        (90, 2, 0.7, OPEN),
    ],
)
def test_reordering(turned: int, ordered: int, right: float, verdict: str) -> None:
    runs = [
        {"data": data, "seed": seed, "accuracy": right}
        | {"crossing": {kind: [ordered if kind == reordering.ORDERED else found, 100] for kind in reordering.KINDS}}
        for data, found in ((reordering.ITALIAN, turned), (reordering.MONOTONE, 0))
        for seed in (0, 1)
    ]
    assert reordering.judge({"runs": runs, "counts": dict.fromkeys(reordering.KINDS, 100)}).verdict == verdict


def _pair(source: str) -> Pair:
    return next(pair for pair in pairs("it", "en", split="test")[:40] if " ".join(pair.source) == source)


def test_a_noun_and_its_adjective_and_a_verb_and_its_pronoun_are_turned_round() -> None:
    pair = _pair("la sorella sa che cinque medici coraggiosi lo mangiano .")
    found = {pair.target[two.first : two.first + 2]: two.kind for two in reordering.twos(pair)}
    assert found["brave", "doctors"] == reordering.NOUN
    assert found["eat", "it"] == reordering.VERB
    assert found["the", "sister"] == reordering.ORDERED


def test_monotone_data_have_the_same_words_and_nothing_is_turned_round() -> None:
    for pair in pairs("it", "en", split="test")[:40]:
        straight = reordering.monotone(pair)
        assert sorted(straight.source) == sorted(pair.source)
        said = {(pair.source[i], pair.target[j]) for i, j in pair.alignment}
        assert {(straight.source[i], straight.target[j]) for i, j in straight.alignment} == said
        first = [min((j for i, j in straight.alignment if i == place), default=0) for place in range(len(pair.source))]
        linked = [j for place, j in enumerate(first) if any(i == place for i, _ in straight.alignment)]
        assert linked == sorted(linked)


@pytest.mark.parametrize(
    ("moved", "cost", "verdict"),
    [(0.8, 0.5, "supported"), (0.3, 0.5, OPEN), (0.05, 0.5, "refuted"), (0.8, -0.1, "refuted")],
)
def test_contexts(moved: float, cost: float, verdict: str) -> None:
    costs = {way: [cost] * 3 for way in contexts.EXCHANGES}
    runs = [{"kind": kind, "moved": [moved] * 3, **costs} for kind in contexts.MODELS]
    assert contexts.judge({"runs": runs}).verdict == verdict


@pytest.mark.parametrize(
    ("free", "alone", "verdict"),
    [(0.2, 0.5, "supported"), (0.2, 0.2, OPEN), (0.05, 0.5, "refuted"), (0.2, 0.1, "refuted")],
)
def test_forcing(free: float, alone: float, verdict: str) -> None:
    shares = {forcing.TEACHER: (0.1, free), forcing.ALONE: (alone, alone)}
    runs = [
        {"training": training, "seed": seed, "wrong": dict(zip(forcing.TESTS, shares[training], strict=True))}
        for training in forcing.TRAININGS
        for seed in (0, 1)
    ]
    assert forcing.judge({"runs": runs}).verdict == verdict


@pytest.mark.parametrize(
    ("said", "right", "edits"),
    [("abc", "abc", 0), ("abd", "abc", 1), ("bc", "abc", 1), ("abcd", "", 4), ("ba", "ab", 2)],
)
def test_edits_put_in_take_out_and_exchange(said: str, right: str, edits: int) -> None:
    assert forcing.edits([*map(ord, said)], [*map(ord, right)]) == edits


def _trained(missed: float, error: float) -> Numbers:
    hand = [{"seed": 0, "side": side, "errors": [1.0, error], "fewer": 0.1} for side in (2, 3)]
    runs = [{"kind": kind, "seed": s, "missed": missed, "cells": 9} for kind in convolution.LAYERS for s in (0, 1)]
    return {"hand": hand, "runs": runs}


@pytest.mark.parametrize(
    ("missed", "error", "verdict"), [(0.01, 1e-9, "supported"), (0.2, 1e-9, OPEN), (0.01, 0.1, "refuted")]
)
def test_convolution(missed: float, error: float, verdict: str) -> None:
    assert convolution.judge(_trained(missed, error)).verdict == verdict


@pytest.mark.parametrize("side", [2, 3])
def test_a_layer_set_by_hand_is_the_convolution_and_a_blurred_one_is_not(side: int) -> None:
    torch.manual_seed(side)
    kernel, maps = torch.randn(5, 3, side, side).double(), torch.randn(2, 8, 8, 3).double()
    right = convolution.convolve(maps, kernel)
    sharp, blurred = (convolution.by_hand(kernel, sharpness) for sharpness in (40.0, 1.0))
    for layer, near in ((sharp, True), (blurred, False)):
        said = convolution.inside(layer(maps.flatten(1, 2)).view(2, 8, 8, 5), side)
        assert torch.allclose(said, right, atol=1e-9) == near


def _scores(**gains: float) -> Numbers:
    """Scores of 0.9 by codes made for their place, less so much by plain ones."""
    runs = [
        {"place": place, "code": code, "seed": seed, "score": 0.9 if code == places.MADE else 0.9 - gains[place]}
        for place, code, seed in product(places.PLACES, places.CODES, (0, 1))
    ]
    return {"runs": runs}


def test_places() -> None:
    assert places.judge(_scores(scale=0.3, sphere=0.1, graph=0.8)).verdict == "supported"
    assert places.judge(_scores(scale=0.3, sphere=0.0, graph=0.8)).verdict == OPEN
    assert places.judge(_scores(scale=0.3, sphere=-0.1, graph=0.8)).verdict == "refuted"
    assert places.judge(_scores(scale=0.3, sphere=0.1, graph=0.8)).number == pytest.approx(0.1)


def test_a_strip_has_marks_as_far_apart_as_it_says() -> None:
    found = places.strips(6, torch.Generator().manual_seed(0))
    for edges, marked, near in zip(found.edges, found.marked[..., 0], found.near.tolist(), strict=True):
        one, other = torch.nonzero(marked)[:, 0].tolist()
        steps = int(places.hops(edges)[one, other])
        assert steps in places.NEAR if near else places.FAR <= steps < places.NODES


def test_steps_between_nodes_of_a_path_are_counted() -> None:
    path = torch.eye(6, dtype=torch.bool).roll(1, 1)
    path[-1, 0] = False
    assert places.hops(path | path.mT)[0].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_field_is_the_same_on_both_sides_of_the_date_line() -> None:
    chance = torch.Generator().manual_seed(0)
    middles = places.directions(places.on_globe(4, chance))
    field = places.Field(middles, torch.ones(4), torch.full((4,), 0.2))
    west, east = torch.tensor([[-180.0, 10.0]]), torch.tensor([[180.0, 10.0]])
    assert torch.allclose(field.at(west), field.at(east), atol=1e-5)
