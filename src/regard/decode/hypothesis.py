"""What a search needs of a model, and what it gives back.

A model that writes has `state = model.start(source)` and `logits, state = model.step(words, state)`. A search knows no
more than that: a state is a value, and `state.select(rows)` is the same for some rows of the batch, in any order.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention import Trace


@runtime_checkable
class State(Protocol):
    """Where a model stands in each row of a batch."""

    def select(self, rows: Int[Tensor, " r"]) -> Any:
        """The state of these rows, in this order; a row may come twice."""


# The next words of each row, and where they lead: logits for what follows each of them, and the state after.
Step = Callable[[Int[Tensor, "b n"], Any], tuple[Float[Tensor, "b n v"], Any]]
# How many words may be written at most, the stop among them: by every row, or by each.
Limit = int | Sequence[int]
# What a row ends with: one id, any of several, or none, so that only the limit ends it.
Stop = int | Collection[int] | None


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One written sequence, without its start and its stop."""

    words: tuple[int, ...]
    log_prob: float  # of the words, and of the stop where there is one
    score: float  # what it was ranked by
    finished: bool  # it came to its stop, and was not cut off at the limit
    rows: tuple[int, ...]  # the row of the batch in which each step was taken, the stop's too


def looks(trace: Trace, name: str, hypothesis: Hypothesis) -> Float[Tensor, "h n k"]:
    """What one attention looked at for each word of a sequence, followed through the rows that a beam moved it to.

    The trace is that of the search alone: the first look of the attention is the search's first step.
    """
    own = [trace.weights(name, look=step)[row] for step, row in enumerate(hypothesis.rows)]
    widest = max(step.shape[-1] for step in own)
    return torch.cat([F.pad(step, (0, widest - step.shape[-1])) for step in own], dim=-2)


def limits(limit: Limit, rows: int) -> list[int]:
    """The limit of each row."""
    each = [limit] * rows if isinstance(limit, int) else list(limit)
    if len(each) != rows:
        raise ValueError(f"{len(each)} limits do not go with {rows} rows; give one for all, or one for each")
    if each and min(each) < 1:
        raise ValueError(f"a limit of {min(each)} words leaves nothing to write; give 1 or more")
    return each


def stops(stop: Stop) -> frozenset[int]:
    """The ids that end a row."""
    return frozenset() if stop is None else frozenset((stop,) if isinstance(stop, int) else stop)


def check(ends: Collection[int], logits: Float[Tensor, "b n v"]) -> None:
    """Refuse a search that waits for what is never written."""
    vocab = logits.shape[-1]
    for stop in ends:
        if not 0 <= stop < vocab:
            raise ValueError(f"the stop {stop} is not among the {vocab} words of the model, 0 to {vocab - 1}")
