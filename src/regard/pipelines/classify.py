"""Classify: a text in, the label it deserves out, with the probability of each."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.analysis.reading import Map, Reading, read_layer
from regard.analysis.scores import accuracy
from regard.attention import record
from regard.data import labelled
from regard.decode.batching import by_length, pad_rows
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation, Pipeline, TooLongError
from regard.progress import Progress


@dataclass(frozen=True, slots=True)
class Classification:
    """The likeliest label of a text, and the probability of every label."""

    label: str
    scores: dict[str, float]


class Classify(Pipeline):
    """A classifier of texts; the labels are those of its card."""

    task, takes, gives = "classify", "text", "label"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        self.labels = tuple(map(str, self.card.get("labels") or ()))
        classes = getattr(self.model.config, "classes", None)
        if self.tokenizer is None:
            raise ValueError(f"{self.name} has no tokenizer to read a text with; give one by tokenizer=")
        if len(self.labels) != classes:
            raise ValueError(f"the card of {self.name} names {len(self.labels)} labels, and the model has {classes}")

    @answer_familiar
    def __call__(
        self, inputs: Sequence[str], *, batch: int = 64, progress: Progress | None = None
    ) -> list[Classification]:
        """The label of each text."""
        return self._classify(self._encode([inputs] if isinstance(inputs, str) else list(inputs)), batch, progress)

    def _classify(self, ids: Sequence[Sequence[int]], batch: int, progress: Progress | None) -> list[Classification]:
        found: dict[int, Classification] = {}
        with evaluating(self.model), torch.no_grad():
            for group in by_length([len(row) for row in ids], rows=batch):
                padded, lengths = pad_rows([ids[i] for i in group], self.tokenizer.pad, self.device)
                for i, chances in zip(group, self.model(padded, lengths=lengths).float().softmax(-1), strict=True):
                    named = dict(zip(self.labels, chances.tolist(), strict=True))
                    found[i] = Classification(max(named, key=lambda label: named[label]), named)
                if progress is not None:
                    progress(len(found) / len(ids))
        return [found[i] for i in range(len(ids))]

    @answer_familiar
    def evaluate(
        self, data: str, *, split: str = "test", limit: int = 0, progress: Progress | None = None
    ) -> Evaluation:
        """Accuracy with an interval, on a named set or on a table of texts and labels."""
        split = split or "test"
        rows = labelled(data, split)[: limit or None]
        strange = sorted({label for _, label in rows} - set(self.labels))
        if strange or not rows:
            why = f"the label {strange[0]!r} of {data} is none of {', '.join(self.labels)}" if strange else "no rows"
            raise ValueError(f"{self.name} cannot be evaluated on {data}, {split}: {why}; choose other data")
        began = time.perf_counter()
        # What is too long is cut, as it was in training.
        ids = self.tokenizer.encode([text for text, _ in rows], stop=True, limit=self.limit)
        found = self._classify(ids, 64, progress)
        hits = [each.label == label for each, (_, label) in zip(found, rows, strict=True)]
        seconds = time.perf_counter() - began
        named = {"accuracy": accuracy(hits)}
        for label in self.labels:
            own = [hit for hit, (_, right) in zip(hits, rows, strict=True) if right == label]
            named |= {f"accuracy/{label}": accuracy(own)} if own else {}
        return Evaluation(self.name, data, split, len(rows), seconds, named, {}, [each.label for each in found])

    @answer_familiar
    @torch.no_grad()
    def attend(self, given: str, *, edits: Edits | None = None) -> Reading:
        """Which words each word looks at."""
        (ids,) = self._encode([given])
        with evaluating(self.model), record(self.model, edits=edits) as trace:
            chances = self.model(torch.tensor([ids], device=self.device)).float().softmax(-1)[0]
        named = dict(zip(self.labels, chances.tolist(), strict=True))
        label = max(named, key=lambda label: named[label])
        # A network that looks over its own past sees one word less than it reads.
        axes = {"words": self.tokenizer.words(ids), "past": self.tokenizer.words(ids[:-1])}
        maps = tuple(
            Map(
                name,
                "causal",
                read_layer(name),
                trace[name][0].q.shape[1],
                "words",
                "past" if trace.weights(name).shape[-1] < len(ids) else "words",
                "words look at words before",
            )
            for name in trace
        )
        output = Classification(label, named)
        return Reading(self.name, axes, maps, trace, output, f"“{given}”: {label} {named[label]:.0%}")

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        ids: list[list[int]] = self.tokenizer.encode(texts, stop=True)
        for index, row in enumerate(ids):
            if len(row) > self.limit:
                raise TooLongError(index, len(row), self.limit)
        return ids


PIPELINE = Classify
