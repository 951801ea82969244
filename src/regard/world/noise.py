"""Arrays of random numbers from a `Chance`: the same hash, many at a time, equal on every machine."""

import math

import numpy as np
from jaxtyping import Float

from regard.chance import Chance, bits
from regard.world.silhouette import Field


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
