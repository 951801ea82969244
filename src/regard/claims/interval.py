"""Intervals of 95 %: how far a number would move if the experiment were done again."""

from collections.abc import Callable, Sequence
from random import Random
from statistics import fmean, stdev
from typing import Any

# Student's t for 1, 2, 3 … degrees of freedom, two-sided.
T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


def student(values: Sequence[float | int]) -> tuple[float, float, float]:
    """The mean of a few runs, and its interval by Student's t."""
    mean = fmean(values)
    if len(values) < 2:
        return mean, mean, mean
    away = T[min(len(values) - 2, len(T) - 1)] * stdev(values) / len(values) ** 0.5
    return mean, mean - away, mean + away


def bootstrap(
    items: Sequence[Any], of: Callable[[Sequence[Any]], float] = fmean, *, rounds: int = 2000
) -> tuple[float, float, float]:
    """A number of many items, their mean or another, and its interval by drawing them again with replacement."""
    chance = Random(0)
    again = sorted(of(chance.choices(items, k=len(items))) for _ in range(rounds))
    return of(items), again[int(0.025 * rounds)], again[int(0.975 * rounds) - 1]
