"""What every task offers: call it, evaluate it, and look inside while it runs.

A pipeline is one file of this folder that ends with `PIPELINE = …`; the card of a model names its task. So a new task
is one file, and the command line, the explorer and the recipes find it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import torch
from torch import nn

from regard.analysis.confusion import Confusion
from regard.analysis.reading import Reading
from regard.analysis.scores import Score
from regard.attention import Edit
from regard.hub import Checkpoint
from regard.pipelines.familiar import explain_method
from regard.progress import Progress

Edits = Mapping[str, Edit]  # of each attention, by its name
P = TypeVar("P", bound="Pipeline")


class TooLongError(ValueError):
    """An input has more tokens than the model reads."""

    def __init__(self, index: int, tokens: int, limit: int) -> None:
        self.reason = f"has {tokens} tokens, and at most {limit} are read; give it sentence by sentence"
        super().__init__(f"text {index} {self.reason}")
        self.index, self.tokens, self.limit = index, tokens, limit


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of a model on data, by name; the part of a score follows a slash, as in `bleu/6 to 10 words`."""

    model: str
    data: str
    split: str
    count: int
    seconds: float
    scores: Mapping[str, Score]
    settings: Mapping[str, Any] = field(default_factory=dict)  # how it was measured
    outputs: Sequence[str] = ()  # what the model gave, one line for each item
    confusion: Confusion | None = None  # of a classifier

    def measured(self) -> dict[str, float]:
        """The scores of everything, as a card holds them."""
        return {
            name: round(score.value, 3 if abs(score.value) < 10 else 2)  # losses and bits differ in the third digit
            for name, score in self.scores.items()
            if "/" not in name
        }


class Pipeline(ABC):
    """A model with all it takes to give it an input and read its output."""

    task: ClassVar[str]
    takes: ClassVar[str]  # for cards and help: what goes in, in a word or two
    gives: ClassVar[str]

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        """Inputs of more than `limit` tokens are refused."""
        self.checkpoint, self.limit = checkpoint, limit
        self.model: Any = checkpoint.model
        self.tokenizer: Any = checkpoint.tokenizer  # None where the task has no text
        self.card, self.name = checkpoint.card, checkpoint.name

    @classmethod
    def of(
        cls: type[P],
        model: nn.Module,
        tokenizer: Any = None,
        *,
        card: Mapping[str, Any] | None = None,
        name: str = "model",
        limit: int | None = None,
    ) -> P:
        """The pipeline of a model that is here already, such as one in training."""
        bounds = {} if limit is None else {"limit": limit}
        return cls(Checkpoint(model, None, tokenizer, dict(card or {}), Path(), name), **bounds)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        device: torch.device = next(self.model.parameters()).device
        return device

    def to(self: P, device: str | torch.device) -> P:
        """Move the model to a device, as `nn.Module.to` does."""
        self.model.to(device)
        return self

    @abstractmethod
    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """The output for each input."""

    @abstractmethod
    def evaluate(self, data: str, *, split: str = "", limit: int = 0, progress: Progress | None = None) -> Evaluation:
        """Scores on a named data set, or on files of your own."""

    @abstractmethod
    def attend(self, given: Any, *, edits: Edits | None = None) -> Reading:
        """Run once, watched: everything that a page or a figure draws. `edits` change attentions meanwhile."""

    if not TYPE_CHECKING:  # for which whatever is asked for would be there

        def __getattr__(self, name: str) -> Any:
            """Only what is not there comes here."""
            way = explain_method(name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{f'; {way}' if way else ''}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}: {self.takes} to {self.gives})"
