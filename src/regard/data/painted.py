"""The little world as pictures: what the largest thing in each is, and where all things are."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from regard.chance import Chance
from regard.data.album import Pictures
from regard.data.annotated import Detections, Objects
from regard.data.told import FAR
from regard.vision import rle
from regard.vision.picture import from_array
from regard.world import COLOURS, KINDS, Picture, Scene, View, render, render_batch, scenes

LABELS = tuple(f"{colour} {kind}" for colour in COLOURS for kind in KINDS)
COUNTS = {"train": 10_000, "val": 1_000, "test": 1_000}
SIZE, BOXED = 64, 96  # of pictures that show one thing, and of those in which all are to be found
BIG = (0.26, 0.36)  # radii of the only thing in a picture, in sides
LARGER = 1.2  # times the radius of any other thing: nobody has to argue which is the largest
_TOGETHER = 256  # pictures that are drawn at once


@dataclass(frozen=True, slots=True)
class Drawn:
    """Pictures of scenes, drawn when they are asked for."""

    view: View[Scene] | Sequence[Scene]
    numbers: tuple[int, ...]
    size: int = SIZE
    _last: dict[int, Picture] = field(default_factory=dict, compare=False)

    def __call__(self, index: int) -> Image.Image:
        return from_array(self.render(index).rgb)

    def render(self, index: int) -> Picture:
        """A picture with all that is true of it; who asks for both has it drawn once."""
        if index not in self._last:
            self._last.clear()
            self._last[index] = render(self.view[self.numbers[index]], self.size)
        return self._last[index]

    def at(self, size: int) -> UInt8[np.ndarray, "n s s 3"]:
        """All of them in one size."""
        parts = [self.numbers[i : i + _TOGETHER] for i in range(0, len(self.numbers), _TOGETHER)]
        drawn = (render_batch([self.view[number] for number in part], size)["rgb"] for part in parts)
        return np.concatenate(list(drawn))


@dataclass(frozen=True, slots=True)
class Marks:
    """Boxes and masks of what is seen of each thing, from the truth about the pixels."""

    drawn: Drawn

    def __call__(self, index: int) -> Objects:
        picture = self.drawn.render(index)
        seen = [i for i, mask in enumerate(picture.visible) if mask.any()]  # one may be hidden whole
        return Objects(
            picture.boxes[seen].astype(np.float32),
            np.asarray([KINDS.index(picture.scene.things[i].kind) for i in seen], np.int64),
            np.zeros(len(seen), bool),
            tuple({"size": [self.drawn.size, self.drawn.size], "counts": rle.encode(picture.visible[i])} for i in seen),
        )


def world_pictures(split: str) -> Pictures:
    """Pictures of one to three things; the class is colour and kind of the largest, as in `red disc`."""
    view, numbers, targets = _chosen(split)
    return Pictures(LABELS, targets, Drawn(view, numbers), tuple(f"{split} {number}" for number in numbers))


def world_detections(split: str, *, first: int = 0) -> Detections:
    """Pictures of one to six things, each with its box, its mask and its kind; the `first` so many are left out."""
    begin, fold = _where(split)
    numbers = tuple(range(begin + first, begin + first + COUNTS[split]))
    drawn = Drawn(scenes(split=fold), numbers, BOXED)
    return Detections(KINDS, drawn, Marks(drawn), tuple(f"{split} {number}" for number in numbers))


def world_portraits(split: str) -> Pictures:
    """Pictures of one big thing each; the class is its colour and kind."""
    first, fold = _where(split)
    shown = portraits(fold, COUNTS[split], first=first)
    targets = [LABELS.index(f"{scene.things[0].colour} {scene.things[0].kind}") for scene in shown]
    names = tuple(f"{split} {first + i}" for i in range(len(shown)))
    return Pictures(LABELS, np.asarray(targets, np.int64), Drawn(shown, tuple(range(len(shown)))), names)


def portraits(split: str, count: int, *, first: int = 0) -> tuple[Scene, ...]:
    """Scenes of the world with one thing each, so big that 16 pixels tell its kind."""
    view, made = scenes(split=split, things=1), []
    for i in range(first, first + count):
        scene, chance = view[i], Chance(i, f"portrait {split}")
        size = chance.uniform(*BIG)
        x, y = (chance.uniform(1.02 * size, 1 - 1.02 * size) for _ in range(2))
        made.append(replace(scene, things=(replace(scene.things[0], size=size, x=x, y=y),)))
    return tuple(made)


@lru_cache(maxsize=4)
def _chosen(split: str) -> tuple[View[Scene], tuple[int, ...], np.ndarray]:
    """The first scenes in which one thing is clearly the largest, and what it is."""
    number, fold = _where(split)
    view, numbers, targets = scenes(split=fold, things=(1, 3)), list[int](), list[int]()
    while len(numbers) < COUNTS[split]:
        scene = view[number]
        if (largest := clearly_largest(scene)) is not None:
            thing = scene.things[largest]
            numbers.append(number)
            targets.append(LABELS.index(f"{thing.colour} {thing.kind}"))
        number += 1
    return view, tuple(numbers), np.asarray(targets, np.int64)


def clearly_largest(scene: Scene) -> int | None:
    """The number of the thing that is clearly the largest of a scene, after which its picture is named, if any is."""
    largest, *others = sorted(range(len(scene.things)), key=lambda i: scene.things[i].size, reverse=True)
    clear = all(scene.things[largest].size >= LARGER * scene.things[other].size for other in others)
    return largest if clear else None


def _where(split: str) -> tuple[int, str]:
    if split not in COUNTS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(COUNTS)}")
    return (FAR if split == "val" else 0), "test" if split == "test" else "train"
