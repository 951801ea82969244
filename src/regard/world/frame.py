"""From a place of the picture to a place on a thing, and back: a thing has a frame of its own, which turns with it.

Places of the picture are shares of its side; those on a thing are in its radius, as silhouettes are.
"""

from dataclasses import replace

from regard.world.scene import Thing, disparity
from regard.world.silhouette import Field, turned


def onto(thing: Thing, x: Field, y: Field) -> tuple[Field, Field]:
    """Where places of the picture lie on a thing, before it was turned."""
    cosine, sine = turned(thing.angle)
    across, down = (x - thing.x) / thing.size, (y - thing.y) / thing.size
    return cosine * across + sine * down, cosine * down - sine * across


def back(thing: Thing, u: Field, v: Field) -> tuple[Field, Field]:
    """Where places on a thing lie in the picture."""
    cosine, sine = turned(thing.angle)
    return thing.x + (cosine * u - sine * v) * thing.size, thing.y + (sine * u + cosine * v) * thing.size


def seen_from(thing: Thing, baseline: float, size: int) -> Thing:
    """The thing where an eye sees it that has moved `baseline` metres to the right, in a picture of this size."""
    return replace(thing, x=thing.x - disparity(thing.depth, baseline, size) / size) if baseline else thing
