"""What a recipe hands to the loop: a model, its batches, and what is good."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn


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


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Everything that differs between one training and another."""

    model: nn.Module
    batches: Source
    size: Callable[[Any], int]  # how many things of a batch are predicted, say words
    loss: Callable[[nn.Module, Any], Tensor]  # summed over these things
    score: Callable[[nn.Module], Mapping[str, float]]  # on held-out data; the first entry decides which model is best
    save: Callable[[Path, nn.Module, Mapping[str, Any]], None]  # model and card, into a folder
    lower_is_better: bool = True  # of the first score
    unit: str = "words"
    show: Callable[[nn.Module], list[dict[str, str]]] | None = None  # what the model makes of some held-out things
