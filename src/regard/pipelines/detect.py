"""Detect (object detection): a picture in, what is in it and where out: box, label and how sure of each thing."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from PIL import Image

from regard.analysis.detection import Marked, average_precision
from regard.analysis.pictures import data_url, maps_over
from regard.analysis.reading import Map, Reading
from regard.analysis.scores import Score
from regard.analysis.view import Boxes, Grid
from regard.attention import record
from regard.data.annotated import Detections
from regard.data.pictures import detections
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pictured import TOGETHER, Pictured, Shown
from regard.pipelines.pipeline import Edits, Evaluation
from regard.progress import Progress
from regard.vision.boxes import to_corners

SURE = 0.5  # what is less sure is not told


@dataclass(frozen=True, slots=True)
class Found:
    """One thing: its corners in pixels of the picture, its label, and how sure."""

    label: str
    score: float
    box: tuple[float, float, float, float]  # left, top, right, bottom


class Detect(Pictured):
    """A detector; the labels are those of its card."""

    task, takes, gives = "detect", "picture", "boxes"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        said = tuple(map(str, checkpoint.card.get("labels") or ()))
        self.labels = (
            said if len(said) == self.model.config.classes else tuple(map(str, range(self.model.config.classes)))
        )

    @answer_familiar
    def __call__(
        self, inputs: Shown | Sequence[Shown], *, threshold: float = SURE, progress: Progress | None = None
    ) -> list[list[Found]]:
        """What is in each picture, the surest first; what is less sure than the `threshold` is left out."""
        if not 0 <= threshold <= 1:
            raise ValueError(f"a threshold of {threshold} is no probability; give 0 to 1")
        given, found = self.listed(inputs), list[list[Found]]()
        for start in range(0, len(given), TOGETHER):
            opened = [self.open(each) for each in given[start : start + TOGETHER]]
            found += [self._tell(each, threshold) for each in self.find(opened)]
            if progress is not None:
                progress(len(found))
        return found

    def find(self, pictures: Sequence[Image.Image]) -> list[Marked]:
        """Every query of the model with its likeliest class, for a scorer that asks for all."""
        padded = self.processor.pad(pictures)
        plain = bool(padded.visible.all())
        with evaluating(self.model), torch.inference_mode():
            said = self.model(padded.image.to(self.device), None if plain else padded.visible.to(self.device))
        return self._mark(said, pictures)

    def _mark(self, said: Any, pictures: Sequence[Image.Image]) -> list[Marked]:
        """What a model said of some pictures, in their pixels, the surest first."""
        chances = said.logits.float().softmax(-1)[..., :-1]
        scores, classes = chances.max(dim=-1)
        corners = to_corners(said.boxes.float()).clamp(0, 1).cpu().numpy()
        found = []
        for i, picture in enumerate(pictures):
            order = scores[i].argsort(descending=True).cpu().numpy()
            sides = np.array([picture.width, picture.height] * 2, np.float32)
            found.append(
                Marked(corners[i][order] * sides, classes[i].cpu().numpy()[order], scores[i].cpu().numpy()[order])
            )
        return found

    @answer_familiar
    def evaluate(
        self, data: str, *, split: str = "test", limit: int = 0, progress: Progress | None = None
    ) -> Evaluation:
        """COCO's average precision on a named set, the world, or annotations of your own in its form."""
        split = split or "test"
        known = detections(data, split)
        if strange := sorted(set(known.labels) - set(self.labels)):
            raise ValueError(f"{self.name} does not know {strange[0]!r} of {data}; choose other data")
        count = min(limit or len(known), len(known))
        numbers = np.array([self.labels.index(label) for label in known.labels])
        began, found, truth = time.perf_counter(), list[Marked](), list[Marked]()
        for start in range(0, count, TOGETHER):
            some = range(start, min(start + TOGETHER, count))
            found += self.find([known.picture(i) for i in some])
            for i in some:
                real = known.objects(i)
                truth.append(Marked(real.boxes, numbers[real.targets], crowd=real.crowd))
            if progress is not None:
                progress(len(found))
        seconds = time.perf_counter() - began
        scored = average_precision(found, truth, len(self.labels))
        named = {
            name: Score(value, scored.signature)
            for name, value in (("ap", scored.ap), ("ap50", scored.ap50), ("ap75", scored.ap75))
        }
        return Evaluation(self.name, data, split, count, seconds, named)

    def known(self, name: str) -> Detections:
        """The test pictures of a named set with boxes."""
        return detections(name, "test")

    @answer_familiar
    @torch.no_grad()
    def attend(self, given: Shown, *, edits: Edits | None = None) -> Reading:
        """Where each object query looks on the picture, and where places look."""
        picture = self.open(given)
        image = self.processor.pad([picture]).image.to(self.device)
        with evaluating(self.model), record(self.model, edits=edits) as trace:
            said = self.model(image)
        scores, classes = said.logits[0].float().softmax(-1)[:, :-1].max(dim=-1)
        corners = to_corners(said.boxes[0].float()).clamp(0, 1)
        seen = self.seen(picture)
        axes, maps = maps_over(trace, self.model.grid(*image.shape[-2:]), image=data_url(seen))
        shares = [(left, top, right - left, bottom - top) for left, top, right, bottom in corners.tolist()]
        labels = [
            f"{self.labels[kind]} {score:.0%}" for kind, score in zip(classes.tolist(), scores.tolist(), strict=True)
        ]
        queries = Boxes(tuple(shares), tuple(labels))
        # Whatever has as many tokens as there are queries, and no place on the picture, is the queries.
        named = {
            key: queries if not isinstance(axis, Grid) and len(axis) == len(queries) else axis
            for key, axis in axes.items()
        }
        grouped = tuple(
            Map(
                each.name,
                each.kind,
                each.layer,
                each.heads,
                each.rows,
                each.columns,
                _group(named[each.rows], named[each.columns]),
            )
            for each in maps
        )
        (marked,) = self._mark(said, [picture])
        output = self._tell(marked, SURE)
        told = ", ".join(f"{each.label} {each.score:.0%}" for each in output) or "nothing"
        return Reading(self.name, named, grouped, trace, output, told)

    def _tell(self, marked: Marked, threshold: float) -> list[Found]:
        assert marked.scores is not None
        return [
            Found(self.labels[int(kind)], float(score), (float(box[0]), float(box[1]), float(box[2]), float(box[3])))
            for box, kind, score in zip(marked.boxes, marked.classes, marked.scores, strict=True)
            if score >= threshold
        ]


def _group(rows: object, columns: object) -> str:
    if isinstance(rows, Grid):
        return "places look at places"
    return "queries look at places" if isinstance(columns, Grid) else "queries look at queries"


PIPELINE = Detect
