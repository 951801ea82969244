"""Words beside points, so that no two of them cover each other and none covers a point."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.analysis.paint import width_of

CELL = 48.0  # pixels of the squares by which neighbours are found


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Whether they share more than an edge."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def within(self, other: "Box") -> bool:
        """Whether all of it lies in the other."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


def place_labels(
    points: Sequence[tuple[float, float]], words: Sequence[str], *, font: float, radius: float, frame: Box
) -> list[Box | None]:
    """A box for the word of each point, beside it; None where there is no word or no free place. The first go first."""
    taken: dict[tuple[int, int], list[Box]] = defaultdict(list)
    for x, y in points:
        _take(taken, Box(x - radius, y - radius, x + radius, y + radius))
    found: list[Box | None] = []
    for (x, y), word in zip(points, words, strict=True):
        free = (box for box in _around(x, y, word, font, radius) if box.within(frame) and _free(taken, box))
        box = next(free, None) if word else None
        if box is not None:
            _take(taken, box)
        found.append(box)
    return found


def _around(x: float, y: float, word: str, font: float, radius: float) -> Iterator[Box]:
    """The places beside a point, the best first: right, left, above, below, and the corners."""
    wide, high, gap = width_of(word, font), 1.15 * font, radius + 1.5
    for left, top in (
        (x + gap, y - high / 2),
        (x - gap - wide, y - high / 2),
        (x - wide / 2, y - gap - high),
        (x - wide / 2, y + gap),
        (x + gap / 2, y - gap - high),
        (x + gap / 2, y + gap),
        (x - gap / 2 - wide, y - gap - high),
        (x - gap / 2 - wide, y + gap),
    ):
        yield Box(left, top, left + wide, top + high)


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for column in range(int(box.left // CELL), int(box.right // CELL) + 1):
        for row in range(int(box.top // CELL), int(box.bottom // CELL) + 1):
            yield column, row


def _take(taken: dict[tuple[int, int], list[Box]], box: Box) -> None:
    for cell in _cells(box):
        taken[cell].append(box)


def _free(taken: dict[tuple[int, int], list[Box]], box: Box) -> bool:
    return not any(box.meets(other) for cell in _cells(box) for other in taken.get(cell, ()))
