"""Batches: an order of rows that resumes, and a collation that makes a batch of some of them."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from regard.chance import Chance
from regard.data.order import Order, Rows

<<<<<<< HEAD
import numpy as np
from jaxtyping import Int64, Shaped

from regard.chance import Chance, bits
from regard.data.tokens import Tokens

Rows = Sequence[Sequence[int]] | Sequence[Shaped[np.ndarray, " n"]]
Vary = Callable[[Rows, Chance], Rows]
=======
T_co = TypeVar("T_co", covariant=True)
Collate = Callable[[Rows, Chance | None], T_co]  # the chance is that of the batch's place; none in a measurement
>>>>>>> train


class Batches(Iterator[T_co], Generic[T_co]):
    """Batches without end, of whatever a collation makes: padded tokens, pictures, sounds or points.

    A collation may vary its rows by the chance it is given, which belongs to the batch's place: a run that was stopped
    meets the same ones.
    """

    def __init__(self, order: Order, collate: Collate[T_co]) -> None:
        self.order, self.collate = order, collate

    def __len__(self) -> int:
        """How many batches an epoch has, for all processes together."""
        return len(self.order)

    @property
    def rank(self) -> int:
        return self.order.rank

    @rank.setter
    def rank(self, rank: int) -> None:
        self.order.rank = rank

    @property
    def ranks(self) -> int:
        return self.order.ranks

    @ranks.setter
    def ranks(self, ranks: int) -> None:
        self.order.ranks = ranks

    @property
    def epoch(self) -> int:
        return self.order.epoch

    @property
    def state(self) -> dict[str, int]:
        return self.order.state

    def restore(self, state: dict[str, int]) -> None:
        self.order.restore(state)

    def __next__(self) -> T_co:
        rows, number = next(self.order)
        return self.collate(rows, Chance(self.order.seed, "vary", number))

    def once(self) -> Iterator[T_co]:
        """One pass for a measurement: every row once as it is, short ones first; the position does not move."""
<<<<<<< HEAD
        order = np.argsort(self._longest, kind="stable")
        for start, end in list(zip(self._edges, self._edges[1:], strict=False))[self.rank :: self.ranks]:
            yield self._batch(order[start:end])

    def _planned(self, epoch: int) -> list[Int64[np.ndarray, " b"]]:
        """The rows of each batch of an epoch. Rows of one length change places, and the batches their order."""
        if self._plan is None or self._plan[0] != epoch:
            dice = bits(Chance(self.seed, "batches", epoch), len(self._longest) + len(self))
            order = np.lexsort((dice[: len(self._longest)], self._longest))
            groups = np.split(order, self._edges[1:-1])
            self._plan = epoch, [groups[i] for i in np.argsort(dice[len(self._longest) :], kind="stable")]
        return self._plan[1]

    def _batch(self, rows: Int64[np.ndarray, " b"], chance: Chance | None = None) -> Batch:
        sides: list[Rows] = [[side[row] for row in rows.tolist()] for side in self.sides]
        if self.vary is not None and chance is not None:
            sides = [self.vary(side, chance) for side in sides]
        padded, lengths = zip(*map(_pad, sides), strict=True)
        return Batch(rows, padded, lengths)


def _lengths(side: Rows) -> Int64[np.ndarray, " n"]:
    return side.lengths if isinstance(side, Tokens) else np.asarray([len(row) for row in side], np.int64)


def _cut(lengths: Int64[np.ndarray, " n"], tokens: int) -> list[int]:
    """Where batches begin in sorted lengths, and the end: as many rows as fit when all are as long as the last."""
    edges = [0]
    for row, length in enumerate(lengths.tolist()):
        if (row + 1 - edges[-1]) * length > tokens:
            edges.append(row)
    return [*edges, len(lengths)]


def _pad(rows: Sequence[Any], pad: int = 0) -> tuple[Int64[np.ndarray, "b n"], Int64[np.ndarray, " b"]]:
    lengths = np.asarray([len(row) for row in rows], np.int64)
    padded = np.full((len(rows), int(lengths.max())), pad, np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded, lengths
=======
        return (self.collate(rows, None) for rows in self.order.once())
>>>>>>> train
