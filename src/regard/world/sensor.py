"""Other senses than sight: a range finder with the faults of real ones, and a camera for warmth."""

import numpy as np
from jaxtyping import Float32

from regard.chance import Chance
from regard.world import noise
from regard.world.picture import Picture
from regard.world.scene import KINDS

# How warm a material is; colour says nothing about it, so that one sense cannot be guessed from the other.
WARMTH: dict[str, float] = {"plain": 0.8, "striped": 0.55, "dotted": 0.3, "checked": 0.45}
_COLD = 0.1  # the backdrop


def range_finder(
    picture: Picture, seed: int = 0, *, step: float = 0.01, spread: float = 0.004
) -> Float32[np.ndarray, "h w"]:
    """Depth as a cheap sensor measures it, in metres, 0 where no echo came back.

    The error grows with the square of the distance, as it does when depth is found by triangulation; readings come in
    steps that grow the same way; most pixels that two surfaces share give no echo, and few others fail.
    """
    chance = Chance(seed, "range finder")
    depth = picture.depth
    square = depth * depth
    measured = depth + noise.normal(chance, *depth.shape) * (spread * square)
    grid = np.maximum(step * square, step)
    measured = np.maximum(np.rint(measured / grid), 1.0) * grid
    lost = noise.uniform(chance, *depth.shape) < np.where(picture.edges, 0.7, 0.01)
    echo: np.ndarray = np.where(lost, 0.0, measured).astype(np.float32)
    return echo


def infrared(picture: Picture, seed: int = 0, *, spread: float = 0.015) -> Float32[np.ndarray, "h w"]:
    """Warmth from 0 to 1: a thing's fill decides it, its kind varies it a little, its colour not at all."""
    things = picture.scene.things
    warmth = [WARMTH[thing.fill] + 0.02 * (KINDS.index(thing.kind) - 3.5) for thing in things]
    seen = np.array([*warmth, _COLD], np.float32)[picture.instance]  # the backdrop is -1, the last
    blurred = _softened(_softened(seen).T).T
    warm: np.ndarray = np.clip(blurred + noise.normal(Chance(seed, "infrared"), *seen.shape) * spread, 0.0, 1.0)
    return warm


def _softened(field: Float32[np.ndarray, "h w"]) -> Float32[np.ndarray, "h w"]:
    """Each row a little blurred: a warm thing warms the pixel beside it."""
    padded = np.pad(field, ((0, 0), (1, 1)), mode="edge")
    soft: np.ndarray = (padded[:, :-2] + padded[:, 2:]) * 0.25 + field * 0.5
    return soft
