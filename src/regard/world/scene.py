"""What there is to see, as frozen values: things in front of a paper backdrop, under a light.

The world is a paper theatre. Everything in it is a flat cut-out that faces the eye at a depth of its own, so pictures,
masks, depth and the other eye's view all follow from these few numbers.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float

from regard.world.silhouette import SILHOUETTES, outline, turned

KINDS: tuple[str, ...] = ("disc", "square", "triangle", "star", "ring", "cross", "crescent", "heart")
COLOURS: tuple[str, ...] = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown")
FILLS: tuple[str, ...] = ("plain", "striped", "dotted")
# Radii by name, with gaps between, so that nobody has to argue about the size of a thing.
SIZES: dict[str, tuple[float, float]] = {"small": (0.080, 0.092), "medium": (0.120, 0.138), "big": (0.180, 0.205)}
# Never in a scene of any split: what a robustness test dresses things in.
UNSEEN_FILLS: tuple[str, ...] = ("checked",)

PALETTES: tuple[str, ...] = ("morning", "noon", "evening", "mist", "sand", "meadow")
UNSEEN_PALETTES: tuple[str, ...] = ("night", "neon")
PATTERNS: tuple[str, ...] = ("plain", "checks")

# The eyes are 6.25 cm apart and see 37° each: what is 6 m away moves by one pixel of 64 between them, what is 6/d by d.
BASELINE = 0.0625  # metres
FOCAL = 1.5  # sides of the picture
REFERENCE = 64  # pixels
WALL, HILLS, GROUND = 6.0, 3.0, 2.0  # metres to the three sheets of the backdrop

USUAL, MOST = 6, 12  # things in a scene as built, and in a crowded one
RELATIONS: tuple[str, ...] = (
    "left of",
    "right of",
    "above",
    "below",
    "in front of",
    "behind",
    "inside",
    "contains",
    "bigger than",
    "smaller than",
)


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"no {name} is called {value!r}; choose {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Thing:
    """One cut-out: what it is, what it is made of and where it hangs."""

    kind: str
    colour: str
    size: float  # radius as a fraction of the picture's side
    fill: str
    x: float  # centre, 0..1
    y: float  # downwards
    angle: float  # degrees, clockwise
    depth: float  # metres from the eye

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, KINDS)
        _one_of("colour", self.colour, COLOURS)
        _one_of("fill", self.fill, FILLS + UNSEEN_FILLS)
        if not 0.0 < self.size <= 0.4:
            raise ValueError(f"a thing of size {self.size} does not fit; sizes lie above 0 and up to 0.4 of the side")
        if not 0.2 <= self.depth < WALL:
            raise ValueError(f"a thing at {self.depth} m is not on the stage; depths run from 0.2 to below {WALL} m")

    @property
    def scale(self) -> str:
        """small, medium or big: the name whose range is nearest."""
        if self.size < (SIZES["small"][1] + SIZES["medium"][0]) / 2:
            return "small"
        return "medium" if self.size < (SIZES["medium"][1] + SIZES["big"][0]) / 2 else "big"


@dataclass(frozen=True, slots=True)
class Backdrop:
    """Three sheets of paper behind the things: a sky, hills and a ground, each cut along a wavy ridge."""

    palette: str = "noon"
    horizon: float = 0.62  # where the ground begins, 0..1, downwards
    hills: float = 0.14  # how far the hills rise above it
    phase: float = 0.0  # 0..1, where the waves of the ridges begin
    grain: int = 0  # which sheet of paper
    pattern: str = "plain"

    def __post_init__(self) -> None:
        _one_of("palette", self.palette, PALETTES + UNSEEN_PALETTES)
        _one_of("pattern", self.pattern, PATTERNS)


@dataclass(frozen=True, slots=True)
class Light:
    """Where the light comes from, and how hard it is."""

    angle: float = -120.0  # degrees; -90 is straight from above, -120 from the upper left
    strength: float = 0.7  # 0..1, how dark the shadows are


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a picture shows."""

    things: tuple[Thing, ...]
    backdrop: Backdrop = Backdrop()
    light: Light = Light()

    def __post_init__(self) -> None:
        if not 1 <= len(self.things) <= MOST:
            raise ValueError(f"{len(self.things)} things do not make a scene; a scene has 1 to {MOST}")


def disparity(depth: float, baseline: float, size: int) -> float:
    """By how many pixels a surface moves to the left when the eye moves `baseline` metres to the right."""
    # Rounded to a thousandth, so that what should be a whole pixel is one.
    return round(baseline * FOCAL * size / depth * 1024) / 1024


def relations(scene: Scene, a: int, b: int) -> frozenset[str]:
    """What thing a is to thing b, where a person would say so; close calls belong to neither name.

    A direction has to outweigh the other one. In front means that a hides a good part of b; a thing that lies within
    another's outline is inside and nothing else, but for its size.
    """
    for index in (a, b):
        if not 0 <= index < len(scene.things):
            raise IndexError(f"there is no thing {index} in a scene of {len(scene.things)}")
    if a == b:
        return frozenset()
    return _relations(scene.things[a], scene.things[b])


def direction(dx: float, dy: float, sizes: float) -> str | None:
    """What a is to b, when the way from a to b is plain for things whose sizes add up to `sizes`."""
    clear = max(0.1, 0.6 * sizes)
    if abs(dx) >= max(clear, 1.25 * abs(dy)):
        return "left of" if dx > 0 else "right of"
    if abs(dy) >= max(clear, 1.25 * abs(dx)):
        return "above" if dy > 0 else "below"
    return None


@lru_cache(maxsize=4096)
def _relations(a: Thing, b: Thing) -> frozenset[str]:
    found = set()
    if a.size >= 1.25 * b.size:
        found.add("bigger than")
    elif b.size >= 1.25 * a.size:
        found.add("smaller than")
    if _inside(a, b):
        found.add("inside")
    elif _inside(b, a):
        found.add("contains")
    else:
        where = direction(b.x - a.x, b.y - a.y, a.size + b.size)
        if where is not None:
            found.add(where)
        if _hides(a, b):
            found.add("in front of")
        elif _hides(b, a):
            found.add("behind")
    return frozenset(found)


def _touch(a: Thing, b: Thing) -> bool:
    dx, dy, reach = a.x - b.x, a.y - b.y, a.size + b.size
    return dx * dx + dy * dy < reach * reach


def _hides(a: Thing, b: Thing) -> bool:
    """Whether a is clearly nearer and covers at least a tenth of b's silhouette."""
    if a.depth > 0.95 * b.depth or not _touch(a, b):
        return False
    x, y = _points(b)
    return bool(_covers(a, x, y).mean() >= 0.1)


def _inside(a: Thing, b: Thing) -> bool:
    """Whether all of a lies within b's outline, on top of it or seen through its hole."""
    if a.size > 0.7 * b.size or not _touch(a, b):
        return False
    x, y = _points(a)
    if not _covers(b, x, y, whole=True).all():
        return False
    return a.depth < b.depth or not _covers(b, x, y).any()


_GRID = (np.arange(24) + 0.5) / 12 - 1


def _points(thing: Thing) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Places spread evenly over a silhouette."""
    u, v = (axis.ravel() for axis in np.meshgrid(_GRID, _GRID))
    within = SILHOUETTES[thing.kind](u, v) < 0
    u, v = u[within] * thing.size, v[within] * thing.size
    cosine, sine = turned(thing.angle)
    return thing.x + cosine * u - sine * v, thing.y + sine * u + cosine * v


def _covers(
    thing: Thing, x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], *, whole: bool = False
) -> Bool[np.ndarray, " n"]:
    """Which places a silhouette covers; the whole of it has no hole."""
    cosine, sine = turned(thing.angle)
    u, v = (x - thing.x) / thing.size, (y - thing.y) / thing.size
    shape = outline if whole and thing.kind == "ring" else SILHOUETTES[thing.kind]
    covered: Bool[np.ndarray, " n"] = shape(cosine * u + sine * v, cosine * v - sine * u) < 0
    return covered
