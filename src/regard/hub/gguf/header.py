"""The header of a GGUF file, read within bounds: what it says of the model, and where its tensors lie.

Every count is compared with the bytes that are left before anything is made of it.
"""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from regard import files
from regard.hub.gate import CheckpointError

HEADER = 128 * 2**20  # bytes that are read of one
MOST = 2**20  # entries of a vocabulary, and merges of them
NAMES = 2**16  # keys, and tensors
_MAGIC, _VERSIONS = b"GGUF", (2, 3)
# Types of values by their number: how they are packed.
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 10: "Q", 11: "q", 12: "d"}
_BOOL, _TEXT, _ARRAY = 7, 8, 9


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor as the header announces it: its shape, the number of its type, and its bytes in the file."""

    shape: tuple[int, ...]
    kind: int
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Header:
    """What a file says of its model; lists of numbers are arrays."""

    path: Path
    about: Mapping[str, Any]
    tensors: Mapping[str, Stored]


def read(path: Path, blocks: Mapping[int, tuple[int, int]]) -> Header:
    """The header of a file. `blocks` says for each type of tensor how many numbers share how many bytes."""
    size = files.check(path)
    with path.open("rb") as file:
        cursor = _Cursor(path, file, size)
        if (magic := cursor.take(min(4, size))) != _MAGIC:
            raise CheckpointError(f"{path} is no GGUF file: it begins with {magic!r}; fetch it again")
        version = cursor.number("I")
        if version not in _VERSIONS:
            way = "it is for big-endian machines" if version >> 24 in _VERSIONS else "convert it anew with llama.cpp"
            raise CheckpointError(f"{path} has version {version} of GGUF, and 2 and 3 are read; {way}")
        tensors, keys = cursor.count(NAMES, 24, "tensors"), cursor.count(NAMES, 13, "keys")
        about: dict[str, Any] = {}
        for _ in range(keys):
            name = cursor.text()
            if name in about:
                raise cursor.damage(f"the key {name[:80]!r} stands twice")
            about[name] = cursor.value(cursor.number("I"))
        rows = [cursor.tensor() for _ in range(tensors)]
    return Header(path, about, _place(cursor, about, rows, size, blocks))


def _place(
    cursor: "_Cursor",
    about: Mapping[str, Any],
    rows: list[tuple[str, tuple[int, ...], int, int]],
    size: int,
    blocks: Mapping[int, tuple[int, int]],
) -> dict[str, Stored]:
    """Where each tensor lies: behind the header, within the file, and not in another one."""
    step = about.get("general.alignment", 32)
    if type(step) is not int or not 8 <= step <= 2**20 or step % 8:
        raise cursor.damage(f"general.alignment is {str(step)[:40]}, which is no multiple of 8 up to {2**20:,}")
    data, found = -(-cursor.at // step) * step, dict[str, Stored]()
    for name, shape, kind, offset in rows:
        if name in found:
            raise cursor.damage(f"the tensor {name[:80]!r} stands twice")
        if kind not in blocks:
            raise cursor.damage(f"{name[:80]!r} is of the type {kind}, which is not known")
        numbers, length = blocks[kind]
        if math.prod(shape) < 1 or shape[-1] % numbers:
            raise cursor.damage(
                f"{name[:80]!r} has the shape {shape}, and rows of its type hold {numbers} or a multiple"
            )
        found[name] = Stored(shape, kind, data + offset, math.prod(shape) // numbers * length)
    end = data
    for name, each in sorted(found.items(), key=lambda item: item[1].start):
        if each.start < end or each.start % step or each.start + each.size > size:
            raise cursor.damage(
                f"{name[:80]!r} has {each.size:,} bytes at {each.start:,}, which lie in another tensor, between "
                f"places, or beyond the {size:,} of the file"
            )
        end = each.start + each.size
    return found


class _Cursor:
    """A place in a file, and how far it may go."""

    def __init__(self, path: Path, file: BinaryIO, size: int) -> None:
        self.path, self.file, self.at, self.end = path, file, 0, min(size, HEADER)

    def damage(self, reason: str) -> CheckpointError:
        return CheckpointError(f"{self.path} is damaged, {reason}; fetch it again")

    def take(self, count: int) -> bytes:
        if count > self.end - self.at:
            raise self.damage(f"its header wants {count:,} bytes at {self.at:,} where {self.end - self.at:,} are left")
        self.at += count
        data = self.file.read(count)
        if len(data) != count:
            raise self.damage("it became shorter while it was read")
        return data

    def number(self, code: str) -> Any:
        return struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}")))[0]

    def count(self, most: int, least: int, what: str) -> int:
        """How many of something follow, each of which takes some bytes at least."""
        found: int = self.number("Q")
        if found > most or found * least > self.end - self.at:
            left = self.end - self.at
            raise self.damage(
                f"it announces {found:,} {what}, and at most {most:,} in the {left:,} bytes left are read"
            )
        return found

    def text(self) -> str:
        data = self.take(self.count(HEADER, 1, "bytes of a text"))
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise self.damage(f"a text of it, {data[:20]!r}, is no UTF-8") from None

    def value(self, kind: int) -> Any:
        if kind == _ARRAY:
            return self._array(self.number("I"))
        if kind == _TEXT:
            return self.text()
        if kind == _BOOL:
            return bool(self.number("B"))
        if kind not in _NUMBERS:
            raise self.damage(f"it has a value of the type {kind}, which is not known")
        return self.number(_NUMBERS[kind])

    def _array(self, kind: int) -> Any:
        if kind == _TEXT:
            return [self.text() for _ in range(self.count(MOST, 8, "texts"))]
        code = "B" if kind == _BOOL else _NUMBERS.get(kind)
        if code is None:
            raise self.damage(f"it has a list of the type {kind}, which is not read")
        width = struct.calcsize(f"<{code}")
        return np.frombuffer(self.take(width * self.count(HEADER // width, width, "numbers")), f"<{code}")

    def tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        """Name, shape, type and offset; the file has the longest axis last, as torch has it first."""
        name, axes = self.text(), self.number("I")
        if not 1 <= axes <= 4:
            raise self.damage(f"{name[:80]!r} has {axes} axes, and 1 to 4 are read")
        shape = tuple(self.number("Q") for _ in range(axes))[::-1]
        return name, shape, self.number("I"), self.number("Q")
