"""Parts of things, cut along the geometry of their silhouettes: the arms of a cross, the points of a star.

They are named as the thing stands before it is turned.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from jaxtyping import Bool, Int64

from regard.world.frame import onto, seen_from
from regard.world.picture import Picture
from regard.world.silhouette import Field

PARTS: dict[str, tuple[str, ...]] = {
    "disc": ("left half", "right half"),
    "square": ("upper left quarter", "upper right quarter", "lower left quarter", "lower right quarter"),
    "triangle": ("top", "left corner", "right corner"),
    "star": ("top", "upper right point", "lower right point", "lower left point", "upper left point", "middle"),
    "ring": ("left half", "right half"),
    "cross": ("upper arm", "right arm", "lower arm", "left arm", "middle"),
    "crescent": ("upper horn", "lower horn"),
    "heart": ("left lobe", "right lobe", "tip"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts of all things of a picture, one behind another; those of one thing tile it."""

    thing: Int64[np.ndarray, " p"]  # whose part it is
    names: tuple[str, ...]
    whole: Bool[np.ndarray, "p h w"]  # as if nothing were before it
    visible: Bool[np.ndarray, "p h w"]


def parts(picture: Picture, *, baseline: float = 0.0) -> Parts:
    """The parts of the things that a picture shows, to an eye that has moved as far as it had for the picture."""
    size = picture.size
    places = (np.arange(size) + 0.5) / size
    x, y = np.meshgrid(places, places)
    owners, names, masks = list[int](), list[str](), list[np.ndarray]()
    for index, thing in enumerate(picture.scene.things):
        which = part_at(thing.kind, *onto(seen_from(thing, baseline, size), x, y))
        for part, name in enumerate(PARTS[thing.kind]):
            owners.append(index)
            names.append(name)
            masks.append(picture.whole[index] & (which == part))
    thing_of, whole = np.array(owners, np.int64), np.stack(masks)
    return Parts(thing_of, tuple(names), whole, whole & picture.visible[thing_of])


def part_at(kind: str, u: Field, v: Field) -> Int64[np.ndarray, "*shape"]:
    """The number of the part of a kind of thing on which places lie, in its radius; beyond it, of the nearest part."""
    number: np.ndarray = _CUTS[kind](u, v).astype(np.int64)
    return number


def _halves(u: Field, _: Field) -> np.ndarray:
    return u >= 0


def _quarters(u: Field, v: Field) -> np.ndarray:
    number: np.ndarray = 2 * (v >= 0) + (u >= 0)
    return number


def _horns(_: Field, v: Field) -> np.ndarray:
    return v >= 0


def _corners(u: Field, v: Field) -> np.ndarray:
    """The nearest corner."""
    number: np.ndarray = np.stack([u * x + v * y for x, y in _TRIANGLE]).argmax(axis=0)
    return number


def _points(u: Field, v: Field) -> np.ndarray:
    """A point of the star begins at the side of the pentagon that its inner corners make."""
    along = np.stack([u * x + v * y for x, y in _STAR])
    return np.where(along.max(axis=0) > _PENTAGON, along.argmax(axis=0), len(_STAR))


def _arms(u: Field, v: Field) -> np.ndarray:
    """An arm of the cross begins at the side of the square in which its two bars meet."""
    middle = np.maximum(np.abs(u), np.abs(v)) <= _BAR
    upright = np.where(v < 0, 0, 2)
    return np.where(middle, 4, np.where(np.abs(v) >= np.abs(u), upright, np.where(u > 0, 1, 3)))


def _lobes(u: Field, v: Field) -> np.ndarray:
    """The lobes of the heart are the half discs on the upper sides of its square; the square is the tip."""
    return np.where(np.abs(u) / 1.48 + 0.56 - v / 1.48 > 1, (u >= 0).astype(np.int64), 2)


_CUTS: dict[str, Callable[[Field, Field], np.ndarray]] = {
    "disc": _halves,
    "square": _quarters,
    "triangle": _corners,
    "star": _points,
    "ring": _halves,
    "cross": _arms,
    "crescent": _horns,
    "heart": _lobes,
}

# What the silhouettes are made with.
_TRIANGLE = ((0.0, -1.0), (-sqrt(3) / 2, 0.5), (sqrt(3) / 2, 0.5))
_STAR = (
    (0.0, -1.0),
    (0.95105652, -0.30901699),
    (0.58778525, 0.80901699),
    (-0.58778525, 0.80901699),
    (-0.95105652, -0.30901699),
)
_PENTAGON = 0.52 * 0.80901699
_BAR = 0.32
