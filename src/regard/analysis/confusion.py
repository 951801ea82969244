"""Which class was taken for which: the matrix, and what is measured by it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often a class (row) was taken for each class (column)."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(found: Sequence[str], right: Sequence[str], labels: Sequence[str] = ()) -> "Confusion":
        """Count answers; without `labels` they are all that occur."""
        if not right or len(found) != len(right):
            raise ValueError(
                f"{len(found)} answers and {len(right)} labels cannot be compared; give equally many, 1 or more"
            )
        names = tuple(labels) or tuple(sorted({*found, *right}))
        place = {name: i for i, name in enumerate(names)}
        cells = [place[a] * len(names) + place[b] for a, b in zip(right, found, strict=True)]
        counted = np.bincount(cells, minlength=len(names) ** 2).reshape(len(names), len(names))
        return Confusion(names, tuple(map(tuple, counted.tolist())))

    @property
    def count(self) -> int:
        return sum(map(sum, self.counts))

    def precision(self, label: str) -> float:
        """The share of those taken for a label that have it; 0 where none was."""
        i = self.labels.index(label)
        return _share(self.counts[i][i], sum(row[i] for row in self.counts))

    def recall(self, label: str) -> float:
        """The share of those with a label that were taken for it."""
        i = self.labels.index(label)
        return _share(self.counts[i][i], sum(self.counts[i]))

    def f1(self, label: str | None = None) -> float:
        """The harmonic mean of precision and recall of a label, or its mean over all labels that the truth has."""
        if label is None:
            real = [name for name, row in zip(self.labels, self.counts, strict=True) if any(row)]
            return math.fsum(self.f1(name) for name in real) / len(real)
        i = self.labels.index(label)
        return _share(2 * self.counts[i][i], sum(self.counts[i]) + sum(row[i] for row in self.counts))

    def matthews(self) -> float:
        """The correlation of answers and truth (Gorodkin 2004); 0 where one of them never changes."""
        counts = np.asarray(self.counts, float)
        right, said, total = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
        spread = (total**2 - (right**2).sum()) * (total**2 - (said**2).sum())
        return float((np.trace(counts) * total - right @ said) / math.sqrt(spread)) if spread else 0.0

    def resampled(self, times: int, seed: int) -> Iterator["Confusion"]:
        """The matrices of as many items drawn anew, with return."""
        flat, size = np.asarray(self.counts).ravel(), len(self.labels)
        for again in np.random.default_rng(seed).multinomial(flat.sum(), flat / flat.sum(), size=times):
            yield Confusion(self.labels, tuple(map(tuple, again.reshape(size, size).tolist())))

    def mistakes(self, most: int = 12) -> list[str]:
        """The most frequent mistakes as lines of text, for more classes than a table can show."""
        away = [
            (count, name, self.labels[column])
            for row, name in enumerate(self.labels)
            for column, count in enumerate(self.counts[row])
            if count and row != column
        ]
        often = sorted(away, key=lambda mistake: -mistake[0])[:most]
        return [f"{count:>6}  {right} taken for {found}" for count, right, found in often]

    def table(self) -> list[str]:
        """The matrix as lines of text."""
        names = [name if len(name) <= 16 else f"{name[:15]}…" for name in self.labels]
        first = max(len(name) for name in (*names, "label"))
        widths = [max(len(name), *(len(str(row[i])) for row in self.counts)) for i, name in enumerate(names)]
        head = "  ".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True))
        rows = [
            f"{name:<{first}}  " + "  ".join(f"{count:>{width}}" for count, width in zip(row, widths, strict=True))
            for name, row in zip(names, self.counts, strict=True)
        ]
        return [f"{'label':<{first}}  {head}", *rows]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
