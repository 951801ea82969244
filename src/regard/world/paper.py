"""What things are made of: the colours, the fills and the grain of the paper."""

from collections.abc import Callable
from functools import lru_cache
from math import sqrt

import numpy as np
from jaxtyping import Float

from regard.chance import Chance
from regard.world import noise
from regard.world.silhouette import Field

Period = float | Float[np.ndarray, "n 1 1"]  # in pixels

SHEETS = 16  # different sheets of paper

PIGMENTS: dict[str, tuple[int, int, int]] = {
    "red": (212, 46, 46),
    "orange": (240, 130, 36),
    "yellow": (248, 206, 52),
    "green": (58, 156, 78),
    "blue": (44, 108, 204),
    "purple": (126, 66, 172),
    "pink": (244, 138, 184),
    "brown": (124, 78, 50),
}

CREAM = np.array([252, 246, 232], np.float32)[:, None, None]  # the second colour of every fill

# The top of the sky, its foot, the hills and the ground. Pale, so that no thing is lost before them.
PALETTE: dict[str, tuple[tuple[int, int, int], ...]] = {
    "morning": ((250, 222, 204), (254, 242, 228), (222, 204, 196), (200, 182, 168)),
    "noon": ((196, 222, 238), (232, 242, 246), (178, 204, 200), (206, 208, 176)),
    "evening": ((218, 196, 214), (248, 224, 206), (182, 166, 184), (156, 146, 164)),
    "mist": ((216, 222, 226), (240, 242, 242), (196, 206, 210), (174, 184, 190)),
    "sand": ((240, 230, 208), (250, 244, 230), (228, 208, 174), (208, 184, 146)),
    "meadow": ((210, 230, 220), (240, 246, 232), (184, 210, 178), (160, 190, 152)),
    "night": ((30, 34, 60), (60, 64, 104), (34, 38, 62), (20, 22, 38)),
    "neon": ((20, 240, 200), (250, 70, 220), (240, 240, 40), (70, 60, 255)),
}


def stripes(u: Field, v: Field, period: Period) -> Field:
    """Diagonal bands. Like every pattern it is 1 where the second colour lies, and smooth over one pixel."""
    return covered(_fold((u + v) * sqrt(0.5), period) - period / 4)


def dots(u: Field, v: Field, period: Period) -> Field:
    """Round dots on a square grid, one of them in the middle."""
    u, v = _fold(u, period), _fold(v, period)
    return covered(np.sqrt(u * u + v * v) - 0.3 * period)


def checks(u: Field, v: Field, period: Period) -> Field:
    """A chessboard, which fills no scene of any split."""
    u, v = _fold(u, period) - period / 4, _fold(v, period) - period / 4
    return covered(np.copysign(np.minimum(np.abs(u), np.abs(v)), u * v))


# The fills that need a second colour.
PATTERN: dict[str, Callable[[Field, Field, Period], Field]] = {"striped": stripes, "dotted": dots, "checked": checks}


def covered(distance: Field) -> Field:
    """How much of a pixel lies inside, from the distance of its centre to the border in pixels."""
    share: Field = np.clip(0.5 - distance, 0.0, 1.0)
    return share


@lru_cache(maxsize=32)
def grain(size: int, shift: float = 0.0) -> Float[np.ndarray, "sheets rows columns"]:
    """The sheets of paper, brighter and darker by about 1, as an eye sees them that has moved by `shift` pixels.

    Fibres lie both ways: two lattices of random numbers, fine along one side and coarse along the other, are blended
    smoothly, so that a sheet looks the same at every size. A little more than the picture is given, for the things.
    """
    rows, columns = np.arange(size + 8) + 0.5, np.arange(size + 8) + (0.5 + shift)
    sheets = np.zeros((SHEETS, size + 8, size + 8))
    for high, wide in ((20, 48), (48, 20), (36, 36)):
        lattice = noise.uniform(Chance(0, f"paper {high} {wide}"), SHEETS, high, wide).astype(np.float64) * 2 - 1
        sheets += _blended(_blended(lattice, 1, rows * (high / size)), 2, columns * (wide / size))
    paper = sheets.astype(np.float32)
    paper.setflags(write=False)
    return paper


def _blended(lattice: Float[np.ndarray, "a b c"], axis: int, places: Float[np.ndarray, " n"]) -> np.ndarray:
    """The lattice between its points along one axis, wrapped at the end, with level slopes at each point."""
    below = np.floor(places)
    part = places - below
    part = part * part * (3 - 2 * part)
    first = below.astype(np.int64) % lattice.shape[axis]
    part = part.reshape([-1 if i == axis else 1 for i in range(3)])
    start, end = (lattice.take(index, axis) for index in (first, (first + 1) % lattice.shape[axis]))
    between: np.ndarray = start + (end - start) * part
    return between


def _fold(x: Field, period: Period) -> Field:
    """The distance to the nearest multiple of the period."""
    folded: Field = np.abs(x - period * np.rint(x / period))
    return folded
