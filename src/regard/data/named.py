"""The little world as pictures with two captions each: all that can be said of its things, and what they are alone.

A model that must tell pictures apart by every word may leave the kinds of things to the end. Where a caption says
nothing else than colours and kinds, they are what counts.
"""

from dataclasses import replace

from regard.data.captioned import Captioned
from regard.data.described import FEW, Told, in_order, world_captions
from regard.world import Scene

_MEDIUM = 0.13  # a size of which nothing is said


def world_named(split: str, *, things: tuple[int, int] = FEW, count: int = 0) -> Captioned:
    """`There is a small red striped disc.` and `There is a red disc.`; pictures are those of `world_captions`."""
    whole = world_captions(split, things=things, count=count)
    source = whole.source
    if not isinstance(source, Told):
        raise TypeError("pictures of the world are drawn from scenes, and these are not")
    bare = [_bare(source.view[source.first + i]) for i in range(len(whole))]
    both = ((whole.captions, False), (whole.mirrored, True))
    captions, mirrored = (
        tuple((*said, in_order(scene, mirrored=turned).text) for said, scene in zip(some, bare, strict=True))
        for some, turned in both
    )
    return replace(whole, captions=captions, mirrored=mirrored)


def _bare(scene: Scene) -> Scene:
    """The same things without a fill or a size that anybody would mention."""
    return replace(scene, things=tuple(replace(thing, fill="plain", size=_MEDIUM) for thing in scene.things))
