"""The little world as films: what moves which way and who meets whom, in a sentence or two about each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count as numbers

import numpy as np
from jaxtyping import UInt8

from regard.data.kept import kept
from regard.data.told import FAR
from regard.world import View, render_batch
from regard.world.language import Filmed, motions
from regard.world.language.motions import WAYS
from regard.world.view import VERSION

COUNTS = {"train": 4_000, "val": 300, "test": 500}
MOMENTS, THINGS = 16, (1, 2)  # of a clip, and how many things are in it
BACKWARDS = dict(zip(WAYS, ("right", "left", "down", "up"), strict=True))


@dataclass(frozen=True)
class Films:
    """Films with a text each; every so many moments of a clip, a frame is shown."""

    view: View[Filmed] = field(repr=False)
    chosen: tuple[int, ...]  # their numbers in the view
    texts: tuple[str, ...]
    frames: int

    def __len__(self) -> int:
        return len(self.chosen)

    @cached_property
    def backwards(self) -> tuple[str, ...]:
        """What would be true of each film if it ran backwards, as far as ways go."""
        return tuple(" ".join(_turned(word) for word in text.split()) for text in self.texts)

    def pixels(self, size: int) -> UInt8[np.ndarray, "n f s s 3"]:
        """All frames of all films, drawn now or found in the cache."""
        key = f"{VERSION} {self.view.facts} {self.chosen} {self._steps} {size}"
        return kept("films world", key, len(self), lambda rows: self.draw(rows, size))

    def draw(self, rows: Sequence[int], size: int) -> UInt8[np.ndarray, "m f s s 3"]:
        """All frames of some films, drawn now."""
        clips = [self.view[self.chosen[row]].clip for row in rows]
        drawn = render_batch([clip.frames[step] for clip in clips for step in self._steps], size)["rgb"]
        return drawn.reshape(len(clips), self.frames, size, size, 3)

    @property
    def _steps(self) -> list[int]:
        found: list[int] = np.linspace(0, MOMENTS - 1, self.frames).round().astype(int).tolist()
        return found


def world_films(split: str, *, frames: int = 8, count: int = 0) -> Films:
    """Films of one or two things; those that are not to learn from have a text each that no other of them has."""
    if split not in COUNTS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(COUNTS)}")
    if not 1 <= frames <= MOMENTS:
        raise ValueError(f"a film of {frames} frames cannot be shown; give 1 to {MOMENTS}")
    view = motions(split="test" if split == "test" else "train", frames=MOMENTS, things=THINGS)
    wanted, found = count or COUNTS[split], dict[int, str]()
    met = set[str]()
    for number in numbers(FAR if split == "val" else 0):
        text = view[number].motion.text
        if split == "train" or text not in met:
            found[number] = text
            met.add(text)
        if len(found) == wanted:
            return Films(view, tuple(found), tuple(found.values()), frames)
    raise AssertionError("the world has films without end")


def _turned(word: str) -> str:
    bare = word.rstrip(".")
    return word.replace(bare, BACKWARDS.get(bare, bare))
