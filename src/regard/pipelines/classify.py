"""Classify: a text or two in, the label they deserve out, with the probability of each."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from jaxtyping import Float, Int
from torch import Tensor

from regard.analysis.confusion import Confusion
from regard.analysis.reading import Map, Reading, read_layer
from regard.analysis.scores import Score, accuracy, f1, matthews
from regard.attention import Packed
from regard.data import labelled
from regard.decode.batching import pad_rows
from regard.hub import Checkpoint
from regard.models.gpt_tasks import NEW
from regard.pipelines.encoder import Encoder, Given
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation, TooLongError
from regard.progress import Progress
from regard.text.template import Window
from regard.text.words import Words


@dataclass(frozen=True, slots=True)
class Classification:
    """The likeliest label of a text, and the probability of every label."""

    label: str
    scores: dict[str, float]


class Classify(Encoder):
    """A classifier of texts, or of pairs of them; the labels are those of its card."""

    task, takes, gives = "classify", "text", "label"
    needs = ("classify",)

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        classes = getattr(checkpoint.model.config, "classes", None)
        self.labels = tuple(map(str, checkpoint.card.get("labels") or ()))
        if len(self.labels) != classes:
            raise ValueError(
                f"the card of {checkpoint.name} names {len(self.labels)} labels, and the model has {classes}"
            )
        if classes == 1:
            raise ValueError(f"{checkpoint.name} has one class, {self.labels[0]!r}, so that there is nothing to choose")
        super().__init__(checkpoint, limit=limit)
        self.encoder = hasattr(self.model.config, "head")  # and no network that does nothing else

    @answer_familiar
    def __call__(self, inputs: Sequence[Given], *, progress: Progress | None = None) -> list[Classification]:
        """The label of each text, or of each pair of texts."""
        given = [inputs] if isinstance(inputs, str) else list(inputs)
        return self.ask(self.rows(given), self._take, progress=progress)

    @answer_familiar
    def evaluate(
        self,
        data: str,
        *,
        split: str = "test",
        limit: int = 0,
        text: str = "",
        label: str = "",
        progress: Progress | None = None,
    ) -> Evaluation:
        """Accuracy, F1 and Matthews' correlation with intervals, on a named set or on a table of texts and labels.

        `text` and `label` name columns of the table, the first one or several with commas; usual names are found.
        """
        split = split or "test"
        rows = labelled(data, split, text=text, label=label)[: limit or None]
        strange = sorted({label for _, label in rows} - set(self.labels))
        if strange or not rows:
            why = f"the label {strange[0]!r} of {data} is none of {', '.join(self.labels)}" if strange else "no rows"
            raise ValueError(f"{self.name} cannot be evaluated on {data}, {split}: {why}; choose other data")
        began = time.perf_counter()
        # What is too long is cut, as it was in training.
        answers = self.ask(self.rows([texts for texts, _ in rows], cut=True), self._take, progress=progress)
        seconds = time.perf_counter() - began
        found, right = [each.label for each in answers], [label for _, label in rows]
        confusion = Confusion.of(found, right, self.labels)
        named = _report(found, right, confusion)
        return Evaluation(self.name, data, split, len(rows), seconds, named, {}, found, confusion)

    @answer_familiar
    def attend(self, given: Given, *, edits: Edits | None = None) -> Reading:
        """Which words each word looks at."""
        (row,) = self.rows([given])
        shown = f"“{given}”" if isinstance(given, str) else " / ".join(f"“{text}”" for text in given)
        output, axes, maps, trace = self.watch(row, lambda ids, segments: self._take(ids, segments, None)[0], edits)
        if not self.encoder:
            # A network that looks over its own past sees one word less than it reads.
            axes = {**axes, "past": self.tokenizer.words(row.ids[:-1])}
            maps = tuple(
                _look_back(each, "past" if trace.weights(each.name).shape[-1] < len(row.ids) else "words")
                for each in maps
            )
        return Reading(
            self.name, axes, maps, trace, output, f"{shown}: {output.label} {output.scores[output.label]:.0%}"
        )

    def rows(self, given: Sequence[Given], *, cut: bool = False) -> list[Window]:
        """The ids of each text or pair; those of a network without a first token have a stop at their end alone."""
        if self.encoder and not hasattr(self.model, "lay_out"):
            return super().rows(given, cut=cut)
        self.check_tokenizer()
        if self.encoder:
            return self._laid_out(given, cut)
        texts = [each if isinstance(each, str) else _only(self.name, each) for each in given]
        found = self.tokenizer.encode(texts, stop=True, limit=self.limit if cut else None)
        for index, ids in enumerate(found):
            if len(ids) > self.limit:
                raise TooLongError(index, len(ids), self.limit)
        return [Window(ids, [0] * len(ids), [None] * len(ids)) for ids in found]

    def words(self, ids: Sequence[int]) -> Words:
        """The words of a row; a GPT has tokens for its tasks that its tokenizer does not know."""
        first = self.model.config.new[0] if hasattr(self.model, "lay_out") else self.tokenizer.vocab
        return Words.joined(
            Words.whole([NEW[i - first] for i in run]) if new else super(Classify, self).words(list(run))
            for new, run in groupby(ids, key=lambda i: i >= first)
        )

    def _laid_out(self, given: Sequence[Given], cut: bool) -> list[Window]:
        """Rows as a GPT reads them for its task."""
        found = []
        for index, each in enumerate(given):
            texts = self.tokenizer.encode([each] if isinstance(each, str) else list(each), start=False, stop=False)
            # The longest sequence has one more token than its texts for each of them, and one besides.
            longest = len(texts[0]) + max(map(len, texts[1:]), default=-1) + 3
            if longest > self.limit and not cut:
                raise TooLongError(index, longest, self.limit)
            ids = self.model.lay_out(texts, self.limit)
            found.append(Window(ids, [0] * len(ids), [None] * len(ids)))
        return found

    def _take(
        self, ids: Int[Tensor, "1 n"], segments: Int[Tensor, "1 n"], texts: Packed | None
    ) -> list[Classification]:
        if self.encoder:
            logits = self.run(ids, segments, texts).logits
        elif texts is None:
            logits = self.model(ids)
        else:
            rows = [part.tolist() for part in ids[0].split(list(texts.lengths))]
            padded, lengths = pad_rows(rows, self.tokenizer.pad, self.device)
            logits = self.model(padded, lengths=lengths)
        return [self._name(chances) for chances in logits.float().softmax(-1)]

    def _name(self, chances: Float[Tensor, " c"]) -> Classification:
        named = dict(zip(self.labels, chances.tolist(), strict=True))
        return Classification(max(named, key=lambda label: named[label]), named)


def _report(found: Sequence[str], right: Sequence[str], confusion: Confusion) -> dict[str, Score]:
    """Everything that is said of a classifier: of all labels together, then of each."""
    named = {"accuracy": accuracy([a == b for a, b in zip(found, right, strict=True)])}
    real = [label for label in confusion.labels if label in set(right)]
    for label in real:
        named[f"accuracy/{label}"] = accuracy([a == b for a, b in zip(found, right, strict=True) if b == label])
    named["f1"] = f1(found, right)
    for label in real:
        named[f"f1/{label}"] = f1(found, right, label=label)
    named["matthews"] = matthews(found, right)
    return named


def _look_back(one: Map, columns: str) -> Map:
    return Map(one.name, "causal", read_layer(one.name), one.heads, "words", columns, "words look at words before")


def _only(name: str, texts: Iterable[str]) -> str:
    found = list(texts)
    if len(found) != 1:
        raise ValueError(f"{name} reads one text at a time, and these are {len(found)}; give them one by one")
    return found[0]


PIPELINE = Classify
