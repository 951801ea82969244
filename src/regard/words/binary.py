"""word2vec's binary format: a first line that counts, then each word, a space, and its numbers as float32.

Vectors begin wherever a word happens to end. So the ends of words are looked for one after another, and all numbers
are taken at once. Google's tool puts a line feed behind each vector, and gensim does not; both are read.
"""

import mmap
from io import BufferedIOBase
from pathlib import Path

import numpy as np
from jaxtyping import Float32, Int64

from regard.hub import CheckpointError
from regard.words.lines import Header, check_header, read_header

LONGEST = 4096  # bytes of a word
FIRST = 100  # bytes of the first line


def read_binary(path: Path, file: BufferedIOBase) -> tuple[bytes, Float32[np.ndarray, "n d"]]:
    """The words, with a line feed between, and the matrix of a file."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        line = data[: data.find(b"\n", 0, FIRST) + 1]
        header = read_header(line)
        if header is None:
            raise CheckpointError(
                f"{path} does not begin with two numbers, as word2vec's binary format does; fetch it again"
            )
        check_header(path, header)
        size, place = 4 * header.width, len(line)
        least = place + header.words * (2 + size)
        if least > len(data):
            raise CheckpointError(
                f"{path} has {len(data):,} bytes, and {header.words:,} words with {header.width:,} numbers take "
                f"{least:,} at least, so that it is cut short; fetch it again"
            )
        ends, step = _ends(path, data, header, place)
        every = np.frombuffer(data, np.uint8)
        starts = np.concatenate([[place], ends[:-1] + step])
        words = every[_runs(starts, ends + 1)]  # with the space behind each
        words[np.cumsum(ends + 1 - starts) - 1] = ord("\n")
        # A view in which a vector begins at every byte; those that do are copied out of it.
        windows = np.ndarray((len(data) - size + 1,), f"V{size}", data, strides=(1,))
        matrix = windows[ends + 1].view("<f4").reshape(-1, header.width)
        del every, windows  # they hold the file
    return words[:-1].tobytes(), matrix


def _ends(path: Path, data: mmap.mmap, header: Header, place: int) -> tuple[Int64[np.ndarray, " n"], int]:
    """Where each word ends, and how many bytes further the next one begins."""
    find, ends = data.find, list[int]()
    first = find(b" ", place, place + LONGEST)
    vector = 1 + 4 * header.width
    step = vector + int(first >= 0 and data[first + vector : first + vector + 1] == b"\n")
    for _ in range(header.words):
        end = find(b" ", place, place + LONGEST)
        if end < 0:
            break
        ends.append(end)
        place = end + step
    if len(ends) < header.words or ends[-1] + vector > len(data):
        raise CheckpointError(
            f"{path} ends or is damaged at word {len(ends) + (len(ends) < header.words):,} of {header.words:,}; fetch "
            f"it again"
        )
    if place < len(data):
        raise CheckpointError(f"{path} goes on behind the {header.words:,} words it announces; fetch it again")
    return np.asarray(ends, np.int64), step


def _runs(starts: Int64[np.ndarray, " n"], ends: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " m"]:
    """All places from each start to its end, one run behind another."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    found: np.ndarray = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return found
