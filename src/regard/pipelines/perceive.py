"""Perceive (classification of sounds, point clouds and films): a file in, what it is out, and how likely each class is.

A sound is seen as a picture of time and frequency, a cloud as its points, a film as its frames; the card of a model
says which it takes.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from regard.analysis.confusion import Confusion
from regard.analysis.reading import Map, Reading
from regard.analysis.scores import accuracy
from regard.analysis.unrolled import Unrolled, of_layers
from regard.analysis.view import Axis, Latents
from regard.attention import Trace, record
from regard.data import DataError
from regard.data.sensed import Thing
from regard.data.things import things
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.names import NUMBERED
from regard.pipelines.classify import Classification
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation, Pipeline
from regard.pipelines.sensing import Array, axis, batch, kind_of, kind_of_thing, sense_of, sides, whole
from regard.progress import Progress
from regard.sound import Sound, Spectrogram, open_sound
from regard.vision.cloud import Few, open_cloud

# A path, `spoken-digits:7`, the bytes of a file, a sound that is open, the points of a cloud, or the frames of a film.
Given = str | Path | bytes | Sound | Float[np.ndarray, "n c"] | UInt8[np.ndarray, "f h w 3"]
TOGETHER = 32  # that are read at once


@dataclass(frozen=True, slots=True)
class Perceived(Classification):
    """The likeliest label, the probability of every label, and what had to be done to the file."""

    notes: tuple[str, ...] = ()


class Perceive(Pipeline):
    """A classifier of sounds, of clouds of points, or of films; the labels are those of its card."""

    task, takes, gives = "perceive", "sound, points or film", "label"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        card, classes = checkpoint.card, self.model.config.classes
        self.labels = tuple(map(str, card.get("labels") or range(classes)))
        if len(self.labels) != classes or classes < 2:
            raise ValueError(f"the card of {self.name} names {len(self.labels)} labels, and the model has {classes}")
        self.sense = sense_of(card, self.name)

    @answer_familiar
    def __call__(self, inputs: Given | Sequence[Given], *, progress: Progress | None = None) -> list[Perceived]:
        """The label of each: paths, bytes, sounds that are open, arrays of points, or arrays of frames."""
        given, found = self._listed(inputs), list[Perceived]()
        for start in range(0, len(given), TOGETHER):
            some = [self.open(each) for each in given[start : start + TOGETHER]]
            logits = self._run([array for array, _ in some])
            found += [self._name(row, notes) for row, (_, notes) in zip(logits, some, strict=True)]
            if progress is not None:
                progress(len(found))
        return found

    def open(self, given: Given) -> tuple[Array, tuple[str, ...]]:
        """What the model sees of a file, and what had to be done to it; `spoken-digits:7` is 7 of a set's test."""
        if isinstance(given, str) and (named := NUMBERED.fullmatch(given)) and not Path(given).exists():
            try:
                return self.see(things(named[1], "test").thing(int(named[2])))
            except (DataError, IndexError) as error:
                raise ValueError(str(error)) from None
        if isinstance(given, Sound):
            return self.see(given)
        if isinstance(self.sense, Few):
            return self.see(open_cloud(given))
        if isinstance(given, np.ndarray):
            return self.see(given)
        if isinstance(self.sense, Spectrogram):
            return self.see(open_sound(given, rate=self.sense.rate))
        raise ValueError(f"{self.name} takes films as arrays of frames, or as world:7; give one of them")

    def see(self, thing: Thing) -> tuple[Array, tuple[str, ...]]:
        """What the model sees of a sound, a cloud or a film that is open."""
        takes, given = kind_of(self.sense), kind_of_thing(thing)
        if takes != given:
            raise ValueError(f"{self.name} takes {takes}, and these are {given}; choose another model")
        array = whole(self.sense, thing)
        notes = thing.said if isinstance(thing, Sound) else ()
        if isinstance(thing, Sound) and isinstance(self.sense, Spectrogram) and len(array) > self.sense.frames:
            heard = self.sense.frames * self.sense.hop / self.sense.rate
            notes += (f"of its {thing.seconds:.1f} seconds the loudest {heard:.2g} were heard",)
        return self.sense.fit(array), notes

    @answer_familiar
    def evaluate(
        self, data: str, *, split: str = "test", limit: int = 0, progress: Progress | None = None
    ) -> Evaluation:
        """Accuracy with an interval, of all classes and of each, on a named set or on a folder of class folders."""
        split = split or "test"
        known = things(data, split)
        if strange := sorted(set(known.labels) - set(self.labels)):
            raise ValueError(f"{self.name} does not know {strange[0]!r} of {data}; choose other data")
        count = min(limit or len(known), len(known))
        began, said = time.perf_counter(), list[str]()
        for start in range(0, count, TOGETHER):
            seen = [self.see(known.thing(i))[0] for i in range(start, min(start + TOGETHER, count))]
            said += [self._name(row).label for row in self._run(seen)]
            if progress is not None:
                progress(len(said))
        seconds = time.perf_counter() - began
        right = [known.labels[i] for i in known.targets[:count].tolist()]
        named = {"accuracy": accuracy([a == b for a, b in zip(said, right, strict=True)])}
        for label in known.labels:
            if hits := [a == b for a, b in zip(said, right, strict=True) if b == label]:
                named[f"accuracy/{label}"] = accuracy(hits)
        confusion = Confusion.of(said, right, self.labels)
        return Evaluation(self.name, data, split, count, seconds, named, {}, said, confusion)

    @answer_familiar
    @torch.no_grad()
    def attend(self, given: Given, *, edits: Edits | None = None) -> Reading:
        """Where each latent looks: in time and frequency, or at which points; and at which other latents."""
        array, notes = self.open(given)
        with evaluating(self.model), record(self.model, edits=of_layers(edits)) as seen:
            (logits,) = self.model(*batch(self.sense, [array], self.device)).float()
        trace = Unrolled(seen)
        cells = axis(self.sense, self.model.grid(*sides(self.sense, array)), array)
        axes: dict[str, Axis] = {"latents": Latents(self.model.config.latents), "input": cells}
        maps = looks(trace, axes)
        output = self._name(logits, notes)
        caption = f"{output.label} {output.scores[output.label]:.0%}"
        return Reading(self.name, axes, maps, trace, output, caption)

    def _run(self, arrays: Sequence[Array]) -> list[Float[Tensor, " c"]]:
        with evaluating(self.model), torch.inference_mode():
            return list(self.model(*batch(self.sense, arrays, self.device)).float())

    def _name(self, logits: Float[Tensor, " c"], notes: tuple[str, ...] = ()) -> Perceived:
        named: dict[str, float] = dict(zip(self.labels, logits.softmax(-1).tolist(), strict=True))
        return Perceived(max(named, key=lambda label: named[label]), named, notes)

    def _listed(self, inputs: Any) -> list[Given]:
        alone = isinstance(inputs, str | Path | bytes | Sound) or (
            isinstance(inputs, np.ndarray) and inputs.ndim in (2, 4)
        )
        return [inputs] if alone else list(inputs)


def looks(trace: Trace, axes: dict[str, Axis]) -> tuple[Map, ...]:
    """The looks of a Perceiver in the order in which they happen; queries without an axis get one of their own."""
    maps = []
    for layer, name in enumerate(sorted(trace, key=_when)):
        (_, heads, count, _), (asked, looked) = trace[name][0].q.shape, _sides(name)
        axes.setdefault(asked, Latents(count))
        group = f"{asked} look at {'the input' if looked == 'input' else looked}"
        maps.append(Map(name, "self" if asked == looked else "cross", layer, heads, asked, looked, group))
    return tuple(maps)


def _when(name: str) -> tuple[int, bool, str]:
    """What came first: in each repeat of a Perceiver, the look at the input and then the tower; the decoder last."""
    module, _, look = name.partition("/")
    first = module.startswith("crosses.")
    if module.startswith("decode"):
        return 1 << 30, True, name
    number = int(module.split(".")[1]) + int(look)  # of a look or tower that is not shared, or the n-th of one that is
    return number, not first, name


def _sides(name: str) -> tuple[str, str]:
    if name.startswith("decode"):
        return "queries", "latents"
    return ("latents", "input") if name.startswith("crosses.") else ("latents", "latents")


PIPELINE = Perceive
