"""Numbers of a `Chance` in the forms that varying pictures needs: many at once, normal ones, and of a beta law."""

import math

import numpy as np
from jaxtyping import Float64

from regard.chance import Chance, bits


def uniforms(chance: Chance, count: int) -> Float64[np.ndarray, " n"]:
    """So many numbers from 0 to below 1."""
    return (bits(chance, count) >> np.uint64(11)) * 2.0**-53


def integers(chance: Chance, count: int, limit: int) -> np.ndarray:
    """So many whole numbers from 0 to limit - 1."""
    return (uniforms(chance, count) * limit).astype(np.int64)


def normal(chance: Chance) -> float:
    """A number of mean 0 and deviation 1 (Box and Muller 1958)."""
    return math.sqrt(-2.0 * math.log(1.0 - chance.uniform())) * math.cos(2.0 * math.pi * chance.uniform())


def beta(chance: Chance, alpha: float) -> float:
    """A number from 0 to 1 of the symmetric beta law (Cheng 1978, algorithm BA)."""
    if not 0.05 <= alpha <= 1000.0:
        raise ValueError(f"alpha {alpha} is out of bounds; give 0.05 to 1000, say 0.8, or 0 for no mixing at all")
    width = 1.0 / alpha if alpha <= 1.0 else math.sqrt((2.0 * alpha - 2.0) / (2.0 * alpha * alpha - 2.0 * alpha))
    slope = alpha + 1.0 / width
    while True:
        first, second = max(chance.uniform(), 2.0**-53), 1.0 - chance.uniform()
        v = width * math.log(first / (1.0 - first))
        w = alpha * math.exp(v)
        if 2.0 * alpha * math.log(2.0 * alpha / (alpha + w)) + slope * v - math.log(4.0) >= math.log(
            first * first * second
        ):
            return w / (alpha + w)
