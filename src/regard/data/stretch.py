"""A stretch of a text file, from one byte to another, read block by block."""

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from regard.data.errors import DataError

BLOCK = 1 << 20  # bytes that are read at a time
SHARES = {"train": (0, 90), "val": (90, 95), "test": (95, 100)}  # hundredths of what is divided by place


@dataclass(frozen=True, slots=True)
class Stretch:
    """The bytes of a file from `start` to `end`; of one whose name ends in .gz, those inside."""

    path: Path
    start: int
    end: int

    def blocks(self) -> Iterator[str]:
        """The text in pieces of about a megabyte, in strict UTF-8."""
        decoder, left, line, first = codecs.getincrementaldecoder("utf-8")(), self.end - self.start, 1, True
        with _reading(self.path) as stream:
            stream.seek(self.start)
            while left and (raw := stream.read(min(BLOCK, left))):
                left -= len(raw)
                try:
                    text = decoder.decode(raw, final=not left)
                except UnicodeDecodeError as error:
                    number = line + error.object[: error.start].count(b"\n")
                    where = f"line {number}" + (f" behind byte {self.start:,}" if self.start else "")
                    raise DataError(
                        f"{self.path}, {where} is not UTF-8: byte 0x{error.object[error.start]:02x}; mend the line, or "
                        "convert the file to UTF-8"
                    ) from None
                if text:
                    yield text.removeprefix("\ufeff") if first and not self.start else text
                first, line = False, line + text.count("\n")
        if left:
            raise DataError(f"{self.path} ends {left:,} bytes early; make or fetch it again")

    def lines(self) -> Iterator[str]:
        """The text line by line, without their ends."""
        return lines_of(self.blocks())


def lines_of(blocks: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in pieces, without their ends."""
    rest = ""
    for block in blocks:
        *whole, rest = (rest + block).split("\n")
        yield from (line.removesuffix("\r") for line in whole)
    if rest:
        yield rest


def divided(paths: Sequence[Path], split: str) -> list[Stretch]:
    """The share of a split in files that follow one another: the first 90 % train, then 5 % val, then 5 % test.

    A cut is moved to the end of its line where that is near.
    """
    sizes = [size(path) for path in paths]
    low, high = (sum(sizes) * share // 100 for share in SHARES[split])
    found, before = [], 0
    for path, length in zip(paths, sizes, strict=True):
        start, end = (_cut(path, min(max(edge - before, 0), length), length) for edge in (low, high))
        before += length
        if start < end:
            found.append(Stretch(path, start, end))
    return found


def size(path: Path) -> int:
    """How many bytes a file has, unpacked."""
    if path.suffix != ".gz":
        return path.stat().st_size
    with _reading(path) as stream:
        return sum(len(block) for block in iter(lambda: stream.read(BLOCK), b""))


def _cut(path: Path, place: int, length: int) -> int:
    """Behind the line of a place, or where that is far, behind its character."""
    if place in (0, length):
        return place
    with _reading(path) as stream:
        stream.seek(place)
        near = stream.read(BLOCK)
    end = near.find(b"\n")
    if end >= 0:
        return place + end + 1
    return place + next((i for i, byte in enumerate(near[:4]) if byte & 0xC0 != 0x80), 0)


@contextmanager
def _reading(path: Path) -> Iterator[IO[bytes]]:
    """A file that is open to be read, gzipped or not; what is damaged is said in one sentence."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            yield cast(IO[bytes], stream)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path} is cut short or damaged ({error}); make or fetch it again") from None
