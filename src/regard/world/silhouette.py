"""The outlines of things as signed distances: negative inside, zero on the border, positive outside.

Every silhouette fits the unit circle. Only operations that IEEE 754 rounds the same everywhere are used (no sine, no
exponential on arrays), so that a picture is equal to the last bit on every machine.
"""

from collections.abc import Callable
from math import sqrt
from typing import TypeVar

import numpy as np
from jaxtyping import Float

Field = Float[np.ndarray, "*shape"]
Angle = TypeVar("Angle", float, np.ndarray)

_ROOT2, _ROOT3 = sqrt(2), sqrt(3)


def disc(x: Field, y: Field) -> Field:
    distance: Field = np.sqrt(x * x + y * y) - 0.88
    return distance


def square(x: Field, y: Field) -> Field:
    return _box(np.abs(x), np.abs(y), 0.72, 0.72, rounding=0.14)


def triangle(x: Field, y: Field) -> Field:
    """Equilateral, one corner up: the farthest of its three sides."""
    distance: Field = np.maximum(np.abs(x) * (_ROOT3 / 2) - y * 0.5, y) - 0.5
    return distance


def star(x: Field, y: Field) -> Field:
    """Five points, fat enough to be told from a disc at ten pixels.

    Two mirrors fold the plane onto one tenth of the star; what is left is the distance to one edge.
    """
    x, y = np.abs(x), -y
    for mirror_x, mirror_y in ((0.80901699, -0.58778525), (-0.80901699, -0.58778525)):
        beyond = 2 * np.maximum(x * mirror_x + y * mirror_y, 0.0)
        x, y = x - beyond * mirror_x, y - beyond * mirror_y
    x, y = np.abs(x), y - _TIP
    along = np.clip((x * _EDGE[0] + y * _EDGE[1]) / _EDGE_SQUARED, 0.0, 1.0)
    aside = y * _EDGE[0] - x * _EDGE[1]
    dx, dy = x - along * _EDGE[0], y - along * _EDGE[1]
    return np.copysign(np.sqrt(dx * dx + dy * dy), aside) - 0.04


def ring(x: Field, y: Field) -> Field:
    distance: Field = np.abs(np.sqrt(x * x + y * y) - 0.745) - 0.195
    return distance


def outline(x: Field, y: Field) -> Field:
    """A ring with its hole filled."""
    distance: Field = np.sqrt(x * x + y * y) - 0.94
    return distance


def cross(x: Field, y: Field) -> Field:
    x, y = np.abs(x), np.abs(y)
    return _box(np.maximum(x, y), np.minimum(x, y), 0.92, 0.32, rounding=0.06)


def crescent(x: Field, y: Field) -> Field:
    """A disc with a bite taken from its right; beyond the horns, the nearest point is a horn."""
    y = np.abs(y)
    moved, bite, above = x - _MOON, x - _BITE, y * y
    moon = np.sqrt(moved * moved + above) - 0.9
    distance: Field = np.maximum(moon, 0.66 - np.sqrt(bite * bite + above))
    beyond = np.where(moon > 0, moved * _HORN_Y > y * (_HORN_X - _MOON), bite * _HORN_Y > y * (_HORN_X - _BITE))
    horn_x, horn_y = x - _HORN_X, y - _HORN_Y
    horned: Field = np.where(beyond & (distance > 0), np.sqrt(horn_x * horn_x + horn_y * horn_y), distance)
    return horned


def heart(x: Field, y: Field) -> Field:
    """Two half discs on the upper sides of a square that stands on its corner."""
    x, y = np.abs(x) / 1.48, 0.56 - y / 1.48
    over = x + y
    lobe_x, lobe_y = x - 0.25, y - 0.75
    lobe = np.sqrt(lobe_x * lobe_x + lobe_y * lobe_y) - _ROOT2 / 4
    notch = y - 1.0
    foot = np.maximum(over, 0.0) * 0.5
    side_x, side_y = x - foot, y - foot
    edge = np.sqrt(np.minimum(x * x + notch * notch, side_x * side_x + side_y * side_y))
    distance: Field = np.where(over > 1, lobe, np.copysign(edge, x - y)) * 1.48
    return distance


SILHOUETTES: dict[str, Callable[[Field, Field], Field]] = {
    "disc": disc,
    "square": square,
    "triangle": triangle,
    "star": star,
    "ring": ring,
    "cross": cross,
    "crescent": crescent,
    "heart": heart,
}

# The centres of the crescent's two circles, of radius 0.9 and 0.66, and the upper place where they meet.
_MOON, _BITE = 0.1, 0.52
_HORN_X = (0.9 * 0.9 - 0.66 * 0.66 - _MOON * _MOON + _BITE * _BITE) / (2 * (_BITE - _MOON))
_HORN_Y = sqrt(0.9 * 0.9 - (_HORN_X - _MOON) * (_HORN_X - _MOON))

# One edge of the star runs from its tip at (0, _TIP) to the inner corner beside it.
_TIP, _INNER = 0.95, 0.52
_EDGE = (_INNER * 0.58778525, _INNER * 0.80901699 - _TIP)
_EDGE_SQUARED = _EDGE[0] * _EDGE[0] + _EDGE[1] * _EDGE[1]


def turned(angle: Angle) -> tuple[Angle, Angle]:
    """Cosine and sine of degrees, from sums and products alone, since libraries differ in the last bit.

    An eighth of the angle is small enough for a short series; doubling it three times needs no cases.
    """
    x = (angle - 360.0 * ((angle + 180.0) // 360.0)) * 0.0021816615649929117
    s = x * x
    cosine = 1.0 - s / 2 * (1.0 - s / 12 * (1.0 - s / 30 * (1.0 - s / 56 * (1.0 - s / 90))))
    sine = x * (1.0 - s / 6 * (1.0 - s / 20 * (1.0 - s / 42 * (1.0 - s / 72 * (1.0 - s / 110)))))
    for _ in range(3):
        cosine, sine = cosine * cosine - sine * sine, 2.0 * cosine * sine
    return cosine, sine


def _box(x: Field, y: Field, width: float, height: float, rounding: float) -> Field:
    """A rounded box around the origin, for places already folded into its first quarter."""
    x, y = x - (width - rounding), y - (height - rounding)
    out_x, out_y = np.maximum(x, 0.0), np.maximum(y, 0.0)
    distance: Field = np.sqrt(out_x * out_x + out_y * out_y) + np.minimum(np.maximum(x, y), 0.0) - rounding
    return distance
