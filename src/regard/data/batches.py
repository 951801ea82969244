"""Batches: an order of rows that resumes, and a collation that makes a batch of some of them."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from regard.chance import Chance
from regard.data.order import Order, Rows

T_co = TypeVar("T_co", covariant=True)
Collate = Callable[[Rows, Chance | None], T_co]  # the chance is that of the batch's place; none in a measurement


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
        return (self.collate(rows, None) for rows in self.order.once())
