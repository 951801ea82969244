"""Pictures with masks of what somebody may mean who points at them: things, their parts, and groups of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int64, UInt8
from PIL import Image

from regard.data.album import Pictures, Source
from regard.data.painted import Drawn, world_detections, world_pictures, world_portraits
from regard.data.pictures import detections
from regard.data.sets import pets
from regard.names import unknown
from regard.vision.centre import centre_square
from regard.vision.picture import from_array
from regard.world import Picture, group_masks, parts, render_batch

Masks = Mapping[str, Bool[np.ndarray, "n h w"]]  # of each kind, as many as there are
KINDS = ("thing", "part", "group")
LEAST = 16  # pixels of a mask; less can hardly be pointed at


@dataclass(frozen=True, eq=False)
class Masked:
    """Pictures, and the masks in each by their kind; `unsure` are pixels that belong to nothing and are not scored."""

    source: Source
    marked: Callable[[int], Masks]
    names: tuple[str, ...]
    unsure: Callable[[int], Bool[np.ndarray, "h w"]] | None = None

    def __len__(self) -> int:
        return len(self.names)

    def picture(self, index: int) -> Image.Image:
        """One picture in its own size, RGB."""
        return self.source(index)

    def masks(self, index: int) -> Masks:
        """What may be meant in it; masks too small to be pointed at are left out."""
        return {kind: some[some.sum(axis=(1, 2)) >= LEAST] for kind, some in self.marked(index).items()}


def masked(name: str, split: str = "test", kinds: Sequence[str] = ("thing",)) -> Masked:
    """The world, with its parts and groups; pets, of which each picture has one; or any set with marks in pixels."""
    if strange := [kind for kind in kinds if kind not in KINDS]:
        raise ValueError(unknown("kind of mask", strange[0], KINDS))
    if not kinds:
        raise ValueError(f"no kind of mask means nothing; choose of {', '.join(KINDS)}")
    if name == "world":
        found = world_detections(split)
        assert isinstance(found.source, Drawn)
        return Masked(found.source, _Drawn(found.source, tuple(kinds)), found.names)
    if tuple(kinds) != ("thing",):
        raise ValueError(f"{name} has masks of things alone; leave {', '.join(kinds)} to the world")
    if name == pets.DATASET.name:
        return _pets(split)
    known = detections(name, split)

    def marked(index: int) -> Masks:
        picture, objects = known[index]
        return {"thing": objects.masks(picture.height, picture.width)[~objects.crowd]}

    return Masked(known.picture, marked, known.names)


class Squares(NamedTuple):
    """Pictures of one size, the pixels of the thing that each is named after, and those of which nobody is sure."""

    pixels: UInt8[np.ndarray, "n s s 3"]
    masks: Bool[np.ndarray, "n s s"]
    unsure: Bool[np.ndarray, "n s s"]


@dataclass(frozen=True, eq=False)
class Outlined:
    """Pictures, each with a class and the outline of the one thing that it is named after, in any size."""

    labels: tuple[str, ...]
    targets: Int64[np.ndarray, " n"]
    cut: Callable[[Sequence[int], int], Squares]

    def __len__(self) -> int:
        return len(self.targets)


OUTLINES = ("world", "world/big", pets.DATASET.name)


def outlines(name: str, split: str = "test") -> Outlined:
    """The world, by the largest thing in each picture, or by the only one (world/big); or Pets, breed after breed.

    The first of Pets are of all breeds. The border that people drew around a pet is unsure.
    """
    if name not in OUTLINES:
        raise ValueError(unknown("set of pictures with the mask of one thing each", name, OUTLINES))
    if name == pets.DATASET.name:
        return _breeds(split)
    known = world_pictures(split) if name == "world" else world_portraits(split)
    assert isinstance(known.source, Drawn)
    return Outlined(known.labels, known.targets, _Largest(known.source))


def world_masks(picture: Picture, kinds: Sequence[str] = KINDS) -> Masks:
    """What may be meant in a picture of the world."""
    ways: Mapping[str, Callable[[], np.ndarray]] = {
        "thing": lambda: picture.visible,
        "part": lambda: parts(picture).visible,
        "group": lambda: group_masks(picture),
    }
    return {kind: ways[kind]() for kind in kinds}


@dataclass(frozen=True, slots=True)
class _Drawn:
    drawn: Drawn
    kinds: tuple[str, ...]

    def __call__(self, index: int) -> Masks:
        return world_masks(self.drawn.render(index), self.kinds)


def _pets(split: str) -> Masked:
    """Cats and dogs; their border is published as neither, and pictures without a shape are left out."""
    shown, shapes = pets.read(split), pets.trimaps(split)
    rows = np.flatnonzero(shapes.drawn).tolist()
    return Masked(
        lambda index: shown.picture(rows[index]),
        lambda index: {"thing": (shapes[rows[index]] == 1)[None]},
        tuple(shown.names[row] for row in rows),
        lambda index: shapes[rows[index]] == 3,
    )


@dataclass(frozen=True, slots=True)
class _Largest:
    drawn: Drawn

    def __call__(self, rows: Sequence[int], size: int) -> Squares:
        scenes = [self.drawn.view[self.drawn.numbers[row]] for row in rows]
        seen = render_batch(scenes, size, outputs=("rgb", "instance"))
        largest = np.array([max(range(len(one.things)), key=lambda i: one.things[i].size) for one in scenes])
        masks = seen["instance"] == largest[:, None, None]
        return Squares(seen["rgb"], masks, np.zeros_like(masks))


def _breeds(split: str) -> Outlined:
    """Cats and dogs with a shape: the first of each breed, then the second of each, and so on."""
    pets.DATASET.check(split)
    shown, shapes = pets.read(split), pets.trimaps(split)
    rows = np.flatnonzero(shapes.drawn)
    targets, turn = shown.targets[rows], np.empty(len(rows), np.int64)
    for breed in np.unique(targets):
        turn[targets == breed] = np.arange((targets == breed).sum())
    rows = rows[np.lexsort((targets, turn))]
    return Outlined(shown.labels, shown.targets[rows], _Trimmed(shown, shapes, rows))


@dataclass(frozen=True, slots=True)
class _Trimmed:
    shown: Pictures
    shapes: pets.Trimaps
    rows: Int64[np.ndarray, " n"]

    def __call__(self, rows: Sequence[int], size: int) -> Squares:
        pixels, trimaps = np.empty((len(rows), size, size, 3), np.uint8), np.empty((len(rows), size, size), np.uint8)
        for i, row in enumerate(self.rows[list(rows)].tolist()):
            pixels[i] = centre_square(self.shown.picture(row), size)
            grey = from_array(np.repeat(self.shapes[row][:, :, None], 3, axis=2))
            trimaps[i] = centre_square(grey, size, Image.Resampling.NEAREST)[:, :, 0]
        return Squares(pixels, trimaps == 1, trimaps == 3)
