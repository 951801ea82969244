"""A view: items without end, any of them by its number."""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count as numbers
from typing import Generic, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)

VERSION = 1  # rises whenever the same seed and index give another item


@dataclass(frozen=True)
class View(Generic[T_co]):
    """Items by number: index, slice or iterate them. Without a `count` there is no last one."""

    name: str
    make: Callable[[int], T_co]
    facts: dict[str, object]
    count: int | None = None
    start: int = 0
    step: int = 1

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 0:
            raise ValueError(f"there cannot be {self.count} {self.name}; give 0 or more, or None for no end")

    def __len__(self) -> int:
        if self.count is None:
            raise TypeError(f"these {self.name} have no last one; give count=... or slice them: [:1000]")
        return self.count

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> "View[T_co]": ...
    def __getitem__(self, index: int | slice) -> "T_co | View[T_co]":
        if isinstance(index, slice):
            return self._sliced(index)
        index = operator.index(index)
        if self.count is None:
            if index < 0:
                raise IndexError(f"item {index} does not exist: these {self.name} have no last one; count from 0")
        elif not -self.count <= index < self.count:
            raise IndexError(f"item {index} is not among these {self.count} {self.name}")
        elif index < 0:
            index += self.count
        return self.make(self.start + index * self.step)

    def __iter__(self) -> Iterator[T_co]:
        places = numbers() if self.count is None else range(self.count)
        make, start, step = self.make, self.start, self.step
        for index in places:
            yield make(start + index * step)

    def part(self, worker: int, workers: int) -> "View[T_co]":
        """Every `workers`-th item from `worker` on: together the parts are the whole, and no two share an item."""
        worker, workers = operator.index(worker), operator.index(workers)
        if not 0 <= worker < workers:
            raise ValueError(f"worker {worker} is not among {workers}; workers are numbered from 0 to {workers - 1}")
        count = None if self.count is None else len(range(worker, self.count, workers))
        return replace(self, count=count, start=self.start + worker * self.step, step=self.step * workers)

    def card(self) -> dict[str, object]:
        """What these items are, in a form to be written beside a result."""
        count = "infinite" if self.count is None else self.count
        return self.facts | {"name": f"regard.world {self.name}", "version": VERSION, "count": count}

    def _sliced(self, part: slice) -> "View[T_co]":
        step = 1 if part.step is None else part.step
        if step < 1:
            raise ValueError(f"a step of {step} does not go forward; give 1 or more")
        count: int | None
        if self.count is not None:
            chosen = range(*part.indices(self.count))
            first, count = chosen.start, len(chosen)
        else:
            first = part.start or 0
            if first < 0 or (part.stop is not None and part.stop < 0):
                raise ValueError(f"{self.name} without a last one cannot be counted from the end; give count=...")
            count = None if part.stop is None else len(range(first, part.stop, step))
        return replace(self, count=count, start=self.start + first * self.step, step=self.step * step)
