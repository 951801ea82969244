"""What every file of vectors must be before it is used: finite numbers, and words that stand once."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from regard.hub import CheckpointError
from regard.words.vectors import Vectors

ROWS = 1 << 16  # looked at together
SHOWN = 3  # words in one sentence


def settle(path: Path, raw: bytes, matrix: Float32[np.ndarray, "n d"]) -> Vectors:
    """Vectors as they came from a file, with their words as bytes, a line feed between.

    NaN is refused; of a word that stands twice the first is kept, and said; so it is where bytes are no UTF-8.
    """
    if not matrix.size:
        raise CheckpointError(f"{path} holds no vectors; give a file with a word and its numbers in each line")
    words, notes = _decode(path, raw)
    if len(words) != len(matrix):
        raise CheckpointError(
            f"{path} has {len(words):,} words and {len(matrix):,} vectors, so that it is damaged; fetch it again"
        )
    check_finite(path, words, matrix)
    if len(set(words)) < len(words):
        places: dict[str, int] = {}
        for i, word in enumerate(words):
            places.setdefault(word, i)
        twice = list(dict.fromkeys(word for i, word in enumerate(words) if places[word] != i))
        notes.append(f"{path} has {_named(twice)} more than once, and the first is kept")
        words, matrix = list(places), matrix[list(places.values())]
    return Vectors(words, matrix, name_of(path), tuple(notes))


def check_finite(path: Path, words: Sequence[str], matrix: Float32[np.ndarray, "n d"]) -> None:
    """Refuse NaN and infinity, and name the first word that has one."""
    for start in range(0, len(matrix), ROWS):
        sound = np.isfinite(matrix[start : start + ROWS])
        if not sound.all():
            row = start + int(np.argmin(sound.all(axis=1)))
            raise CheckpointError(
                f"{path} has a number that is NaN or infinite in the vector of {words[row][:100]!r}, word {row + 1}; "
                f"train or fetch it again"
            )


def name_of(path: Path) -> str:
    """What vectors are called by their file."""
    return Path(path.name.removesuffix(".gz")).stem


def _decode(path: Path, raw: bytes) -> tuple[list[str], list[str]]:
    try:
        return raw.decode().split("\n"), []
    except UnicodeDecodeError:
        words = raw.decode(errors="replace").split("\n")
    broken = [word for word, whole in zip(words, raw.split(b"\n"), strict=True) if word.encode() != whole]
    return words, [f"{path} has {_named(broken)} with bytes that are not UTF-8, each replaced by \ufffd"]


def _named(words: Sequence[str]) -> str:
    shown = ", ".join(repr(word[:100]) for word in words[:SHOWN])
    return f"{shown} and {len(words) - SHOWN:,} more words" if len(words) > SHOWN else shown
