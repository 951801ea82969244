"""Pictures in which things are marked: a box each, a class, and maybe a mask."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Int64
from PIL import Image

from regard.data.album import Source
from regard.data.errors import DataError
from regard.vision import rle

Segment = (
    Mapping[str, Any] | Sequence[Any] | None
)  # run lengths of COCO, polygons, or nothing; checked when it is drawn


class Objects(NamedTuple):
    """What is marked in a picture: corners in pixels, the number of each class, and whether it is a crowd.

    A crowd is many things under one mark; detectors are neither taught nor scored by it.
    """

    boxes: Float32[np.ndarray, "n 4"]  # left, top, right, bottom
    targets: Int64[np.ndarray, " n"]
    crowd: Bool[np.ndarray, " n"]
    segments: tuple[Segment, ...]

    def masks(self, height: int, width: int) -> Bool[np.ndarray, "n h w"]:
        """The mask of each thing in a picture of this size; those without one are empty."""
        found = np.zeros((len(self.segments), height, width), bool)
        for mask, segment in zip(found, self.segments, strict=True):
            if segment is not None:
                mask[:] = _mask(segment, height, width)
        return found


@dataclass(frozen=True, eq=False)
class Detections:
    """Pictures, and what is marked in each; `labels` are what the classes are called."""

    labels: tuple[str, ...]
    source: Source
    marked: Callable[[int], Objects]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> tuple[Image.Image, Objects]:
        return self.picture(index), self.objects(index)

    def picture(self, index: int) -> Image.Image:
        """One picture in its own size, RGB."""
        return self.source(self._number(index))

    def objects(self, index: int) -> Objects:
        """What is marked in it."""
        return self.marked(self._number(index))

    def _number(self, index: int) -> int:
        if not -len(self) <= index < len(self):
            raise IndexError(f"picture {index} is not among these {len(self)}")
        return int(index) % len(self)


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """Marks that lie in memory."""

    objects: Sequence[Objects]

    def __call__(self, index: int) -> Objects:
        return self.objects[index]


def _mask(segment: Mapping[str, Any] | Sequence[Any], height: int, width: int) -> np.ndarray:
    try:
        if isinstance(segment, Mapping):
            if list(segment["size"]) != [height, width]:
                raise ValueError(f"it is one of {segment['size']} pixels, not of {height} × {width}")
            return rle.decode(segment["counts"], height, width)
        return rle.fill(segment, height, width)
    except (LookupError, TypeError, ValueError) as error:
        raise DataError(f"a mask cannot be read: {error}; mend it, or leave it out") from None
