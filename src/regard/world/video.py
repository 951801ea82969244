"""Short clips: things glide, turn, bounce off the border and off each other, and pass behind one another.

A frame is a scene, so every output there is of a scene exists of a frame.
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from jaxtyping import Float

from regard.chance import Chance
from regard.world.build import DEPTHS, scene
from regard.world.flow import Flow, flow
from regard.world.picture import render
from regard.world.scene import Scene, Thing
from regard.world.silhouette import turned

_STEPS = 8  # of the motion within a frame
_LANES = 2  # depths on which things meet; those on different ones pass each other


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """The frames of a clip, and where everything was."""

    frames: tuple[Scene, ...]
    places: Float[np.ndarray, "t n 2"]  # the centre of each thing, 0..1
    bounces: tuple[tuple[int, int, int], ...]  # (frame, thing, thing): who met whom

    def __len__(self) -> int:
        return len(self.frames)

    def shown(self, size: int = 64) -> Float[np.ndarray, "t n"]:
        """How much of each thing is seen in each frame: 1 in the open, 0 when it is hidden."""
        return np.stack([render(frame, size).shown for frame in self.frames])

    def flow(self, frame: int, size: int = 64) -> Flow:
        """How far what one frame shows moves until the next."""
        if not 0 <= frame < len(self) - 1:
            raise IndexError(f"frame {frame} of {len(self)} has no next one; give 0 to {len(self) - 2}")
        return flow(self.frames[frame], self.frames[frame + 1], size)


def clip(
    seed: int, index: int, *, frames: int = 16, things: int | tuple[int, int] = (2, 5), split: str = "train"
) -> Clip:
    """Clip number `index` of a seed.

    What things wear never changes, so the pairs that a split holds back stay out. Where things stand does change, and
    two kinds may come to stand in a held-out order on their way.
    """
    if frames < 1:
        raise ValueError(f"a clip of {frames} frames shows nothing; give 1 or more")
    first = scene(seed, index, things=things, split=split)
    chance = Chance(seed, f"clip {split}", index)
    bodies = _set_off(chance, first.things)
    shots: list[Scene] = []
    places: list[list[tuple[float, float]]] = []
    bounces: list[tuple[int, int, int]] = []
    for frame in range(frames):
        shots.append(replace(first, things=tuple(body.thing for body in bodies)))
        places.append([(body.thing.x, body.thing.y) for body in bodies])
        for _ in range(_STEPS):
            bodies, met = _moved(bodies)
            bounces.extend((frame, *pair) for pair in met)
    return Clip(tuple(shots), np.array(places), tuple(bounces))


@dataclass(frozen=True, slots=True)
class _Body:
    """A thing on its way; the speed is in sides of the picture a step, the spin in degrees a step."""

    thing: Thing
    dx: float
    dy: float
    spin: float

    def meets(self, other: "_Body") -> bool:
        """Whether two things on one lane touch and come nearer; a pair that parts already is left alone."""
        x, y = other.thing.x - self.thing.x, other.thing.y - self.thing.y
        reach = 0.92 * (self.thing.size + other.thing.size)
        approaching = (other.dx - self.dx) * x + (other.dy - self.dy) * y < 0
        return self.thing.depth == other.thing.depth and x * x + y * y < reach * reach and approaching


def _set_off(chance: Chance, things: tuple[Thing, ...]) -> list[_Body]:
    """Spread the things over the lanes and push each in some direction."""
    lanes = chance.sample(DEPTHS, _LANES)
    bodies = []
    for place, thing in enumerate(things):
        cosine, sine = turned(chance.uniform(0.0, 360.0))
        speed = chance.uniform(0.02, 0.045) / _STEPS
        spin = chance.uniform(-4.0, 4.0) / _STEPS
        bodies.append(_Body(replace(thing, depth=lanes[place % _LANES]), cosine * speed, sine * speed, spin))
    return bodies


def _moved(bodies: list[_Body]) -> tuple[list[_Body], list[tuple[int, int]]]:
    """All bodies one step later, and the pairs that bounced."""
    bodies = [_glided(body) for body in bodies]
    met = []
    for i in range(len(bodies)):
        for j in range(i + 1, len(bodies)):
            if bodies[i].meets(bodies[j]):
                bodies[i], bodies[j] = _bounced(bodies[i], bodies[j])
                met.append((i, j))
    return bodies, met


def _glided(body: _Body) -> _Body:
    thing, dx, dy = body.thing, body.dx, body.dy
    if (dx < 0 and thing.x < thing.size) or (dx > 0 and thing.x > 1 - thing.size):
        dx = -dx
    if (dy < 0 and thing.y < thing.size) or (dy > 0 and thing.y > 1 - thing.size):
        dy = -dy
    moved = replace(thing, x=thing.x + dx, y=thing.y + dy, angle=thing.angle + body.spin)
    return replace(body, thing=moved, dx=dx, dy=dy)


def _bounced(a: _Body, b: _Body) -> tuple[_Body, _Body]:
    """Two discs of equal density meet: the momentum along the line between them is exchanged, none is lost."""
    x, y = b.thing.x - a.thing.x, b.thing.y - a.thing.y
    apart = sqrt(x * x + y * y) or 1.0
    x, y = x / apart, y / apart
    heavy_a, heavy_b = a.thing.size * a.thing.size, b.thing.size * b.thing.size
    push = 2.0 * ((a.dx - b.dx) * x + (a.dy - b.dy) * y) / (heavy_a + heavy_b)
    return (
        replace(a, dx=a.dx - push * heavy_b * x, dy=a.dy - push * heavy_b * y, spin=-a.spin),
        replace(b, dx=b.dx + push * heavy_a * x, dy=b.dy + push * heavy_a * y, spin=-b.spin),
    )
