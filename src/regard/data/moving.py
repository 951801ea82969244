"""The little world as films of one thing each, and which way it moves: no single frame tells."""

from collections.abc import Sequence
from itertools import count as numbers

import numpy as np
from jaxtyping import UInt8

from regard.data.kept import kept
from regard.data.sensed import Held, Sensed
from regard.data.told import FAR
from regard.world import render_batch
from regard.world.language import motions
from regard.world.language.motions import WAYS
from regard.world.view import VERSION

COUNTS = {"train": 4_000, "val": 300, "test": 500}
MOMENTS, FRAMES, SIZE = 16, 8, 32  # of a clip, and what is shown of it


def world_clips(split: str, count: int = 0) -> Sensed:
    """Films of things that move plainly left, right, up or down."""
    if split not in COUNTS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(COUNTS)}")
    view = motions(split="test" if split == "test" else "train", frames=MOMENTS, things=1)
    wanted, found = count or COUNTS[split], dict[int, str]()
    for number in numbers(FAR if split == "val" else 0):
        if ways := [event.way for event in view[number].motion.events if event.way]:
            found[number] = ways[0]
        if len(found) == wanted:
            break
    chosen, steps = list(found), np.linspace(0, MOMENTS - 1, FRAMES).round().astype(int).tolist()

    def make(rows: Sequence[int]) -> UInt8[np.ndarray, "m f s s 3"]:
        clips = [view[chosen[row]].clip for row in rows]
        drawn = render_batch([clip.frames[step] for clip in clips for step in steps], SIZE)["rgb"]
        return drawn.reshape(len(clips), FRAMES, SIZE, SIZE, 3)

    films = kept("clips world", f"{VERSION} {view.facts} {chosen} {steps} {SIZE}", len(chosen), make)
    targets = np.asarray([WAYS.index(way) for way in found.values()], np.int64)
    return Sensed("films", WAYS, targets, Held(films), tuple(f"{split} {number}" for number in chosen))
