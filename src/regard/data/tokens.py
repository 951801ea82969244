"""Rows of token ids on disk: one file, mapped into memory, read without loading it.

The file is a header, the ids of all rows one after another, and the places where rows begin; all little-endian.
"""

import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Int64, UInt

from regard.data.errors import DataError
from regard.files import replacing

MAGIC = b"regard tokens 1\n"
HEADER = struct.Struct("<16s4Q")  # magic, bytes of an id, vocab, rows, ids in all


class Tokens(Sequence[UInt[np.ndarray, " n"]]):
    """Rows of ids below `vocab`. A row is a view of the file: copy it before you change it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a file that `write` made, and check it: size, rows, and that every id is below `vocab`."""
        self.path = Path(path)
        whole = np.memmap(self.path, np.uint8, mode="r") if self.path.stat().st_size else np.empty(0, np.uint8)
        if len(whole) < HEADER.size:
            raise self._damage(f"{len(whole)} bytes are too few for a header")
        magic, width, self.vocab, rows, count = HEADER.unpack(whole[: HEADER.size].tobytes())
        if magic != MAGIC or width not in (2, 4):
            raise self._damage("it does not begin as one")
        middle = HEADER.size + _round_up(width * count)
        if len(whole) != middle + 8 * (rows + 1):
            raise self._damage(f"it has {len(whole)} bytes, not {middle + 8 * (rows + 1)}")
        self._ids = whole[HEADER.size : HEADER.size + width * count].view(f"<u{width}")
        self._edges = whole[middle:].view("<i8")
        if self._edges[0] != 0 or self._edges[-1] != count or (np.diff(self._edges) < 0).any():
            raise self._damage("its rows do not follow each other")
        if count and (most := int(self._ids.max())) >= self.vocab:
            raise self._damage(f"id {most} is not below its vocabulary of {self.vocab}")

    @property
    def lengths(self) -> Int64[np.ndarray, " rows"]:
        """How many ids each row has."""
        return np.diff(self._edges)

    @property
    def stream(self) -> UInt[np.ndarray, " ids"]:
        """The ids of all rows, one after another, as they lie on the disk."""
        return np.asarray(self._ids)

    def __len__(self) -> int:
        return len(self._edges) - 1

    def __getitem__(self, row: int) -> UInt[np.ndarray, " n"]:  # type: ignore[override]
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} is not among these {len(self)}")
        row %= len(self)
        return np.asarray(self._ids[self._edges[row] : self._edges[row + 1]])

    def __iter__(self) -> Iterator[UInt[np.ndarray, " n"]]:
        return (self[row] for row in range(len(self)))

    def __reduce__(self) -> tuple[type["Tokens"], tuple[Path]]:
        return Tokens, (self.path,)  # another process maps the same file instead of copying it

    def _damage(self, why: str) -> DataError:
        return DataError(f"{self.path} is no whole file of tokens: {why}; write it again from the text")


def write(path: str | os.PathLike[str], rows: Iterable[Iterable[int]], *, vocab: int) -> Tokens:
    """Write rows as they come, in 16 bits where the vocabulary allows; the file is whole or not there."""
    path = Path(path)
    width, edges = 2 if vocab <= 1 << 16 else 4, [0]
    with replacing(path) as beside, beside.open("wb") as out:
        out.seek(HEADER.size)
        for number, row in enumerate(rows):
            ids = np.asarray(row if isinstance(row, np.ndarray) else list(row), np.int64)
            if ids.size and not 0 <= ids.min() <= ids.max() < vocab:
                wrong = int(ids[(ids < 0) | (ids >= vocab)][0])
                raise ValueError(f"row {number} has id {wrong}, which is not below the vocabulary of {vocab}")
            out.write(ids.astype(f"<u{width}").tobytes())
            edges.append(edges[-1] + len(ids))
        out.write(bytes(_round_up(width * edges[-1]) - width * edges[-1]))
        out.write(np.asarray(edges, "<i8").tobytes())
        out.seek(0)
        out.write(HEADER.pack(MAGIC, width, vocab, len(edges) - 1, edges[-1]))
    return Tokens(path)


def _round_up(count: int) -> int:
    return -(-count // 8) * 8
