"""Sensors side by side, and the true projection from what one of them sees to what another does.

A sensor looks straight ahead, as the eye does, from some way to the right of it. Things are flat and face it, so a
place with its depth, and a box with the depth of its thing, are found by another sensor exactly.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from regard.world.picture import Picture, render
from regard.world.scene import BASELINE, FOCAL, Scene


@dataclass(frozen=True, slots=True)
class Mount:
    """Where a sensor hangs, and how fine it sees."""

    right: float = 0.0  # metres to the right of the camera; below 0, to its left
    size: int = 64  # pixels along a side

    def look(self, scene: Scene) -> Picture:
        """The truth about each pixel that the sensor sees."""
        return render(scene, self.size, baseline=self.right)


CAMERA, BESIDE = Mount(), Mount(BASELINE)  # the left eye, and a sensor where the right one is


def project(
    places: Float[np.ndarray, "*n 2"], depth: Float[np.ndarray, "*n"], one: Mount, other: Mount
) -> Float[np.ndarray, "*n 2"]:
    """Where another sensor sees places that one sees at a depth in metres: across and down, in pixels.

    The middle of the first pixel is 0.5. Whether something hides the place there, `sees` tells.
    """
    share = np.asarray(places, np.float64) / one.size
    # Rounded as the painter rounds what moves, so that what should be a whole pixel is one.
    moved = (np.rint(place.right * FOCAL * place.size / depth * 1024) / 1024 / place.size for place in (one, other))
    before, after = moved
    return np.stack([(share[..., 0] + before - after) * other.size, share[..., 1] * other.size], axis=-1)


def carry(
    boxes: Float[np.ndarray, "n 4"], depth: Float[np.ndarray, " n"], one: Mount, other: Mount
) -> Float[np.ndarray, "n 4"]:
    """Boxes of things (left, top, right, bottom, in pixels) as another sensor sees them, cut at its border."""
    corners = np.asarray(boxes, np.float64).reshape(-1, 2, 2)
    found = project(corners, np.repeat(np.asarray(depth, np.float64)[:, None], 2, axis=1), one, other)
    cut: np.ndarray = np.clip(found, 0, other.size).reshape(-1, 4)
    return cut


def sees(scene: Scene, one: Mount, other: Mount) -> Bool[np.ndarray, "h w"]:
    """Which pixels of one sensor show what another sees too, and neither border nor thing hides from it."""
    mine, theirs = one.look(scene), other.look(scene)
    middles = np.arange(one.size) + 0.5
    places = np.stack(np.meshgrid(middles, middles), axis=-1)
    there = np.floor(project(places, mine.depth.astype(np.float64), one, other)).astype(np.int64)
    inside: np.ndarray = ((there >= 0) & (there < other.size)).all(axis=-1)
    column, row = (np.clip(there[..., i], 0, other.size - 1) for i in (0, 1))
    # The sheets of the backdrop are one instance, so the surface is told by its depth as well.
    same = (theirs.instance[row, column] == mine.instance) & (theirs.depth[row, column] == mine.depth)
    seen: np.ndarray = inside & same
    return seen
