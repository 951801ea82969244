"""Encoders: what filling, classifying, tagging, answering and embedding share: texts in, states of tokens out."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.analysis.reading import Map, Reading, read_layer
from regard.analysis.unrolled import Unrolled, of_layers
from regard.attention import Packed, Trace, packed, record
from regard.decode.batching import by_length
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.pipelines.pipeline import Edits, Pipeline, TooLongError
from regard.progress import Progress
from regard.text.template import Window
from regard.text.words import Words

T = TypeVar("T")
Given = str | Sequence[str]  # a text, or two that belong together
Take = Callable[[Int[Tensor, "1 n"], Int[Tensor, "1 n"], Packed], Iterable[T]]

# Tokens that are read at once. MiniLM on 1,000 sentences of STS-B, one thread, processor time: packed by 1,024 to 4,096
# tokens 4.9 to 5.1 s, which noise does not tell apart; padded by 32 rows or 2,048 tokens 5.5 to 5.7 s.
TOGETHER = 2048


class Encoder(Pipeline):
    """A model that reads whole texts, and the tokenizer it was trained with."""

    needs: ClassVar[tuple[str, ...]] = ()  # heads, one of which the model must have; any will do where none is named

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        config = self.model.config
        if self.tokenizer is not None and self.tokenizer.vocab > config.vocab:
            raise ValueError(
                f"a tokenizer of {self.tokenizer.vocab} entries is that of another model, since this one has "
                f"{config.vocab}; give the tokenizer it was trained with"
            )
        if self.needs and (head := getattr(config, "head", self.needs[0])) not in self.needs:
            raise ValueError(
                f"{self.name} has the head {head!r}, and the task {self.task!r} needs "
                f"{' or '.join(map(repr, self.needs))}; load it as another task, or train that head"
            )
        self.limit = min(limit, getattr(config, "context", limit))
        # RoBERTa tells two texts apart by what stands between them, whatever numbers a tokenizer gives them.
        several = getattr(config, "segments", 2) > 1
        self._segments = several and "segments" in inspect.signature(self.model.forward).parameters

    def rows(self, given: Sequence[Given], *, cut: bool = False) -> list[Window]:
        """The ids of each text or pair of texts; what is too long is refused, or `cut`."""
        self.check_tokenizer()
        texts = [(each,) if isinstance(each, str) else tuple(each) for each in given]
        found: list[Window] = [row for (row,) in self.tokenizer.windows(texts, limit=self.limit if cut else None)]
        for index, row in enumerate(found):
            if not row.ids:
                raise ValueError(f"text {index} is empty, which leaves nothing to read; give a word")
            if len(row.ids) > self.limit:
                raise TooLongError(index, len(row.ids), self.limit)
        return found

    def words(self, ids: Sequence[int]) -> Words:
        """The words of a row, for people to read."""
        found: Words = self.tokenizer.words(ids)
        return found

    def check_tokenizer(self) -> None:
        """Refuse text where nothing says how it is read; a model without a tokenizer loads all the same."""
        if self.tokenizer is None:
            raise ValueError(f"{self.name} has no tokenizer to read a text with; give one by tokenizer=")

    def ask(self, rows: Sequence[Window], take: Take[T], *, progress: Progress | None = None) -> list[T]:
        """What `take` makes of each row.

        Rows of similar length lie one behind another without padding, and `take` gets the ids and segments of many, and
        where each of them lies; it gives one answer for each.
        """
        found: dict[int, T] = {}
        with evaluating(self.model), torch.no_grad():
            for group in by_length([len(row.ids) for row in rows], tokens=TOGETHER):
                ids = self._laid([rows[i].ids for i in group])
                segments = self._laid([rows[i].segments for i in group])
                answers = take(ids, segments, packed([len(rows[i].ids) for i in group]))
                found |= dict(zip(group, answers, strict=True))
                if progress is not None:
                    progress(len(found) / len(rows))
        return [found[i] for i in range(len(rows))]

    def run(self, ids: Int[Tensor, "1 n"], segments: Int[Tensor, "1 n"], texts: Packed | None = None) -> Any:
        """What the model says, head and all, of texts in a row."""
        return self.model(ids, **self._arguments(segments, texts))

    def read(
        self, ids: Int[Tensor, "1 n"], segments: Int[Tensor, "1 n"], texts: Packed | None = None
    ) -> Float[Tensor, "n w"]:
        """The states of the tokens of texts in a row, below the head."""
        hidden: Tensor = self.model.read(ids, **self._arguments(segments, texts))[0]
        return hidden

    def watch(
        self, row: Window, then: Callable[[Int[Tensor, "1 n"], Int[Tensor, "1 n"]], T], edits: Edits | None
    ) -> tuple[T, Mapping[str, Any], tuple[Map, ...], Trace]:
        """What `then` makes of one row, and what was looked at meanwhile: axes, maps and trace."""
        with evaluating(self.model), torch.no_grad(), record(self.model, edits=of_layers(edits)) as seen:
            answer = then(self._laid([row.ids]), self._laid([row.segments]))
        # A shared layer looks at all words several times; a recurrent one looks once from each of them.
        shared = any(len(seen[name]) > 1 and seen[name][0].q.shape[-2] == len(row.ids) > 1 for name in seen)
        trace = Unrolled(seen) if shared else seen
        maps = tuple(self._map(name, trace[name][0].q.shape[1]) for name in trace)
        return answer, {"words": self.words(row.ids)}, maps, trace

    def reading(
        self, row: Window, edits: Edits | None, then: Callable[[Any], T], caption: Callable[[T], str]
    ) -> Reading:
        """One row read with every attention watched; `then` makes the output from what the model says."""
        output, axes, maps, trace = self.watch(row, lambda ids, segments: then(self.run(ids, segments)), edits)
        return Reading(self.name, axes, maps, trace, output, caption(output))

    def _map(self, name: str, heads: int) -> Map:
        module, _, look = name.partition("/")
        return Map(name, "self", int(look or read_layer(module)), heads, "words", "words", "words look at words")

    def _arguments(self, segments: Tensor, texts: Packed | None) -> dict[str, Any]:
        found: dict[str, Any] = {"segments": segments} if self._segments else {}
        return found if texts is None else found | {"visible": texts}

    def _laid(self, rows: Sequence[Sequence[int]]) -> Int[Tensor, "1 n"]:
        return torch.tensor([list(chain.from_iterable(rows))], device=self.device)
