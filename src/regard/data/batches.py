"""Batches of rows of similar length, in an order that a few integers describe.

The sequence of batches is one for all processes and depends on the seed alone; each process takes its share of it. So a
run stops anywhere and continues exactly, with as many processes as there are then.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from jaxtyping import Int64, Shaped

from regard.chance import Chance, bits
from regard.data.tokens import Tokens

Rows = Sequence[Sequence[int]] | Sequence[Shaped[np.ndarray, " n"]]
Vary = Callable[[Rows, Chance], Rows]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows put side by side: `rows` are their numbers, `sides` their ids, padded behind, `lengths` those without."""

    rows: Int64[np.ndarray, " b"]
    sides: tuple[Int64[np.ndarray, "b _"], ...]
    lengths: tuple[Int64[np.ndarray, " b"], ...]


class Batches(Iterator[Batch]):
    """Batches without end, epoch after epoch: each epoch has every row once, and the same number of batches.

    `sides` are the columns of the data, say source and target, row by row. No side of a batch has more than `tokens`
    places, padding included. Process `rank` of `ranks` takes every `ranks`-th batch. `vary` may change the rows of a
    batch each time they are met, by a chance of its own; what it adds is not counted.
    """

    def __init__(
        self, *sides: Rows, tokens: int, seed: int = 0, rank: int = 0, ranks: int = 1, vary: Vary | None = None
    ) -> None:
        if not sides or not len(sides[0]) or any(len(side) != len(sides[0]) for side in sides):
            raise ValueError(
                f"sides of {[len(side) for side in sides]} rows make no batches; give equally many, 1 or more"
            )
        if not 0 <= rank < ranks:
            raise ValueError(f"rank {rank} is not among {ranks}; ranks are numbered from 0 to {ranks - 1}")
        self.sides, self.tokens, self.seed, self.rank, self.ranks, self.vary = sides, tokens, seed, rank, ranks, vary
        lengths = np.stack([_lengths(side) for side in sides])
        self._longest = np.maximum(lengths.max(axis=0), 1)
        if (most := int(self._longest.max())) > tokens:
            raise ValueError(
                f"row {int(self._longest.argmax())} has {most} tokens, and a batch has room for {tokens}; "
                "give a larger batch, or encode with a limit"
            )
        self._edges = _cut(np.sort(self._longest), tokens)
        self._data = crc32(lengths.astype("<i8").tobytes())
        self._taken = 0  # by all processes together
        self._plan: tuple[int, list[Int64[np.ndarray, " b"]]] | None = None

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
        return {"taken": self._taken, "seed": self.seed, "tokens": self.tokens, "data": self._data}

    def restore(self, state: dict[str, int]) -> None:
        """Continue behind the last batch of a state, whatever number of processes took it."""
        for name, ours in self.state.items():
            if name not in state:
                raise ValueError(f"this state has no {name!r}; give one that `state` returned")
            if name != "taken" and state[name] != ours:
                raise ValueError(
                    f"this state was taken with {name} {state[name]}, and here it is {ours}; "
                    "continue with the same data, tokens and seed, or start anew"
                )
        if state["taken"] < 0:
            raise ValueError(f"{state['taken']} batches cannot have been taken; give a state that `state` returned")
        self._taken = state["taken"]

    def __next__(self) -> Batch:
        """The next batch of this process. All processes step together, also across the end of an epoch."""
        number = self._taken + self.rank
        epoch, place = divmod(number, len(self))
        self._taken += self.ranks
        return self._batch(self._planned(epoch)[place], Chance(self.seed, "vary", number))

    def once(self) -> Iterator[Batch]:
        """One pass for a measurement: every row once as it is, short ones first; the position does not move."""
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
