"""Vectors as text, a word and its numbers in each line: word2vec's, whose first line counts them, and GloVe's."""

import re
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32

from regard.hub import CheckpointError
from regard.progress import Progress

LONGEST = 2**20  # bytes of a line
WIDEST = 2**16  # numbers of a vector
BLOCK = 2**24  # bytes that are read together


class Header(NamedTuple):
    """The first line of word2vec's formats: how many words there are, and how many numbers each has."""

    words: int
    width: int


def read_header(line: bytes) -> Header | None:
    """What a first line announces, if it is two whole numbers and nothing else."""
    found = re.fullmatch(rb"(\d{1,12})[ \t](\d{1,12})\s*", line)
    return None if found is None else Header(int(found[1]), int(found[2]))


def check_header(path: Path, header: Header) -> None:
    """Refuse a first line that announces what nobody has."""
    if not 1 <= header.width <= WIDEST or not header.words:
        raise CheckpointError(
            f"{path} announces {header.words:,} words with {header.width:,} numbers; give 1 word or more, and 1 to "
            f"{WIDEST:,} numbers each"
        )


def read_text(
    path: Path, stream: BufferedIOBase, progress: Progress | None = None
) -> tuple[bytes, Float32[np.ndarray, "n d"]]:
    """The words, with a line feed between, and the matrix of a text; a line that has not as many numbers is refused."""
    words: list[bytes] = []
    blocks: list[np.ndarray] = []
    header: Header | None = None
    width, number = 0, 0  # numbers of a vector, and lines that were read
    for lines in _blocks(path, stream):
        if not number:
            lines[0] = lines[0].removeprefix(BOM_UTF8)  # which some editors put before a text
        if not number and (header := read_header(lines[0])) is not None:
            check_header(path, header)
            width, number, lines = header.width, 1, lines[1:]
        if not width and lines:
            width = max(len(lines[0].split()) - 1, 0)
            if not 1 <= width <= WIDEST:
                raise CheckpointError(
                    f"{path}, line 1 has {width:,} numbers behind a word; give 1 to {WIDEST:,}, with spaces between"
                )
        found = _parse(path, lines, width, number)
        words += found[0]
        blocks.append(found[1])
        number += len(lines)
        if progress is not None:
            progress(float(getattr(stream, "fileobj", stream).tell()))
    if header is not None and header.words != len(words):
        raise CheckpointError(
            f"{path} announces {header.words:,} words and has {len(words):,}, so that it is cut short or damaged; "
            f"fetch it again"
        )
    matrix = np.concatenate(blocks) if blocks else np.zeros((0, width), np.float32)
    return b"\n".join(words), matrix


def _blocks(path: Path, stream: BufferedIOBase) -> Iterator[list[bytes]]:
    """Whole lines, many at a time, without blank ones at the end of the file."""
    rest = b""
    while chunk := stream.read(BLOCK):
        body, _, rest = (rest + chunk).rpartition(b"\n")
        if len(rest) > LONGEST:
            raise CheckpointError(f"{path} has a line of more than {LONGEST:,} bytes, so that it is no text of vectors")
        if body:
            yield [line.rstrip() for line in body.split(b"\n")]
    if rest.strip():
        yield [rest.rstrip()]


def _parse(path: Path, lines: list[bytes], width: int, number: int) -> tuple[list[bytes], Float32[np.ndarray, "n d"]]:
    """Words and numbers of lines that follow so many others: all at once where all are as they should be."""
    parts = [line.partition(b" ") for line in lines]
    if all(word and numbers.count(b" ") == width - 1 for word, _, numbers in parts):
        found = _numbers(b" ".join([numbers for _, _, numbers in parts]))
        if found is not None and len(found) == len(parts) * width:
            return [word for word, _, _ in parts], found.reshape(-1, width)
    pairs = [_line(path, line, width, number + i) for i, line in enumerate(lines, start=1) if line]
    rows = [numbers for _, numbers in pairs]
    return [word for word, _ in pairs], np.stack(rows) if rows else np.zeros((0, width), np.float32)


def _line(path: Path, line: bytes, width: int, number: int) -> tuple[bytes, Float32[np.ndarray, " d"]]:
    """One line by itself, where a word may hold spaces, as some of GloVe's do, or something is wrong."""
    fields = line.split()
    inside = fields[1:-width] if len(fields) > width + 1 else []  # of the word, or too many
    numbers = _numbers(b" ".join(fields[-width:])) if len(fields) > width else None
    if len(fields) <= width or (inside and _numbers(b" ".join(inside)) is not None):
        raise CheckpointError(
            f"{path}, line {number} has {len(fields) - 1:,} numbers behind its word, and the others have {width:,}, so "
            f"that it is cut short or damaged; fetch it again"
        )
    if numbers is None or len(numbers) != width:
        raise CheckpointError(
            f"{path}, line {number} has something that is no number in the vector of "
            f"{fields[0][:100].decode(errors='replace')!r}; mend it, or fetch it again"
        )
    return b" ".join(fields[:-width]), numbers


def _numbers(text: bytes) -> Float32[np.ndarray, " n"] | None:
    """Numbers with spaces between; None where something else is among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy before 2.3 only warns
        try:
            return np.fromstring(text, np.float32, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
