"""Things as they come from the scissors: each in a crop just large enough, alike ones cut together."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil

import numpy as np
from jaxtyping import Bool, Float

from regard.world.paper import CREAM, PATTERN, PIGMENTS, SHEETS, covered, grain
from regard.world.scene import Scene, Thing, disparity
from regard.world.silhouette import SILHOUETTES, turned


@dataclass(frozen=True, slots=True, eq=False)
class Cutout:
    """One thing in its crop, and where the crop lies in the picture."""

    top: int
    left: int
    share: Float[np.ndarray, "s s"]  # how much of each pixel it covers
    solid: Bool[np.ndarray, "s s"]  # where that is at least half
    paint: Float[np.ndarray, "3 s s"] | None
    shadow: "Shadow | None"


@dataclass(frozen=True, slots=True, eq=False)
class Shadow:
    """What is left of the light behind a thing, where the left eye would see it."""

    top: int
    left: int
    light: Float[np.ndarray, "s s"]


def cutouts(scenes: Sequence[Scene], size: int, baseline: float, *, shaded: bool) -> list[list[Cutout]]:
    """The things of each scene, in their order, as an eye sees them that has moved by `baseline`."""
    flat = [(scene, index, thing) for scene in scenes for index, thing in enumerate(scene.things)]
    alike: dict[int, list[int]] = defaultdict(list)
    for place in sorted(range(len(flat)), key=lambda i: flat[i][2].kind):
        alike[_side(flat[place][2], size)].append(place)
    done: dict[int, Cutout] = {}
    for side, places in alike.items():
        done.update(zip(places, _cut([flat[place] for place in places], side, size, baseline, shaded), strict=True))
    ordered = iter(range(len(flat)))
    return [[done[next(ordered)] for _ in scene.things] for scene in scenes]


def _side(thing: Thing, size: int) -> int:
    """The side of a crop with room for the thing and for its soft shadow, rounded so that many share it."""
    step = max(4, size // 16 * 2)
    return ceil((2 * (thing.size + 0.03) * size + 3) / step) * step


def _cut(alike: list[tuple[Scene, int, Thing]], side: int, size: int, baseline: float, shaded: bool) -> list[Cutout]:
    """Crops of one side, for things that come sorted by their kind."""
    things = [thing for _, _, thing in alike]
    across, down, radius, angle, depth = np.array([(t.x, t.y, t.size, t.angle, t.depth) for t in things]).T
    across, down, radius = across * size, down * size, radius * size
    turn = turned(angle)
    # Whole pixels move the crop and the rest moves the thing within it, so that whole disparities change no number.
    shifts = np.array([disparity(thing.depth, baseline, size) for thing in things])
    whole = np.floor(shifts)
    frame = _Frame(across - (shifts - whole), down, radius, turn, side)
    distance = frame.distance(things) * _column(radius)
    placed = (frame.top.tolist(), (frame.left - whole.astype(np.int64)).tolist(), covered(distance), distance <= 0)
    if not shaded:
        return [Cutout(*crop, None, None) for crop in zip(*placed, strict=True)]
    light = [scene.light for scene, _, _ in alike]
    towards_x, towards_y = towards = turned(np.array([each.angle for each in light]))
    # The nearer a thing, the farther and the softer its shadow falls, as far as the crop has room.
    gap = size * 0.018 / np.maximum(depth, 0.5)
    fallen = _Frame(across - towards_x * gap, down - towards_y * gap, radius, turn, side)
    dark = covered(fallen.distance(things) * _column(radius / (0.02 * size + gap)))
    dark *= dark * (3.0 - 2.0 * dark) * _column([0.62 * each.strength for each in light])
    shadows = map(Shadow, fallen.top.tolist(), fallen.left.tolist(), 1.0 - dark)
    paint = _paint(alike, frame, distance, towards, size)
    return [Cutout(*crop) for crop in zip(*placed, paint, shadows, strict=True)]


class _Frame:
    """Crops around given centres, and each pixel's place in the unit circle of its thing."""

    def __init__(
        self,
        across: Float[np.ndarray, " n"],
        down: Float[np.ndarray, " n"],
        radius: Float[np.ndarray, " n"],
        turn: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]],
        side: int,
    ) -> None:
        self.left, self.top = (np.floor(centre + 0.5).astype(np.int64) - side // 2 for centre in (across, down))
        pixel = np.arange(side) + 0.5
        self.x, self.y = pixel - (across - self.left)[:, None], pixel - (down - self.top)[:, None]
        cosine, sine = (part[:, None] / radius[:, None] for part in turn)
        self.u = (self.x * cosine).astype(np.float32)[:, None] + (self.y * sine).astype(np.float32)[:, :, None]
        self.v = (self.y * cosine).astype(np.float32)[:, :, None] - (self.x * sine).astype(np.float32)[:, None]

    def distance(self, things: Sequence[Thing]) -> Float[np.ndarray, "n s s"]:
        """The distance to each thing's silhouette, in its radius."""
        distance: np.ndarray = np.empty_like(self.u)
        start = 0
        for kind, group in groupby(things, key=lambda thing: thing.kind):
            end = start + len(list(group))
            distance[start:end] = SILHOUETTES[kind](self.u[start:end], self.v[start:end])
            start = end
        return distance


def _paint(
    alike: list[tuple[Scene, int, Thing]],
    frame: _Frame,
    distance: Float[np.ndarray, "n s s"],
    towards: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]],
    size: int,
) -> Float[np.ndarray, "n 3 s s"]:
    """Pigment, pattern, grain and light: the middle swells a little, and the cut edge is bright towards the light."""
    side = distance.shape[-1]
    things = [thing for _, _, thing in alike]
    pigment = np.array([PIGMENTS[thing.colour] for thing in things], np.float32)[:, :, None, None]
    papers = [(scene.backdrop.grain + 7 * index + 3) % SHEETS for scene, index, _ in alike]
    swell = [part / np.array([thing.size * size for thing in things]) * 0.07 for part in towards]
    towards_x, towards_y = (_column(part) for part in towards)

    edge = np.zeros_like(distance)
    edge[:, :, 1:-1] = (distance[:, :, 2:] - distance[:, :, :-2]) * (0.5 * towards_x)
    edge[:, 1:-1] += (distance[:, 2:] - distance[:, :-2]) * (0.5 * towards_y)
    edge *= np.clip(1.0 + distance / (0.035 * size), 0.0, 1.0)
    edge *= 0.2
    edge += grain(size)[papers, :side, :side] * 0.018
    edge += (1.0 + frame.x * swell[0][:, None]).astype(np.float32)[:, None]
    edge += (frame.y * swell[1][:, None]).astype(np.float32)[:, :, None]

    paint: np.ndarray = pigment * edge[:, None]
    for fill, pattern in PATTERN.items():
        those = [place for place, thing in enumerate(things) if thing.fill == fill]
        if those:
            radius = _column([things[place].size * size for place in those])
            second = pattern(frame.u[those] * radius, frame.v[those] * radius, 0.035 * size + 0.22 * radius)
            # A rim of plain colour keeps the silhouette legible where the backdrop is as pale as the pattern.
            second *= 0.8 * covered(distance[those] + 0.011 * size)
            paint[those] += (CREAM * edge[those][:, None] - paint[those]) * second[:, None]
    return paint


def _column(numbers: Sequence[float] | Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 1 1"]:
    return np.asarray(numbers, np.float32)[:, None, None]
