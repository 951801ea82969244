"""Recognize (image classification): a picture in, the class of what it shows out, with the probability of each."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from jaxtyping import Float
from torch import Tensor

from regard.analysis.confusion import Confusion
from regard.analysis.reading import Reading
from regard.analysis.scores import accuracy
from regard.data.pictures import pictures
from regard.hub import Checkpoint
from regard.pipelines.classify import Classification
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.outlined import outlined
from regard.pipelines.pictured import Pictured, Shown
from regard.pipelines.pipeline import Edits, Evaluation
from regard.progress import Progress
from regard.vision.views import Tta


class Recognize(Pictured):
    """A classifier of pictures; the labels are those of its card."""

    task, takes, gives = "recognize", "picture", "label"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(checkpoint, limit=limit)
        classes = self.model.config.classes
        if classes < 2:
            raise ValueError(
                f"{self.name} has {classes} classes, so that there is nothing to choose; load its features"
            )
        said = tuple(map(str, checkpoint.card.get("labels") or ()))
        self.labels = said if len(said) == classes else tuple(map(str, range(classes)))

    @answer_familiar
    def __call__(
        self, inputs: Shown | Sequence[Shown], *, tta: Tta = "none", progress: Progress | None = None
    ) -> list[Classification]:
        """The label of each picture: paths, bytes, pictures of Pillow's, or arrays of pixels.

        With test-time augmentation (`tta`), logits are the mean over the picture and its mirror image, or over both
        and both moved by a pixel.
        """
        _check(tta)
        return [self._name(logits) for logits in self.run(inputs, progress, tta=tta)]

    @answer_familiar
    def evaluate(
        self,
        data: str,
        *,
        split: str = "test",
        limit: int = 0,
        tta: Tta = "none",
        masks: bool = False,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Accuracy with an interval, of all classes and of each, on a named set or on a folder of class folders.

        With `masks`, how well its attention outlines the thing instead, whatever its classes are.
        """
        _check(tta)
        split = split or "test"
        if masks and tta != "none":
            raise ValueError(f"tta={tta!r} changes answers and masks score attention; ask for one of them at a time")
        if masks:
            return outlined(self, data, split, limit, progress)
        known = pictures(data, split)
        if strange := sorted(set(known.labels) - set(self.labels)):
            raise ValueError(
                f"{self.name} cannot be evaluated on {data}: {strange[0]!r} is none of its classes; choose other data"
            )
        count = min(limit or len(known), len(known))
        began = time.perf_counter()
        answers = [self._name(logits) for logits in self.over(known, count, progress, tta=tta)]
        seconds = time.perf_counter() - began
        said = [each.label for each in answers]
        right = [known.labels[i] for i in known.targets[:count].tolist()]
        named = {"accuracy": accuracy([a == b for a, b in zip(said, right, strict=True)])}
        for label in known.labels:
            if label in set(right):
                hits = [a == b for a, b in zip(said, right, strict=True) if b == label]
                named[f"accuracy/{label}"] = accuracy(hits)
        settings = {} if tta == "none" else {"tta": tta}
        confusion = Confusion.of(said, right, self.labels)
        return Evaluation(self.name, data, split, count, seconds, named, settings, said, confusion)

    @answer_familiar
    def attend(self, given: Shown, *, edits: Edits | None = None) -> Reading:
        """Where on the picture each of its places looks."""
        logits, reading = self.watch(given, edits)
        output = self._name(logits)
        return replace(reading, output=output, caption=f"{output.label} {output.scores[output.label]:.0%}")

    def _name(self, logits: Float[Tensor, " c"]) -> Classification:
        named: dict[str, float] = dict(zip(self.labels, logits.softmax(-1).tolist(), strict=True))
        return Classification(max(named, key=lambda label: named[label]), named)


def _check(tta: str) -> None:
    if tta not in get_args(Tta):
        raise ValueError(f"no tta is called {tta!r}; choose {', '.join(get_args(Tta))}")


PIPELINE = Recognize
