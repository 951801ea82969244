"""Features (image embeddings): a picture in, the vector out that a classifier would read."""

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from jaxtyping import Float
from torch import nn

from regard.analysis.neighbours import COUNT, nearest_classes
from regard.analysis.reading import Reading
from regard.analysis.scores import accuracy
from regard.data.pictures import pictures
from regard.hub import Checkpoint
from regard.models.tower import eye_of
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.outlined import outlined
from regard.pipelines.pictured import Pictured, Shown
from regard.pipelines.pipeline import Edits, Evaluation
from regard.pipelines.probed import probed, spread
from regard.progress import Progress

HEADS = ("head", "distill_head", "teacher_head")  # that name classes, also for a teacher as in DeiT and LeViT


class Features(Pictured):
    """A model of pictures without a classifier, such as DINO's; of one that has a classifier, what that reads.

    Of a model that was made to learn by it, such as a masked autoencoder, it is the part that sees.
    """

    task, takes, gives = "features", "picture", "vector"

    def __init__(self, checkpoint: Checkpoint, *, limit: int = 512) -> None:
        super().__init__(replace(checkpoint, model=without_heads(eye_of(checkpoint.model))), limit=limit)

    @answer_familiar
    def __call__(
        self, inputs: Shown | Sequence[Shown], *, progress: Progress | None = None
    ) -> list[Float[np.ndarray, " w"]]:
        """The vector of each picture."""
        return [vector.cpu().numpy() for vector in self.run(inputs, progress)]

    @answer_familiar
    def evaluate(
        self,
        data: str,
        *,
        split: str = "test",
        limit: int = 0,
        probe: bool = False,
        masks: bool = False,
        progress: Progress | None = None,
    ) -> Evaluation:
        """How often the nearest neighbours among the pictures of train say the right class, with nothing learned.

        With `probe`, how often a linear probe says it, which learns from train; with `masks`, how well its attention
        outlines the thing. A `limit` takes so many pictures, evenly spread, of train too.
        """
        split = split or "test"
        if masks and probe:
            raise ValueError("probe reads vectors and masks score attention; ask for one of them at a time")
        if masks:
            return outlined(self, data, split, limit, progress)
        if probe:
            return probed(self, lambda some: np.stack(self(some)), data, split, limit, progress)
        known, asked = pictures(data, "train"), pictures(data, split)
        known, asked = (each.part(spread(len(each), limit)) for each in (known, asked))
        began = time.perf_counter()
        near, far = (
            np.stack([vector.cpu().numpy() for vector in self.over(each, len(each), progress)])
            for each in (known, asked)
        )
        right = nearest_classes(near, known.targets, far) == asked.targets
        seconds = time.perf_counter() - began
        settings = {"neighbours": COUNT, "of": len(known)}
        named = {"accuracy": accuracy(right.tolist())}
        return Evaluation(self.name, data, split, len(asked), seconds, named, settings)

    @answer_familiar
    def attend(self, given: Shown, *, edits: Edits | None = None) -> Reading:
        """Where on the picture each of its places looks."""
        vector, reading = self.watch(given, edits)
        return replace(reading, output=vector.cpu().numpy(), caption=f"{len(vector)} numbers")


def without_heads(model: nn.Module) -> nn.Module:
    """A model that shares all weights with the given one and says what its classifiers read; that one stays whole."""
    if not getattr(model.config, "classes", 0):
        return model
    found = copy(model)
    named = {name: nn.Identity() for name in HEADS if isinstance(getattr(model, name, None), nn.Module)}
    found._modules = {**model._modules, **named}
    return found


PIPELINE = Features
