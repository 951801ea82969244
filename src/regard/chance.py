"""Random choices that are the same on every machine, in every Python, for ever.

A `Chance` is a counter behind a hash (splitmix64): no state is shared, so item 7 is item 7 whoever asks first. The
little world is made of it, and so are the order of batches and the seeds of dropout.
"""

import operator
from collections.abc import Sequence
from typing import TypeVar
from zlib import crc32

import numpy as np
from jaxtyping import UInt64

T = TypeVar("T")

_MASK = (1 << 64) - 1
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # of splitmix64


class Chance:
    """A stream of choices named by a seed, the name of what is being made, and its index."""

    __slots__ = ("_state",)

    def __init__(self, seed: int, name: str, index: int = 0) -> None:
        seed, index = operator.index(seed), operator.index(index)  # a number of numpy's would overflow
        self._state = _mix(_mix(seed & _MASK) ^ _mix(crc32(name.encode())) ^ _mix((index + 1) * _STEP & _MASK))

    def bits(self) -> int:
        """64 random bits."""
        self._state = state = (self._state + _STEP) & _MASK
        return _mix(state)

    def below(self, limit: int) -> int:
        """A whole number from 0 to limit - 1. The bias of the product is below 2⁻⁴⁰ for any limit used here."""
        return (self.bits() * limit) >> 64

    def choose(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        return low + (high - low) * (self.bits() >> 11) * 2.0**-53

    def happens(self, probability: float) -> bool:
        return self.uniform() < probability

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Different options, in random order."""
        if count > len(options):
            raise ValueError(f"cannot choose {count} different options of {len(options)}")
        pool = list(options)
        for i in range(count):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]


def bits(chance: Chance, count: int) -> UInt64[np.ndarray, " n"]:
    """So many times 64 random bits at once, by the same hash."""
    x = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_STEP) + np.uint64(chance.bits())
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_SECOND)
    return x ^ (x >> np.uint64(31))


def _mix(x: int) -> int:
    x = (x ^ (x >> 30)) * _FIRST & _MASK
    x = (x ^ (x >> 27)) * _SECOND & _MASK
    return x ^ (x >> 31)
