"""Features (image embeddings): a picture in, the vector out that a classifier would read."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from regard.analysis.reading import Reading
from regard.analysis.scores import accuracy
from regard.data.pictures import pictures
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pictured import Pictured, Shown
from regard.pipelines.pipeline import Edits, Evaluation
from regard.progress import Progress

NEIGHBOURS = 10


class Features(Pictured):
    """A model of pictures without a classifier, such as DINO's."""

    task, takes, gives = "features", "picture", "vector"

    @answer_familiar
    def __call__(
        self, inputs: Shown | Sequence[Shown], *, progress: Progress | None = None
    ) -> list[Float[np.ndarray, " w"]]:
        """The vector of each picture."""
        return [vector.cpu().numpy() for vector in self.run(inputs, progress)]

    @answer_familiar
    def evaluate(
        self, data: str, *, split: str = "test", limit: int = 0, progress: Progress | None = None
    ) -> Evaluation:
        """How often the nearest neighbours among the pictures of train say the right class, with nothing learned."""
        split = split or "test"
        known, asked = pictures(data, "train"), pictures(data, split)
        counts = [min(limit or len(each), len(each)) for each in (known, asked)]
        began = time.perf_counter()
        near, far = (
            _unit(self([each.picture(i) for i in range(count)], progress=progress))
            for each, count in zip((known, asked), counts, strict=True)
        )
        alike = far @ near.T
        nearest = np.argsort(-alike, axis=1)[:, :NEIGHBOURS]
        votes = np.zeros((counts[1], len(known.labels)))
        # A neighbour's vote counts as much as it is alike.
        np.add.at(
            votes,
            (np.arange(counts[1])[:, None], known.targets[nearest]),
            np.exp(np.take_along_axis(alike, nearest, axis=1) / 0.07),
        )
        right = votes.argmax(axis=1) == asked.targets[: counts[1]]
        seconds = time.perf_counter() - began
        settings = {"neighbours": NEIGHBOURS, "of": counts[0]}
        named = {"accuracy": accuracy(right.tolist())}
        return Evaluation(self.name, data, split, counts[1], seconds, named, settings)

    @answer_familiar
    def attend(self, given: Shown, *, edits: Edits | None = None) -> Reading:
        """Where on the picture each of its places looks."""
        vector, reading = self.watch(given, edits)
        return replace(reading, output=vector.cpu().numpy())


def _unit(vectors: Sequence[np.ndarray]) -> Float[np.ndarray, "n w"]:
    rows = np.stack(vectors)
    scaled: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return scaled


PIPELINE = Features
