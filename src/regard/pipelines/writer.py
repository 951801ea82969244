"""Texts while they are written: rows side by side, each with its characters, its wishes and its own end."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decode.batching import by_length
from regard.decode.beam import beam
from regard.decode.forcing import evaluating
from regard.decode.generate import stream
from regard.decode.hypothesis import Hypothesis
from regard.decode.penalty import repetition_penalty
from regard.decode.prompt import begin
from regard.decode.spell import Speller
from regard.decode.wishes import Wishes
from regard.pipelines.prompts import Prompts
from regard.progress import Progress


@dataclass(frozen=True, slots=True)
class Generated:
    """How a prompt goes on."""

    text: str
    ids: tuple[int, ...]  # all that was written but its stop; a stop string is among them, and not in the text
    log_prob: float  # of the ids, and of the stop where there is one, before any temperature or penalty
    finished: bool  # by a stop, and not cut off at the limit
    prompt: tuple[int, ...]  # what was read
    alternatives: tuple["Generated", ...] = ()


class Writer:
    """A decoder that goes on with prompts; of its words, only the first `vocab` can be said."""

    def __init__(self, model: Any, prompts: Prompts, *, vocab: int, context: int) -> None:
        self.model, self.prompts, self.vocab, self.context = model, prompts, vocab, context

    def write(
        self, prompts: Sequence[Sequence[int]], wishes: Wishes, *, batch: int = 16, progress: Progress | None = None
    ) -> list[Generated]:
        """How each prompt goes on, with what else was wished for as its alternatives."""
        if batch < 1:
            raise ValueError(f"batches of {batch} texts hold nothing; give 1 or more")
        found: dict[int, Generated] = {}
        with evaluating(self.model):
            for group in by_length([len(prompt) for prompt in prompts], rows=max(1, batch // wishes.count)):
                some = [prompts[i] for i in group]
                written = self._search(some, wishes) if wishes.beam > 1 else self._draw(some, wishes)
                for i, (first, *others) in zip(group, written, strict=True):
                    found[i] = replace(first, alternatives=tuple(others))
                if progress is not None:
                    progress(len(found) / len(prompts))
        return [found[i] for i in range(len(prompts))]

    def stream(self, prompt: Sequence[int], wishes: Wishes) -> Iterator[str]:
        """How one prompt goes on, piece by piece."""
        with evaluating(self.model):
            for (piece,) in self._go([self._row(prompt, wishes)], wishes):
                if piece:
                    yield piece

    def step(self, words: Int[Tensor, "b n"], state: Any) -> tuple[Float[Tensor, "b n v"], Any]:
        """A step of the model, of which only words are wanted that can be said."""
        logits, state = self.model.step(words, state)
        return logits[..., : self.vocab], state

    def _draw(self, prompts: Sequence[Sequence[int]], wishes: Wishes) -> list[list[Generated]]:
        rows = [self._row(prompt, wishes) for prompt in prompts for _ in range(wishes.count)]
        for _ in self._go(rows, wishes):
            pass
        written = [row.written() for row in rows]
        return [written[i : i + wishes.count] for i in range(0, len(written), wishes.count)]

    def _go(self, rows: Sequence["_Row"], wishes: Wishes) -> Iterator[list[str]]:
        """Write all rows, and give what each of those that still go on shows, step by step."""
        prompts = [row.prompt for row in rows]
        state, first = begin(self.model, prompts[:: wishes.count], pad=self.prompts.pad)
        choose = wishes.choice(len(first))
        if wishes.count > 1:
            copies = torch.arange(len(first), device=first.device).repeat_interleave(wishes.count)
            state, first = state.select(copies), first[copies]
        for turn in stream(
            self.step,
            state,
            first,
            stop=self.prompts.stops,
            limit=[row.most for row in rows],
            choose=repetition_penalty(choose, wishes.repetition_penalty, prompts, self.vocab, device=first.device),
            ended=lambda row: rows[row].finished,
        ):
            yield [rows[row].take(word, gain) for row, word, gain in zip(*turn, strict=True)]

    def _search(self, prompts: Sequence[Sequence[int]], wishes: Wishes) -> list[list[Generated]]:
        state, first = begin(self.model, prompts, pad=self.prompts.pad)
        found = beam(
            self.step,
            state,
            first,
            stop=self.prompts.stops,
            limit=[self._row(prompt, wishes).most for prompt in prompts],
            size=wishes.beam,
            length_penalty=wishes.length_penalty,
            count=wishes.count,
        )
        return [
            [self._row(prompt, wishes).follow(each) for each in some]
            for prompt, some in zip(prompts, found, strict=True)
        ]

    def _row(self, prompt: Sequence[int], wishes: Wishes) -> "_Row":
        # What follows a full context is the last word that can be said.
        most = min(wishes.max_new_tokens, self.context - len(prompt) + 1)
        return _Row(prompt, self.prompts.speller(prompt, wishes.stops), self.prompts.stops, most)


class _Row:
    """What was written behind one prompt so far: `most` words at most, and none after one that `ends` it."""

    def __init__(self, prompt: Sequence[int], speller: Speller, ends: Collection[int], most: int) -> None:
        self.prompt, self.speller, self.ends, self.most = prompt, speller, ends, most
        self.ids: list[int] = []
        self.log_prob = 0.0
        self.finished = False

    def take(self, word: int, gain: float) -> str:
        """Write a word, and give what can be shown of it."""
        self.log_prob += gain
        if word in self.ends:
            self.finished = True
            return self.speller.finish()
        self.ids.append(word)
        shown = self.speller.add(word)
        self.finished = self.speller.done
        return shown + self.speller.finish() if len(self.ids) == self.most else shown

    def follow(self, found: Hypothesis) -> Generated:
        """Write what a search has found."""
        for word in found.words:
            self.take(word, 0.0)
        self.speller.finish()
        self.log_prob, self.finished = found.log_prob, found.finished
        return self.written()

    def written(self) -> Generated:
        return Generated(self.speller.text, tuple(self.ids), self.log_prob, self.finished, tuple(self.prompt))
