"""Coverage: a sequence that skips a word of its source pays for it (Wu 2016, eq. 14)."""

import math

import pytest
import torch
from torch import Tensor

from regard.decode import beam
from regard.decode.beam import coverage_penalty

STOP, LAZY, FIRST, SECOND = range(4)


CHANCES = {0: [1e-9, 0.6, 0.4, 1e-9], LAZY: [1.0, 1e-9, 1e-9, 1e-9], FIRST: [1e-9, 1e-9, 1e-9, 1.0]}
# What is looked at when the next word is chosen: for the stop, the same as for the word before.
LOOKS = {LAZY: [0.9, 0.1], FIRST: [0.1, 0.9], SECOND: [0.1, 0.9]}


class Two:
    """A source of two words and two ways to say it: one word that looks at the first of them only, or one for each."""

    def __init__(self) -> None:
        self.last = torch.empty(0, 2)

    def select(self, rows: Tensor) -> "Two":
        return self

    def step(self, words: Tensor, state: "Two") -> tuple[Tensor, "Two"]:
        rows = [int(word) for word in words[:, 0]]
        self.last = torch.tensor([LOOKS.get(row, [0.8, 0.1]) for row in rows])
        return torch.tensor([CHANCES.get(row, CHANCES[LAZY]) for row in rows]).log()[:, None], self

    def best(self, coverage: float) -> tuple[int, ...]:
        seen = None if coverage == 0.0 else (lambda: self.last)
        first = torch.zeros(1, dtype=torch.long)
        ((best,),) = beam(
            self.step, self, first, stop=STOP, limit=5, size=2, length_penalty=0.0, coverage=coverage, seen=seen
        )
        return best.words


def test_coverage_prefers_what_says_everything() -> None:
    assert Two().best(0.0) == (LAZY,)
    assert Two().best(0.02) == (LAZY,)
    assert Two().best(1.0) == (FIRST, SECOND)


def test_the_penalty_is_that_of_the_paper() -> None:
    seen = torch.tensor([[0.5, 0.25, 3.0], [1.0, 2.0, 1.5], [0.1, 1.0, 0.2]])
    expected = [math.log(0.5) + math.log(0.25), 0.0, math.log(0.1) + math.log(0.2)]
    assert coverage_penalty(seen).tolist() == pytest.approx(expected, abs=1e-6)


def test_a_word_never_looked_at_costs_much_but_leaves_a_ranking() -> None:
    none, half = coverage_penalty(torch.tensor([[0.0, 0.0], [0.0, 0.5]])).tolist()
    assert -math.inf < none < half < -50


def test_mistakes_are_named() -> None:
    two = Two()
    with pytest.raises(ValueError, match=r"coverage 0.5 must be 0, or above it with `seen`"):
        beam(two.step, two, torch.zeros(1, dtype=torch.long), stop=STOP, limit=5, coverage=0.5)
