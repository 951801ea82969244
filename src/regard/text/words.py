"""A text in pieces, and the words they make."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """The pieces of a text; word w says `labels[w]` and goes from the first to the last piece of `spans[w]`."""

    pieces: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.spans) != len(self.labels):
            raise ValueError(f"{len(self.spans)} spans do not go with {len(self.labels)} labels; give one for each")
        after = 0
        for first, last in self.spans:
            if first != after or last < first:
                raise ValueError(f"the span {first}–{last} does not go on at piece {after}; each piece is in one word")
            after = last + 1
        if after != len(self.pieces):
            raise ValueError(f"spans over {after} pieces do not fit {len(self.pieces)}; each piece is in one word")

    @staticmethod
    def whole(labels: Sequence[str]) -> "Words":
        """Words of one piece each."""
        return Words(tuple(labels), tuple((place, place) for place in range(len(labels))), tuple(labels))

    @staticmethod
    def joined(parts: "Iterable[Words]") -> "Words":
        """The words of some texts one behind another."""
        pieces, spans, labels = list[str](), list[tuple[int, int]](), list[str]()
        for each in parts:
            spans += [(first + len(pieces), last + len(pieces)) for first, last in each.spans]
            pieces += each.pieces
            labels += each.labels
        return Words(tuple(pieces), tuple(spans), tuple(labels))

    def __len__(self) -> int:
        return len(self.pieces)
