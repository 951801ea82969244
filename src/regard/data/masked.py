"""Pictures with masks of what somebody may mean who points at them: things, their parts, and groups of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool
from PIL import Image

from regard.data.album import Source
from regard.data.painted import Drawn, world_detections
from regard.data.pictures import detections
from regard.data.sets import pets
from regard.names import unknown
from regard.world import Picture, group_masks, parts

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
