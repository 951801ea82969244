"""The little world as pictures with a phrase: one big thing or two, as in `a red disc left of a blue star`.

Pictures that are painted from words are small, so that the things in them are big.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, UInt8

from regard.chance import Chance
from regard.data.told import FAR
from regard.world import Scene, Thing, render_batch, scenes
from regard.world.scene import direction

COUNTS = {"train": 40_000, "val": 1_000, "test": 1_000}
WAYS = ("left of", "right of", "above", "below")
BACK = dict(zip(WAYS, ("right of", "left of", "below", "above"), strict=True))
_TOGETHER = 256  # pictures that are drawn at once


@dataclass(frozen=True, slots=True)
class Named:
    """One thing as a phrase names it; of a fill that is not said, nothing is asked."""

    kind: str
    colour: str
    fill: str = ""

    def __str__(self) -> str:
        words = " ".join(filter(None, (self.colour, self.fill, self.kind)))
        return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a picture is asked to show: one thing, or two and, where it is plain, how the first is to the other."""

    things: tuple[Named, ...]
    relation: str = ""

    def __str__(self) -> str:
        return f" {self.relation or 'and'} ".join(map(str, self.things))

    @property
    def words(self) -> tuple[tuple[str, int], ...]:
        """Every word, and which thing it names, or -1."""
        found = list[tuple[str, int]]()
        for i, thing in enumerate(self.things):
            if i:
                found += [(word, -1) for word in (self.relation or "and").split()]
            found += [(word, i) for word in str(thing).split()]
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Phrased:
    """Scenes of one or two big things, and what is said of each."""

    scenes: tuple[Scene, ...]

    def __len__(self) -> int:
        return len(self.scenes)

    def phrase(self, index: int, chance: Chance | None = None) -> Phrase:
        """What is said of a scene: all there is to say; or by chance without fills, or from the other thing on."""
        return say(self.scenes[index], chance)

    def at(self, size: int) -> UInt8[np.ndarray, "n s s 3"]:
        """All pictures in one size."""
        parts = [self.scenes[i : i + _TOGETHER] for i in range(0, len(self.scenes), _TOGETHER)]
        return np.concatenate([render_batch(part, size)["rgb"] for part in parts])

    def masks(self, indices: Sequence[int], size: int) -> list[Bool[np.ndarray, "n s s"]]:
        """What is seen of each thing of some scenes."""
        some = [self.scenes[index] for index in indices]
        seen = render_batch(some, size, outputs=("instance",))["instance"]
        return [
            instance == np.arange(len(each.things), dtype=np.int8)[:, None, None]
            for each, instance in zip(some, seen, strict=True)
        ]


def say(scene: Scene, chance: Chance | None = None) -> Phrase:
    """The phrase of a scene of one or two things."""
    things = [_name(thing, chance) for thing in scene.things]
    if len(things) == 1:
        return Phrase((things[0],))
    a, b = scene.things
    relation = direction(b.x - a.x, b.y - a.y, a.size + b.size) or ""
    if chance is not None and chance.happens(0.5):
        things, relation = things[::-1], BACK.get(relation, "")
    return Phrase(tuple(things), relation)


def _name(thing: Thing, chance: Chance | None) -> Named:
    said = thing.fill != "plain" and (chance is None or chance.happens(0.5))
    return Named(thing.kind, thing.colour, thing.fill if said else "")


@lru_cache(maxsize=4)
def world_phrases(split: str, count: int = 0) -> Phrased:
    """Scenes of a split whose things are all big, with one thing and two by turns; `val` is far behind the others."""
    if split not in COUNTS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(COUNTS)}")
    streams = [_big("test" if split == "test" else "train", things, FAR if split == "val" else 0) for things in (1, 2)]
    return Phrased(tuple(next(streams[i % 2]) for i in range(count or COUNTS[split])))


def _big(split: str, things: int, first: int) -> Iterator[Scene]:
    """Scenes of so many things, all of them big, from a number on."""
    for scene in scenes(split=split, things=things)[first:]:
        if all(thing.scale == "big" for thing in scene.things):
            yield scene
