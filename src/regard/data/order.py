"""An order of rows that a few integers describe, in batches of rows of similar length.

The order is one for all processes and depends on the seed alone; each process takes its share of it. So a run stops
anywhere and continues exactly, with as many processes as there are then.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64

from regard.chance import Chance, bits

Rows = Int64[np.ndarray, " b"]


class Place(NamedTuple):
    """The rows of a batch, and its number among all there ever are."""

    rows: Rows
    number: int


class Order(Iterator[Place]):
    """Batches of row numbers without end: each epoch has every row once, and the same number of batches.

    `lengths` are those of the rows, and no batch has more than `room` places when all its rows are as long as the
    longest; rows of equal length, such as pictures, have length 1, and `room` is how many make a batch. Process `rank`
    of `ranks` takes every `ranks`-th batch. `data` is a checksum of the rows, so that others are not taken for them;
    where that is one of names alone, `contents` is one of what the names stand for.
    """

    def __init__(
        self,
        lengths: Sequence[int] | Int64[np.ndarray, " n"],
        *,
        room: int,
        seed: int = 0,
        data: int = 0,
        contents: int | None = None,
    ) -> None:
        self._lengths = np.maximum(np.asarray(lengths, np.int64), 1)
        if not len(self._lengths):
            raise ValueError("no rows make no batches; give 1 or more")
        if (most := int(self._lengths.max())) > room:
            raise ValueError(
                f"row {int(self._lengths.argmax())} has {most} tokens, and a batch has room for {room}; "
                "give a larger batch, or encode with a limit"
            )
        self.room, self.seed, self.rank, self.ranks = room, seed, 0, 1
        self._edges = _cut(np.sort(self._lengths), room)
        self._data, self._contents = data, contents
        self._taken = 0  # by all processes together
        self._plan: tuple[int, list[Rows]] | None = None

    def __len__(self) -> int:
        """How many batches an epoch has, for all processes together."""
        return len(self._edges) - 1

    @property
    def epoch(self) -> int:
        """How many times the data have been seen whole."""
        return self._taken // len(self)

    @property
    def state(self) -> dict[str, int]:
        """Where we are: batches taken by all processes, and what they were taken from."""
        state = {"taken": self._taken, "seed": self.seed, "room": self.room, "data": self._data}
        return state if self._contents is None else {**state, "contents": self._contents}

    def restore(self, state: dict[str, int]) -> None:
        """Continue behind the last batch of a state, whatever number of processes took it."""
        for name, ours in self.state.items():
            if name == "contents" and name not in state:
                continue  # of a run that is older than this checksum
            if name not in state:
                raise ValueError(f"this state has no {name!r}; give one that `state` returned")
            if name != "taken" and state[name] != ours:
                raise ValueError(
                    f"this state was taken with {name} {state[name]}, and here it is {ours}; "
                    "continue with the same data, batch size and seed, or start anew"
                )
        if state["taken"] < 0:
            raise ValueError(f"{state['taken']} batches cannot have been taken; give a state that `state` returned")
        self._taken = state["taken"]

    def __next__(self) -> Place:
        """The next batch of this process. All processes step together, also across the end of an epoch."""
        if not 0 <= self.rank < self.ranks:
            raise ValueError(
                f"rank {self.rank} is not among {self.ranks}; ranks are numbered from 0 to {self.ranks - 1}"
            )
        number = self._taken + self.rank
        epoch, place = divmod(number, len(self))
        self._taken += self.ranks
        return Place(self._plan_epoch(epoch)[place], number)

    def once(self) -> Iterator[Rows]:
        """One pass for a measurement: every row once, short ones first; the position does not move."""
        order = np.argsort(self._lengths, kind="stable")
        for start, end in list(zip(self._edges, self._edges[1:], strict=False))[self.rank :: self.ranks]:
            yield order[start:end]

    def _plan_epoch(self, epoch: int) -> list[Rows]:
        """The rows of each batch of an epoch. Rows of one length change places, and the batches their order."""
        if self._plan is None or self._plan[0] != epoch:
            dice = bits(Chance(self.seed, "batches", epoch), len(self._lengths) + len(self))
            order = np.lexsort((dice[: len(self._lengths)], self._lengths))
            groups = np.split(order, self._edges[1:-1])
            self._plan = epoch, [groups[i] for i in np.argsort(dice[len(self._lengths) :], kind="stable")]
        return self._plan[1]


def _cut(lengths: Int64[np.ndarray, " n"], room: int) -> list[int]:
    """Where batches begin in sorted lengths, and the end: as many rows as fit when all are as long as the last."""
    edges = [0]
    for row, length in enumerate(lengths.tolist()):
        if (row + 1 - edges[-1]) * length > room:
            edges.append(row)
    return [*edges, len(lengths)]
