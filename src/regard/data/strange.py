"""The little world as a classifier has never met it: pairs of colour and kind that were held back, and named shifts."""

from dataclasses import dataclass

import numpy as np
from PIL import Image

from regard.data.album import Pictures
from regard.data.painted import COUNTS, LABELS, Drawn, world_pictures
from regard.vision.picture import from_array
from regard.world import scenes
from regard.world.shift import SHIFTS, shifted

NOVEL = "novel"
STRANGE: tuple[str, ...] = (NOVEL, *SHIFTS)


@dataclass(frozen=True, slots=True)
class Shifted:
    """Pictures under a named shift."""

    drawn: Drawn
    shift: str

    def __call__(self, index: int) -> Image.Image:
        return from_array(shifted(self.drawn.render(index), self.shift, seed=index).rgb)


def world_strange(name: str, split: str = "test") -> Pictures:
    """`novel` are pictures of one thing in a colour that its kind never has in training; others are shifts of `split`.

    Classes are those of `world_pictures`: the colour and kind of the largest thing.
    """
    if name == NOVEL:
        view, numbers = scenes(split="novel", things=1), tuple(range(COUNTS[split if split in COUNTS else "test"]))
        things = [view[number].things[0] for number in numbers]
        targets = np.asarray([LABELS.index(f"{thing.colour} {thing.kind}") for thing in things], np.int64)
        return Pictures(LABELS, targets, Drawn(view, numbers), tuple(f"novel {number}" for number in numbers))
    if name not in SHIFTS:
        raise ValueError(f"the world has no pictures called {name!r}; choose big, {', '.join(STRANGE)}")
    plain = world_pictures(split)
    if not isinstance(plain.source, Drawn):
        raise TypeError("pictures of the world are drawn from scenes, and these are not")
    return Pictures(LABELS, plain.targets, Shifted(plain.source, name), tuple(f"{name} {each}" for each in plain.names))
