"""A text in pieces, and the words that the pieces make."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """Pieces in a row; `spans` are the first and the last piece of each word, and `labels` what the words say.

    Each piece is in exactly one word, and special tokens are words of their own.
    """

    pieces: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    labels: tuple[str, ...]

    @staticmethod
    def whole(labels: Sequence[str]) -> "Words":
        """Words of one piece each."""
        return Words(tuple(labels), tuple((place, place) for place in range(len(labels))), tuple(labels))

    def __len__(self) -> int:
        return len(self.pieces)
