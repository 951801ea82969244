"""The painter: many scenes at once, sheet by sheet and then thing by thing, from far to near.

Every surface carries its own paint and the shadows that fall on it, so an eye that has moved sees the same colours
elsewhere.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from regard.world.backdrop import SHEET_DEPTHS, stage
from regard.world.cutout import Cutout, Shadow, cutouts
from regard.world.scene import Scene, disparity

OUTPUTS: tuple[str, ...] = ("rgb", "depth", "instance", "whole", "edges")
BACKDROP = -1  # the instance of what is no thing

# Things are cut from many scenes together, to find some alike; the scenes are painted by few, to stay in the cache.
_CUT, _PAINTED = 128 * 64**2, 16 * 64**2  # pixels


def paint(scenes: Sequence[Scene], size: int, outputs: Sequence[str], baseline: float = 0.0) -> dict[str, np.ndarray]:
    """The asked outputs of each scene, stacked; `whole` has as many masks as the fullest scene has things."""
    canvas = _canvas(scenes, size, outputs)
    many, few = (max(1, pixels // size**2) for pixels in (_CUT, _PAINTED))
    for start in range(0, len(scenes), many):
        cuts = cutouts(scenes[start : start + many], size, baseline, shaded="rgb" in outputs)
        for first in range(0, len(cuts), few):
            some = slice(start + first, min(start + first + few, start + many))
            parts = {name: array[some] for name, array in canvas.items()}
            _paint(scenes[some], cuts[first : first + few], size, parts, baseline)
    return canvas


def _canvas(scenes: Sequence[Scene], size: int, outputs: Sequence[str]) -> dict[str, np.ndarray]:
    batch, most = len(scenes), max((len(scene.things) for scene in scenes), default=0)
    blank: dict[str, Callable[[], np.ndarray]] = {
        "rgb": lambda: np.empty((batch, size, size, 3), np.uint8),
        "depth": lambda: np.empty((batch, size, size), np.float32),
        "instance": lambda: np.full((batch, size, size), BACKDROP, np.int8),
        "whole": lambda: np.zeros((batch, most, size, size), np.bool_),
        "edges": lambda: np.empty((batch, size, size), np.bool_),
    }
    for name in outputs:
        if name not in blank:
            raise ValueError(f"no output is called {name!r}; choose from {', '.join(OUTPUTS)}")
    return {name: blank[name]() for name in outputs}


def _paint(
    scenes: Sequence[Scene],
    cutouts: Sequence[Sequence[Cutout]],
    size: int,
    canvas: dict[str, np.ndarray],
    baseline: float,
) -> None:
    planes = moved = None
    if canvas.keys() - {"instance", "whole"}:
        behind = stage(scenes, size, baseline, shaded="rgb" in canvas)
        planes = behind.planes
        if "depth" in canvas:
            canvas["depth"][...] = np.array(SHEET_DEPTHS, np.float32)[behind.sheet]
        if "edges" in canvas:
            canvas["edges"][...] = behind.edges
        if planes is not None and baseline:
            # How far each pixel's surface has moved for this eye: a shadow lies on the surface and moves with it.
            moved = np.array([disparity(depth, baseline, size) for depth in SHEET_DEPTHS], np.float32)[behind.sheet]
    for row, (scene, cuts) in enumerate(zip(scenes, cutouts, strict=True)):
        for index in sorted(range(len(cuts)), key=lambda i: -scene.things[i].depth):
            cut, depth = cuts[index], scene.things[index].depth
            here, there = _overlap(cut.top, cut.left, cut.share.shape[0], size)
            share, solid = cut.share[there], cut.solid[there]
            if planes is not None:
                _lay(planes[row], cut, here, there, None if moved is None else moved[row])
            if moved is not None:
                np.copyto(moved[row][here], disparity(depth, baseline, size), where=solid)
            if "instance" in canvas:
                np.copyto(canvas["instance"][row][here], index, where=solid)
            if "depth" in canvas:
                np.copyto(canvas["depth"][row][here], depth, where=solid)
            if "whole" in canvas:
                canvas["whole"][row, index][here] = solid
            if "edges" in canvas:
                edges = canvas["edges"][row][here]
                edges |= share > 0
                edges &= share < 1
    if planes is not None:
        np.clip(planes + 0.5, 0.0, 255.0, out=planes)
        canvas["rgb"][...] = planes.transpose(0, 2, 3, 1)


Crop = tuple[slice, slice]


def _overlap(top: int, left: int, side: int, size: int) -> tuple[Crop, Crop]:
    """What a crop and the picture share, as places in the picture and as places in the crop."""
    first_y, first_x = max(top, 0), max(left, 0)
    last_y, last_x = max(min(top + side, size), first_y), max(min(left + side, size), first_x)
    here = slice(first_y, last_y), slice(first_x, last_x)
    return here, (slice(first_y - top, last_y - top), slice(first_x - left, last_x - left))


def _lay(
    plane: Float[np.ndarray, "3 h w"], cut: Cutout, here: Crop, there: Crop, moved: Float[np.ndarray, "h w"] | None
) -> None:
    """Darken what is behind a thing, then lay the thing on it."""
    assert cut.shadow is not None
    assert cut.paint is not None
    if moved is None:
        under, part = _overlap(cut.shadow.top, cut.shadow.left, cut.shadow.light.shape[0], plane.shape[-1])
        plane[:, *under] *= cut.shadow.light[part]
    else:
        _darken(plane, cut.shadow, moved)
    region = plane[:, *here]
    difference = cut.paint[:, *there] - region
    difference *= cut.share[there]
    region += difference


def _darken(plane: Float[np.ndarray, "3 h w"], shadow: Shadow, moved: Float[np.ndarray, "h w"]) -> None:
    """Let a shadow fall on surfaces that have moved: each pixel asks for its light where the left eye sees it."""
    size, side = plane.shape[-1], shadow.light.shape[0]
    (rows, _), (part, _) = _overlap(shadow.top, 0, side, size)
    light = np.pad(shadow.light[part], ((0, 0), (1, 1)), constant_values=1.0)  # beyond the crop nothing is dark
    place = np.clip(np.arange(size, dtype=np.float32) - (shadow.left - 1) + moved[rows], 0.0, side + 1.0)
    first = np.minimum(place.astype(np.int64), side)
    start, end = (np.take_along_axis(light, column, axis=1) for column in (first, first + 1))
    plane[:, rows] *= start + (end - start) * (place - first)
