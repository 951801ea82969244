"""A linear probe of what a model makes of pictures: a logistic regression learns to name them, and the model nothing.

It is the number of the CLIP paper's tables over many sets (Radford 2021, §3.2).
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float, Int

from regard.analysis.probes import linear_probe
from regard.data.album import Pictures
from regard.data.pictures import pictures
from regard.pipelines.pipeline import Evaluation
from regard.progress import Progress

if TYPE_CHECKING:
    from regard.pipelines.pictured import Pictured

TOGETHER = 256  # pictures that are opened at once

Encode = Callable[[Sequence[Any]], Float[np.ndarray, "n w"]]


def probed(
    pipeline: "Pictured", encode: Encode, data: str, split: str, limit: int, progress: Progress | None
) -> Evaluation:
    """Accuracy on a split of a linear probe that learns from train; a `limit` takes so many of both, evenly spread."""
    known, asked = pictures(data, "train"), pictures(data, split)
    chosen, began = [spread(len(each), limit) for each in (known, asked)], time.perf_counter()
    whole, done, vectors = sum(map(len, chosen)), 0, list[Float[np.ndarray, "n w"]]()
    for each, rows in zip((known, asked), chosen, strict=True):
        parts = []
        for start in range(0, len(rows), TOGETHER):
            parts.append(encode(_open(each, rows[start : start + TOGETHER])))
            done += len(parts[-1])
            if progress is not None:
                progress(done / whole)
        vectors.append(np.concatenate(parts))
    near, far = ((one, each.targets[rows]) for one, each, rows in zip(vectors, (known, asked), chosen, strict=True))
    with torch.inference_mode(False), torch.enable_grad():
        found = linear_probe(near, far)
    seconds = time.perf_counter() - began
    settings = {"linear probe": True, "of": len(chosen[0]), "weight decay": found.strength}
    return Evaluation(pipeline.name, data, split, len(chosen[1]), seconds, {"probe accuracy": found.score}, settings)


def _open(known: Pictures, rows: Int[np.ndarray, " n"]) -> list[Any]:
    return [known.picture(i) for i in rows.tolist()]


def spread(count: int, limit: int) -> Int[np.ndarray, " n"]:
    """Some rows, or all: not the first, where a set may have one class alone."""
    return np.linspace(0, count - 1, min(limit or count, count)).round().astype(np.int64)
