"""Optical flow: where what is seen in one frame has gone in another, exact from how the things moved."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, UInt8

from regard.world.frame import back, onto
from regard.world.picture import render
from regard.world.scene import Scene, Thing
from regard.world.silhouette import SILHOUETTES, Field


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """How far each pixel of a frame moves until another frame, and whether it can be seen there."""

    moved: Float32[np.ndarray, "h w 2"]  # pixels to the right and down
    occluded: Bool[np.ndarray, "h w"]  # hidden behind a thing, or beyond the border, in the other frame


def flow(before: Scene, after: Scene, size: int = 64) -> Flow:
    """The way from one frame to another, of the same things before the same backdrop, forwards or backwards.

    Nothing is matched: a pixel shows a place on a thing, and that place is where the thing has taken it. Shadows and
    the light on a cut edge do not move with a thing, so colours agree best under a light without strength.
    """
    _check(before, after)
    instance = render(before, size).instance
    pixel = (np.arange(size) + 0.5) / size
    x, y = np.meshgrid(pixel, pixel)
    to_x, to_y = x.copy(), y.copy()
    for index, (start, end) in enumerate(zip(before.things, after.things, strict=True)):
        here = instance == index
        to_x[here], to_y[here] = back(end, *onto(start, x[here], y[here]))
    occluded = (to_x < 0) | (to_x >= 1) | (to_y < 0) | (to_y >= 1)
    rank = {thing: place for place, thing in enumerate(_far_to_near(after))} | {-1: -1}
    mine = np.array([rank[index] for index in range(-1, len(after.things))])[instance.astype(np.int64) + 1]
    for index, thing in enumerate(after.things):
        occluded |= (mine < rank[index]) & _covers(thing, to_x, to_y)
    moved = np.stack([to_x - x, to_y - y], axis=-1) * size
    return Flow(moved.astype(np.float32), occluded)


def bring_back(frame: UInt8[np.ndarray, "h w 3"], moved: Float32[np.ndarray, "h w 2"]) -> UInt8[np.ndarray, "h w 3"]:
    """The frame before, rebuilt from the one after by the flow to it; what lies beyond its border repeats the border.

    With the flow the other way, from the later frame to the earlier one, it makes the next frame from the one before.
    """
    height, width = frame.shape[:2]
    column = np.clip(np.arange(width, dtype=np.float32) + moved[..., 0], 0, width - 1)
    row = np.clip(np.arange(height, dtype=np.float32)[:, None] + moved[..., 1], 0, height - 1)
    left, top = np.floor(column), np.floor(row)
    across, down = (column - left)[..., None], (row - top)[..., None]
    x, y = (first.astype(np.int64) for first in (left, top))
    right, below = np.minimum(x + 1, width - 1), np.minimum(y + 1, height - 1)
    pixels = frame.astype(np.float32)
    upper = pixels[y, x] + (pixels[y, right] - pixels[y, x]) * across
    lower = pixels[below, x] + (pixels[below, right] - pixels[below, x]) * across
    rebuilt: np.ndarray = (upper + (lower - upper) * down + 0.5).astype(np.uint8)
    return rebuilt


def _far_to_near(scene: Scene) -> list[int]:
    """As the painter lays them: of two at one depth, the later one is on top."""
    return sorted(range(len(scene.things)), key=lambda i: -scene.things[i].depth)


def _covers(thing: Thing, x: Field, y: Field) -> np.ndarray:
    covered: np.ndarray = SILHOUETTES[thing.kind](*onto(thing, x, y)) <= 0
    return covered


def _check(before: Scene, after: Scene) -> None:
    worn = [[(t.kind, t.size, t.depth) for t in scene.things] for scene in (before, after)]
    if worn[0] != worn[1] or before.backdrop != after.backdrop:
        raise ValueError(
            f"{len(before.things)} and {len(after.things)} things are not two frames of one clip: things keep their "
            "kind, size and depth, and the backdrop stays; give two frames of one clip"
        )
