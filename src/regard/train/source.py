"""Batches without end: those that know their place, and any others, which are read again from the beginning."""

from collections.abc import Iterable, Iterator, Sized
from typing import Any, Protocol, runtime_checkable

import torch

from regard.chance import Chance


@runtime_checkable
class Source(Protocol):
    """Batches without end whose place is a few integers, such as `regard.data.Batches`."""

    rank: int
    ranks: int

    @property
    def state(self) -> dict[str, int]: ...
    def restore(self, state: dict[str, int]) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __next__(self) -> Any: ...


class Repeated(Iterator[Any]):
    """A DataLoader, or anything that can be read again and again, as a `Source`.

    A process takes every `ranks`-th batch, and a run that goes on reads what was seen once more and skips it. Torch's
    random numbers are set before each batch, so a shuffling DataLoader has the same order when a run goes on.
    """

    def __init__(self, batches: Iterable[Any], seed: int = 0) -> None:
        if isinstance(batches, Iterator):
            raise TypeError(
                f"a {type(batches).__name__} can be read only once, and training reads it again in each epoch; give "
                "what it iterates over, such as a DataLoader or a list, or a regard.train.source.Source"
            )
        self.batches, self.seed, self.rank, self.ranks = batches, seed, 0, 1
        self._iterator: Iterator[Any] | None = None
        self._taken, self._read = 0, 0  # by all processes together; by this one from the beginning

    @property
    def state(self) -> dict[str, int]:
        epoch = len(self.batches) if isinstance(self.batches, Sized) else -1
        return {"taken": self._taken, "seed": self.seed, "epoch": epoch}

    def restore(self, state: dict[str, int]) -> None:
        for name, value in self.state.items():
            if name != "taken" and state.get(name) != value:
                raise ValueError(
                    f"these batches were taken with {name} {state.get(name)}, and here it is {value}; go on with the "
                    "same data, or start anew"
                )
        self._taken = state["taken"]

    def __next__(self) -> Any:
        wanted = self._taken + self.rank
        self._taken += self.ranks
        while self._read < wanted:
            self._next()
        return self._next()

    def _next(self) -> Any:
        torch.manual_seed(Chance(self.seed, "batch", self._read).bits())
        self._read += 1
        if self._iterator is not None:
            for batch in self._iterator:
                return batch
        self._iterator = iter(self.batches)
        for batch in self._iterator:
            return batch
        raise ValueError(f"a {type(self.batches).__name__} without batches teaches nothing; give it some data")


def as_source(batches: Source | Iterable[Any], seed: int) -> Source:
    """Batches as the loop takes them."""
    return batches if isinstance(batches, Source) else Repeated(batches, seed)
