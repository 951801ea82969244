"""Count: a toy task from outside of the package: a text in, a number out."""

from collections.abc import Sequence
from typing import Any

import torch

from regard.analysis.reading import Map, Reading
from regard.analysis.scores import accuracy
from regard.attention import record
from regard.pipelines import Evaluation, Pipeline
from regard.text import Words


class Count(Pipeline):
    """How many words a text has, or what the model believes."""

    task, takes, gives = "count", "text", "number"

    def __call__(self, inputs: Sequence[str]) -> list[float]:
        texts = [inputs] if isinstance(inputs, str) else inputs
        with torch.no_grad():
            return [round(float(self.model(torch.tensor([list(text.encode())]))), 4) for text in texts]

    def evaluate(self, data: str, *, split: str = "", limit: int = 0, progress: Any = None) -> Evaluation:
        texts = [data] * (limit or 3)
        hits = [round(found) == len(text.split()) for found, text in zip(self(texts), texts, strict=True)]
        return Evaluation(self.name, data, split, len(texts), 0.1, {"accuracy": accuracy(hits)})

    def attend(self, given: str, *, edits: Any = None) -> Reading:
        with torch.no_grad(), record(self.model, edits=edits) as trace:
            found = float(self.model(torch.tensor([list(given.encode())])))
        axes = {"bytes": Words.whole(list(given))}
        return Reading(self.name, axes, (Map("attn", "self", 0, 2, "bytes", "bytes"),), trace, found, given)


PIPELINE = Count
