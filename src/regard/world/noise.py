"""Arrays of random numbers from a `Chance`: the same hash, many at a time, equal on every machine."""

import math

import numpy as np
from jaxtyping import Float, UInt64

from regard.world.chance import Chance
from regard.world.silhouette import Field

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def bits(chance: Chance, count: int) -> UInt64[np.ndarray, " n"]:
    """So many times 64 random bits."""
    x = np.arange(1, count + 1, dtype=np.uint64) * _STEP + np.uint64(chance.bits())
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


def uniform(chance: Chance, *shape: int) -> Float[np.ndarray, "..."]:
    """Numbers from 0 to below 1, a multiple of 2⁻²⁴ each."""
    drawn = bits(chance, math.prod(shape)) >> np.uint64(40)
    numbers: Field = (drawn.astype(np.float32) * np.float32(2.0**-24)).reshape(shape)
    return numbers


def normal(chance: Chance, *shape: int) -> Float[np.ndarray, "..."]:
    """A bell of variance 1 and no tails beyond 3.5: the sum of four uniform numbers, which needs no logarithm."""
    first, second, third, fourth = uniform(chance, 4, *shape)
    bell: Field = ((first + second) + (third + fourth) - 2) * np.float32(math.sqrt(3))
    return bell
