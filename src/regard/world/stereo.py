"""Two eyes on one scene: the right eye's view, how far everything moved, and what only the left eye sees."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, UInt8

from regard.world.picture import Picture, render
from regard.world.scene import BASELINE, FOCAL, Scene


@dataclass(frozen=True, slots=True, eq=False)
class Stereo:
    """What the two eyes see. A pixel of the left eye is found `disparity` pixels further left by the right eye."""

    left: Picture
    right: Picture
    disparity: Float32[np.ndarray, "h w"]  # pixels, of what the left eye sees
    occluded: Bool[np.ndarray, "h w"]  # what the left eye sees and the right does not


def stereo(scene: Scene, size: int = 64, *, baseline: float = BASELINE) -> Stereo:
    """The views of two eyes `baseline` metres apart.

    Surfaces carry their paint and their shadows, so the right view, warped by the disparity, is the left one but where
    something is occluded or two surfaces share a pixel. With eyes 6.25 cm apart and a size that 64 divides, all
    disparities of built scenes are whole pixels and this holds exactly. Elsewhere they are fractions, and blending two
    pixels softens what is sharp: at 80 pixels bare paper is within 3 grey levels, the border of a shadow within 16, and
    the stripes and dots of things are not to be compared.
    """
    if baseline < 0:
        raise ValueError(f"a baseline of {baseline} m swaps the eyes; give 0 or more")
    left, right = render(scene, size), render(scene, size, baseline=baseline)
    # Rounded to a thousandth as the painter does, so that what should be a whole pixel is one.
    disparity = (np.rint(baseline * FOCAL * size / left.depth.astype(np.float64) * 1024) / 1024).astype(np.float32)
    return Stereo(left, right, disparity, _occluded(left, right, disparity))


def warp(right: UInt8[np.ndarray, "h w 3"], disparity: Float32[np.ndarray, "h w"]) -> UInt8[np.ndarray, "h w 3"]:
    """The left view rebuilt from the right one; what lies beyond its border repeats the border."""
    first, part, rows = _sources(disparity)
    last = right.shape[1] - 1
    start, end = (right[rows, np.clip(column, 0, last)].astype(np.float32) for column in (first, first + 1))
    left: np.ndarray = (start + (end - start) * part[..., None] + 0.5).astype(np.uint8)
    return left


def _occluded(left: Picture, right: Picture, disparity: Float32[np.ndarray, "h w"]) -> Bool[np.ndarray, "h w"]:
    """Pixels that leave the picture, or whose place in the right view shows another surface."""
    first, part, rows = _sources(disparity)
    nearest = first + (part >= 0.5)
    seen = np.clip(nearest, 0, left.size - 1)
    # The sheets of the backdrop are one instance, so the surface is told by its depth as well.
    other = (right.instance[rows, seen] != left.instance) | (right.depth[rows, seen] != left.depth)
    occluded: np.ndarray = other | (nearest < 0) | (nearest >= left.size)
    return occluded


def _sources(disparity: Float32[np.ndarray, "h w"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each pixel of the left view: the column it comes from, the part of the next one, and its row."""
    place = np.arange(disparity.shape[1], dtype=np.float32) - disparity
    first = np.floor(place)
    return first.astype(np.int64), place - first, np.arange(disparity.shape[0])[:, None]
