"""Pictures with a class each, any of them by its number, opened when somebody asks for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import numpy as np
from jaxtyping import Int64, UInt8
from PIL import Image

from regard.vision.centre import centre_square
from regard.vision.picture import from_array, open_picture

LARGEST = 4 * 2**30  # bytes of pictures that are kept in memory

Source = Callable[[int], Image.Image]  # the picture of a number, as a value that may be sent to another process


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Small pictures that lie in memory."""

    pixels: UInt8[np.ndarray, "n h w 3"]

    def __call__(self, index: int) -> Image.Image:
        return from_array(self.pixels[index])


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """Pictures that lie in files."""

    paths: Sequence[Path]

    def __call__(self, index: int) -> Image.Image:
        return open_picture(self.paths[index])


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures, the number of the class of each in `targets`, and what the classes are called in `labels`.

    `names` are what the pictures are called at home, where they have names.
    """

    labels: tuple[str, ...]
    targets: Int64[np.ndarray, " n"]
    source: Source
    names: tuple[str, ...] = ()
    _kept: dict[int | None, np.ndarray] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.names and len(self.names) != len(self.targets):
            raise ValueError(f"{len(self.names)} names are not those of {len(self.targets)} pictures; give one each")

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        """A picture and the number of its class."""
        return self.picture(index), int(self.targets[index])

    def picture(self, index: int) -> Image.Image:
        """One picture in its own size, RGB."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"picture {index} is not among these {len(self)}")
        return self.source(int(index) % len(self))

    def arrays(self, size: int | None = None) -> UInt8[np.ndarray, "n h w 3"]:
        """All pictures at once, each the square in its middle, resized; kept in memory, and not to be written to.

        Without a size, they stay as they are, if they lie in memory anyway.
        """
        if size not in self._kept:
            found = self._held(size)
            found.flags.writeable = False
            self._kept[size] = found
        return self._kept[size]

    def part(self, rows: Int64[np.ndarray, " m"]) -> "Pictures":
        """Some of the pictures, by their numbers."""
        names = tuple(self.names[row] for row in rows.tolist()) if self.names else ()
        return Pictures(self.labels, self.targets[rows], Some(self.source, rows), names)

    @property
    def side(self) -> int | None:
        """The side of pictures that are all squares of one size, as they are stored or drawn; None of any others."""
        if isinstance(self.source, Held):
            return next(iter(_square(self.source.pixels)), None)
        return getattr(self.source, "size", None)

    @property
    def checksum(self) -> int:
        """Changes when other pictures are meant: by names, classes and how many there are, not by pixels."""
        return crc32(repr((self.labels, self.names)).encode(), crc32(self.targets.astype("<i8").tobytes()))

    def _held(self, size: int | None) -> np.ndarray:
        source = self.source
        if isinstance(source, Held) and size in (None, *_square(source.pixels)):
            return source.pixels.view()
        if size is None:
            raise ValueError("these pictures have sizes of their own; ask for one, as by arrays(64)")
        if (needed := len(self) * size * size * 3) > LARGEST:
            raise ValueError(
                f"{len(self):,} pictures of {size} pixels take {needed / 2**30:.1f} GB, and {LARGEST // 2**30} are "
                "kept; ask for a smaller size, or take them one by one by picture(i)"
            )
        if hasattr(source, "at"):
            drawn: np.ndarray = source.at(size)
            return drawn
        found = np.empty((len(self), size, size, 3), np.uint8)
        for i in range(len(self)):
            found[i] = centre_square(source(i), size)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Some:
    """Some pictures of another source."""

    source: Source
    rows: Int64[np.ndarray, " m"]

    def __call__(self, index: int) -> Image.Image:
        return self.source(int(self.rows[index]))


def held(labels: Sequence[str], targets: np.ndarray, pixels: UInt8[np.ndarray, "n h w 3"]) -> Pictures:
    """Pictures of arrays."""
    return Pictures(tuple(labels), targets.astype(np.int64), Held(pixels))


def _square(pixels: UInt8[np.ndarray, "n h w 3"]) -> tuple[int, ...]:
    """The size of pictures that are squares already."""
    return (pixels.shape[1],) if pixels.shape[1] == pixels.shape[2] else ()
