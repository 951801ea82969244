"""Intervals are as wide as they must be."""

from statistics import median

import pytest

from regard.claims.interval import bootstrap, student


def test_three_runs_have_the_interval_of_the_textbook() -> None:
    mean, low, high = student([1.0, 2.0, 3.0])
    assert (mean, low, high) == pytest.approx((2.0, 2.0 - 4.303 / 3**0.5, 2.0 + 4.303 / 3**0.5))


def test_one_run_tells_nothing_about_the_next() -> None:
    assert student([5.0]) == (5.0, 5.0, 5.0)


def test_an_interval_narrows_with_more_items() -> None:
    few, many = bootstrap([0.0, 1.0] * 5), bootstrap([0.0, 1.0] * 500)
    assert few[0] == many[0] == 0.5
    assert few[1] < many[1] < 0.5 < many[2] < few[2]


def test_the_middle_one_does_not_mind_a_busy_moment() -> None:
    assert bootstrap([1.0] * 9 + [100.0], median) == (1.0, 1.0, 1.0)


def test_the_same_items_give_the_same_interval() -> None:
    assert bootstrap([1.0, 2.0, 4.0]) == bootstrap([1.0, 2.0, 4.0])
