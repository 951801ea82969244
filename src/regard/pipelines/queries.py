"""Queries (Perceiver IO): frames, a text with hidden letters, or a film with its sentence in, an answer each out.

The card of a model says what it is asked: `flow`, `letters` or `film`. `world:7` is number 7 of the world's test.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8

from regard.analysis.reading import Reading
from regard.analysis.unrolled import Unrolled, of_layers
from regard.analysis.view import Axis, Latents
from regard.attention import record
from regard.data import asked
from regard.data.asked import MASK, encode
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.names import NUMBERED
from regard.pipelines.asking import Flow, Given, Masked, question_of, run
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.perceive import looks
from regard.pipelines.pipeline import Edits, Evaluation, Pipeline, TooLongError
from regard.progress import Progress
from regard.vision import open_picture, to_array

# `world:7`, a text with _ for each hidden letter, two frames as files or arrays, or a film and its sentence.
Asked = str | tuple[str | Path, str | Path] | UInt8[np.ndarray, "2 h w 3"] | tuple[UInt8[np.ndarray, "f h w 3"], str]
TOGETHER, SOME = 32, 50  # that are read at once, and of the world that are made at once
HIDDEN = "_"
WORLD = "world"


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What was said in words, and in numbers: how far each pixel moves "h w 2", or the frames of a film again."""

    text: str
    numbers: np.ndarray | None = None


class Queries(Pipeline):
    """A Perceiver IO of the world: flow, hidden letters, or films with sentences."""

    task, takes, gives = "queries", "frames, text or film", "answers"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        self.question = question_of(checkpoint.card, self.name)

    @answer_familiar
    def __call__(self, inputs: Asked | Sequence[Asked], *, progress: Progress | None = None) -> list[Answer]:
        """The answer to each."""
        alone = isinstance(inputs, str | tuple) or (isinstance(inputs, np.ndarray) and inputs.ndim == 4)
        given: list[Any] = [inputs] if alone else list(inputs)
        found = []
        for index, each in enumerate(given):
            one = self.open(each, index)
            with evaluating(self.model), torch.inference_mode():
                found.append(Answer(*self.question.tell(run(self.model, one), one, self.model.config)))
            if progress is not None:
                progress(len(found))
        return found

    def open(self, given: Asked, index: int = 0) -> Given:
        """What the model is given, as a batch of one."""
        rows = np.zeros(1, np.int64)
        if isinstance(given, str) and (named := NUMBERED.fullmatch(given)):
            if named[1] != WORLD:
                raise ValueError(f"{named[1]} has nothing that {self.name} is asked; give {WORLD}:7")
            number, most = int(named[2]), asked.COUNTS["test"]
            if number >= most:
                raise ValueError(f"number {number} is not among these {most}; count from 0")
            known = self.question.known("test", min(most, (number // SOME + 1) * SOME))  # not all for one
            return self.question.lay_out(known, np.asarray([number]), None)
        if isinstance(self.question, Masked):
            return self._hide(given, index)
        if isinstance(self.question, Flow):
            return Given((self.question.read(self._frames(given)[None]),), (), rows)
        if not isinstance(given, tuple) or not isinstance(given[0], np.ndarray):
            raise ValueError(f"{self.name} takes a film as an array and its sentence, or {WORLD}:7")
        film, text = given
        wanted = (self.question.frames, self.question.size, self.question.size, 3)
        if film.shape != wanted or film.dtype != np.uint8:
            raise ValueError(f"a film of {film.dtype} and shape {film.shape} is not read; give bytes of {wanted}")
        return self.question.read(film[None], encode([str(text)], self.question.length), rows)

    def _hide(self, given: Any, index: int) -> Given:
        assert isinstance(self.question, Masked)
        if not isinstance(given, str) or HIDDEN not in given:
            raise ValueError(f"{str(given)[:40]!r} hides no letter; write {HIDDEN} for each that is to be guessed")
        if (length := len(given.encode())) > self.question.length:
            raise TooLongError(index, length, self.question.length)
        ids = encode([given], max(length, 1))
        unseen = ids == encode([HIDDEN], 1)[0, 0]
        return self.question.read(np.where(unseen, MASK, ids), unseen, np.zeros(1, np.int64))

    def _frames(self, given: Any) -> UInt8[np.ndarray, "2 s s 3"]:
        assert isinstance(self.question, Flow)
        size = self.question.size
        if isinstance(given, np.ndarray):
            if given.shape != (2, size, size, 3) or given.dtype != np.uint8:
                raise ValueError(
                    f"{given.dtype} of shape {given.shape} is not read; give bytes of {(2, size, size, 3)}"
                )
            return given
        if isinstance(given, str) or len(given) != 2:
            raise ValueError(f"flow is between two frames; give two pictures of one size, or {WORLD}:7")
        first, second = (open_picture(each) for each in given)
        if first.size != second.size:
            raise ValueError(f"frames of {first.size} and {second.size} pixels are not of one film; give two of a size")
        return np.stack([to_array(each.resize((size, size))) for each in (first, second)])

    @answer_familiar
    def evaluate(
        self, data: str, *, split: str = "test", limit: int = 0, progress: Progress | None = None
    ) -> Evaluation:
        """Scores on the world, each beside the best that can be said without looking."""
        if data != WORLD:
            raise ValueError(f"{self.name} is asked about the world, and {data!r} is something else; give {WORLD}")
        known = self.question.known(split or "test", limit)
        began, said, given = time.perf_counter(), [], []
        for start in range(0, len(known), TOGETHER):
            one = self.question.lay_out(known, np.arange(start, min(start + TOGETHER, len(known))), None)
            with evaluating(self.model), torch.inference_mode():
                said.append(run(self.model, one).cpu())
            given.append(one)
            if progress is not None:
                progress(start + len(one.rows))
        seconds = time.perf_counter() - began
        named = self.question.scores(said, given, self.model.config)
        return Evaluation(self.name, data, split or "test", len(known), seconds, named)

    @answer_familiar
    @torch.no_grad()
    def attend(self, given: Asked, *, edits: Edits | None = None) -> Reading:
        """Where each latent looks, and which latents each query asks; a query stands where its answer belongs."""
        one = self.open(given)
        with evaluating(self.model), record(self.model, edits=of_layers(edits)) as seen:
            said = run(self.model, one)
        trace, cells = Unrolled(seen), self.question.axis(one, self.model.config)
        axes: dict[str, Axis] = {"latents": Latents(self.model.config.latents), "input": cells, "queries": cells}
        maps = looks(trace, axes)
        output = Answer(*self.question.tell(said, one, self.model.config))
        return Reading(self.name, axes, maps, trace, output, output.text)


PIPELINE = Queries
