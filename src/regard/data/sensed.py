"""Sounds, clouds of points or films with a class each, any of them by its number, opened when somebody asks for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from zlib import crc32

import numpy as np
from jaxtyping import Float32, Int64, UInt8

from regard.sound import Sound, open_sound
from regard.vision.cloud import ENDS, open_cloud

Sense = Literal["sounds", "points", "films"]
FILES: dict[Sense, tuple[str, ...]] = {"sounds": (".wav",), "points": ENDS}  # how their names end

Thing = Sound | Float32[np.ndarray, "n 3"] | UInt8[np.ndarray, "f h w 3"]
Source = Callable[[int], Thing]  # the thing of a number, as a value that may be sent to another process


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Things that lie in memory."""

    things: Sequence[Thing] | UInt8[np.ndarray, "n f h w 3"]

    def __call__(self, index: int) -> Thing:
        return self.things[index]


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """Things that lie in files."""

    paths: Sequence[Path]

    def __call__(self, index: int) -> Thing:
        path = self.paths[index]
        return open_sound(path) if path.suffix.lower() in FILES["sounds"] else open_cloud(path)


@dataclass(frozen=True, slots=True, eq=False)
class Sensed:
    """Sounds, points or films, the number of the class of each in `targets`, and the names of classes in `labels`."""

    kind: Sense
    labels: tuple[str, ...]
    targets: Int64[np.ndarray, " n"]
    source: Source
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[Thing, int]:
        """A thing and the number of its class."""
        return self.thing(index), int(self.targets[index])

    def thing(self, index: int) -> Thing:
        """One sound, cloud or film."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"number {index} is not among these {len(self)}")
        return self.source(int(index) % len(self))

    @property
    def checksum(self) -> int:
        """Changes when other things are meant: by names, classes and how many there are."""
        return crc32(repr((self.labels, self.names)).encode(), crc32(self.targets.astype("<i8").tobytes()))
