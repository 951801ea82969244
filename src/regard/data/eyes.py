"""Pictures of two eyes, any pair of them by its number, with true disparities where somebody knows them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image

from regard.data.errors import DataError
from regard.vision.picture import to_array


class Eyes(NamedTuple):
    """What two eyes see: by how many pixels what the left one sees at a pixel is further left for the right one.

    `other` is the same of what the right eye sees, further right for the left one. 0 is where nobody knows.
    """

    left: Image.Image
    right: Image.Image
    disparity: Float32[np.ndarray, "h w"] | None = None
    other: Float32[np.ndarray, "h w"] | None = None


class Arrays(NamedTuple):
    """Many pairs in one size; disparities of both eyes are shares of the width, and 0 where nobody knows."""

    left: UInt8[np.ndarray, "n h w 3"]
    right: UInt8[np.ndarray, "n h w 3"]
    truth: Float32[np.ndarray, "n 2 h w"]


@dataclass(frozen=True, eq=False)
class EyePairs:
    """Pairs of pictures, any of them by its number. Depth is `metres` divided by the share of the width."""

    names: tuple[str, ...]
    source: Callable[[int], Eyes]
    metres: float | None = None  # None where nobody says how far apart the eyes were

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Eyes:
        if not -len(self) <= index < len(self):
            raise IndexError(f"pair {index} is not among these {len(self)}")
        index = int(index) % len(self)
        return check(self.source(index), self.names[index])

    def __iter__(self) -> Iterator[Eyes]:
        return (self[i] for i in range(len(self)))

    def picture(self, index: int) -> Image.Image:
        """What the left eye sees."""
        return self[index].left

    def arrays(self, height: int, width: int, count: int = 0) -> Arrays:
        """The first so many pairs, or all, squeezed to one size; each pixel keeps the disparity of a pixel it had."""
        count = min(count or len(self), len(self))
        if hasattr(self.source, "at") and height == width:
            drawn: Arrays = self.source.at(count, width)
            return drawn
        found = [_squeezed(self[i], height, width) for i in range(count)]
        return Arrays(*(np.stack(part) for part in zip(*found, strict=True)))

    @property
    def checksum(self) -> int:
        """Changes when other pairs are meant: by their names and how many there are, not by pixels."""
        return crc32(repr(self.names).encode())


def check(eyes: Eyes, name: str) -> Eyes:
    """Refuse what cannot be a pair."""
    if eyes.left.size != eyes.right.size:
        raise DataError(
            f"{name}: the left picture has {_sides(eyes.left)} pixels and the right one {_sides(eyes.right)}; two eyes "
            "see pictures of one size, so cut both alike"
        )
    for truth in (eyes.disparity, eyes.other):
        if truth is not None and truth.shape != (eyes.left.height, eyes.left.width):
            raise DataError(
                f"{name}: the pictures have {_sides(eyes.left)} pixels and the disparities {truth.shape[1]}×"
                f"{truth.shape[0]}; give one for each pixel"
            )
    return eyes


def _squeezed(eyes: Eyes, height: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    own_width, own_height = eyes.left.size
    rows = ((np.arange(height) + 0.5) * own_height / height).astype(np.int64)
    columns = ((np.arange(width) + 0.5) * own_width / width).astype(np.int64)
    truth = [
        np.zeros((height, width), np.float32) if each is None else each[rows[:, None], columns] / np.float32(own_width)
        for each in (eyes.disparity, eyes.other)
    ]
    pictures = (to_array(each.resize((width, height), Image.Resampling.BILINEAR)) for each in (eyes.left, eyes.right))
    left, right = pictures
    return left, right, np.stack(truth)


def _sides(picture: Image.Image) -> str:
    return f"{picture.width}×{picture.height}"
