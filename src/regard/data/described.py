"""The little world as pictures with captions: each thing is told, from left to right."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from regard.data.captioned import Captioned, Truth
from regard.data.told import FAR
from regard.vision.picture import from_array
from regard.world import Scene, View, render, render_batch, scenes
from regard.world.language import Description, describe

COUNTS = {"train": 16_000, "val": 500, "test": 1_000}
SIZE = 64
FEW = (1, 2)  # things, where nobody says how many


@dataclass(frozen=True, slots=True)
class Told:
    """Pictures of scenes and what is said of each, drawn when they are asked for."""

    view: View[Scene]
    first: int
    language: str = "en"

    def __call__(self, index: int) -> Image.Image:
        return from_array(self.batch([index], SIZE)[0])

    def batch(self, rows: Sequence[int], size: int) -> UInt8[np.ndarray, "n s s 3"]:
        """Many pictures at once, in any size."""
        drawn: np.ndarray = render_batch([self.view[self.first + row] for row in rows], size)["rgb"]
        return drawn

    def truth(self, index: int) -> Truth:
        """A picture with the truth about its pixels and about the words of its caption."""
        scene = self.view[self.first + index]
        said = in_order(scene, self.language)
        return Truth(render(scene, SIZE), said.words, said.things)


def world_captions(split: str, *, things: tuple[int, int] = FEW, language: str = "en", count: int = 0) -> Captioned:
    """Pictures of so many things, each with one sentence that tells them all from left to right."""
    if split not in COUNTS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(COUNTS)}")
    first, count = FAR if split == "val" else 0, count or COUNTS[split]
    view = scenes(split="test" if split == "test" else "train", things=things)
    source = Told(view, first, language)
    chosen = [view[first + i] for i in range(count)]
    return Captioned(
        tuple((in_order(scene, language).text,) for scene in chosen),
        source,
        tuple(f"{split} {things[0]} {things[1]} {first + i}" for i in range(count)),
        tuple((in_order(scene, language, mirrored=True).text,) for scene in chosen),
        source.truth,
    )


def in_order(scene: Scene, language: str = "en", *, mirrored: bool = False) -> Description:
    """What a scene shows, told from left to right, or from right to left as in a mirror; things keep their numbers."""
    order = sorted(range(len(scene.things)), key=lambda i: scene.things[i].x, reverse=mirrored)
    said = describe(replace(scene, things=tuple(scene.things[i] for i in order)), language, "whole")
    return said._replace(names=tuple(tuple(order[i] for i in which) for which in said.names))
