"""Guesses that only count, on texts small enough to count by hand."""

import numpy as np
import pytest

from regard.analysis.guesses import best_border, overlap, rarity, usual_next


def test_the_usual_next_token_is_the_most_frequent_one() -> None:
    after = usual_next(np.array([0, 1, 0, 1, 0, 2, 3]), 5)
    assert after[:3].tolist() == [1, 0, 3]
    assert after[3] == after[4] == 0  # what nothing follows is followed by the most frequent token


def test_a_rare_word_in_common_tells_more_than_a_frequent_one() -> None:
    weight = rarity(np.array([0] * 90 + [1, 2, 3]), 4)
    assert overlap([0, 1], [1, 2], weight) > overlap([0, 1], [0, 2], weight)
    assert overlap([1, 2, 3], [2, 2, 1], weight) == 1.0
    assert overlap([1], [], weight) == overlap([1], [2], weight) == 0.0


@pytest.mark.parametrize(
    ("values", "truths", "wrong"),
    [
        ((0.1, 0.2, 0.7, 0.9), (False, False, True, True), 0),
        ((0.1, 0.2, 0.7, 0.9), (False, True, False, True), 1),
        ((0.3, 0.4), (True, True), 0),
        ((0.3, 0.4), (False, False), 0),
    ],
)
def test_the_border_errs_least(values: tuple[float, ...], truths: tuple[bool, ...], wrong: int) -> None:
    border = best_border(values, truths)
    errors = [sum((v > b) != t for v, t in zip(values, truths, strict=True)) for b in (border, -1, 0.15, 0.5, 1)]
    assert errors[0] == wrong == min(errors)
