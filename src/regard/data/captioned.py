"""Pictures with one or several captions each; of the world also which words of them name what."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple, Protocol, runtime_checkable
from zlib import crc32

import numpy as np
from jaxtyping import Int64, UInt8
from PIL import Image

from regard.data.album import Source
from regard.world import Picture

_SIDES = {"left": "right", "right": "left"}


class Truth(NamedTuple):
    """All that is true of a picture of the world: its pixels by things, and which thing each word of it names."""

    picture: Picture
    words: tuple[str, ...]  # of its caption
    things: tuple[int, ...]  # the one that a word names, or -1


@runtime_checkable
class Batched(Protocol):
    """A source that draws many pictures at once faster than one by one."""

    def batch(self, rows: Sequence[int], size: int) -> UInt8[np.ndarray, "n s s 3"]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Captioned:
    """Pictures, opened when somebody asks for one, and what is said of each.

    `names` are what pictures are called at home. `mirrored` is what is said of each in a mirror, where its captions
    tell an order; of others, left and right change places.
    """

    captions: tuple[tuple[str, ...], ...]
    source: Source
    names: tuple[str, ...] = ()
    mirrored: tuple[tuple[str, ...], ...] = ()
    truth: Callable[[int], Truth] | None = None

    def __post_init__(self) -> None:
        for name, some in (("names", self.names), ("mirrored captions", self.mirrored)):
            if some and len(some) != len(self.captions):
                raise ValueError(f"{len(some)} {name} are not those of {len(self.captions)} pictures; give one each")
        if (bare := next((i for i, some in enumerate(self.captions) if not some), None)) is not None:
            raise ValueError(f"picture {bare} has no caption; give it one, or leave it out")

    def __len__(self) -> int:
        return len(self.captions)

    def picture(self, index: int) -> Image.Image:
        """One picture in its own size, RGB."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"picture {index} is not among these {len(self)}")
        return self.source(int(index) % len(self))

    def pairs(self) -> list[tuple[int, int]]:
        """The number of a picture and of one of its captions, for each caption."""
        return [(i, j) for i, some in enumerate(self.captions) for j in range(len(some))]

    def mirror(self, picture: int, caption: int) -> str:
        """What a caption says of its picture in a mirror."""
        if self.mirrored:
            return self.mirrored[picture][caption]
        return re.sub(r"\b(left|right)\b", lambda found: _SIDES[found[0]], self.captions[picture][caption])

    def part(self, rows: Int64[np.ndarray, " m"]) -> "Captioned":
        """Some of the pictures, by their numbers."""
        chosen = rows.tolist()
        truth = self.truth
        return Captioned(
            tuple(self.captions[row] for row in chosen),
            _Some(self.source, tuple(chosen)),
            tuple(self.names[row] for row in chosen) if self.names else (),
            tuple(self.mirrored[row] for row in chosen) if self.mirrored else (),
            None if truth is None else (lambda index: truth(chosen[index])),
        )

    @property
    def checksum(self) -> int:
        """Changes when other pictures or other captions are meant: by names and words, not by pixels."""
        return crc32(repr((self.names, self.captions)).encode())


@dataclass(frozen=True, slots=True, eq=False)
class _Some:
    """Some pictures of another source."""

    source: Source
    rows: tuple[int, ...]

    def __call__(self, index: int) -> Image.Image:
        return self.source(self.rows[index])


def within(name: str) -> bool:
    """Whether a name that a stranger wrote leads to a file inside of a folder, and nowhere else."""
    path = PurePosixPath(name.replace("\\", "/"))
    return bool(name) and not path.is_absolute() and ".." not in path.parts and ":" not in path.parts[0]
