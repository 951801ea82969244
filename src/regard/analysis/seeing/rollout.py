"""Attention rollout: how much of each place of the picture is in a token in the end (Abnar 2020).

Layers are multiplied, each mixed with the stream that passes it by. A model that looks in windows, strides or at
shrunken keys is rolled out over its whole map; where it merges patches, a merged cell is the mean of what it covers.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from jaxtyping import Float

from regard.analysis.reading import Reading
from regard.analysis.view import Grid

HEADS: dict[str, Callable[..., np.ndarray]] = {"mean": np.mean, "max": np.max, "min": np.min}


def rollout(
    reading: Reading, *, heads: Literal["mean", "max", "min"] = "mean", stream: float = 0.5, discard: float = 0.0
) -> tuple[Float[np.ndarray, "n m"], Grid, Grid]:
    """How much each last token has of each first one; and the grids of both, by which to draw it.

    `heads` says how those of a layer become one; `stream` is the share that passes an attention by; `discard` throws
    away that share of the smallest weights of each row (what they are is mostly noise).
    """
    if not 0 <= stream < 1 or not 0 <= discard < 1:
        raise ValueError(f"a stream of {stream} and a discard of {discard} are no shares; give 0 to below 1")
    total: np.ndarray | None = None
    first = last = None
    for one in reading.maps:
        rows, columns = reading.axes[one.rows], reading.axes[one.columns]
        if not isinstance(rows, Grid) or not isinstance(columns, Grid):
            continue
        weights = HEADS[heads](reading.weights(one.name).astype(np.float64), axis=0)
        weights = _discard(weights, discard) @ _spread(rows, columns)
        mixed = (1 - stream) * weights / np.maximum(weights.sum(-1, keepdims=True), 1e-12) + stream * np.eye(len(rows))
        if total is None or last is None:
            total, first = mixed, rows
        else:
            total = mixed @ _merge(last, rows) @ total
        last = rows
    if total is None or first is None or last is None:
        raise ValueError(f"{reading.model} has no attention over a picture to roll out")
    return total, last, first


def _discard(weights: Float[np.ndarray, "n m"], share: float) -> Float[np.ndarray, "n m"]:
    count = int(share * weights.shape[1])
    if not count:
        return weights
    smallest = np.argpartition(weights, count, axis=1)[:, :count]
    kept = weights.copy()
    np.put_along_axis(kept, smallest, 0.0, axis=1)
    return kept


def _spread(rows: Grid, columns: Grid) -> Float[np.ndarray, "m n"]:
    """From the keys of a look to the cells of its queries: a key of a shrunken map stands for those it covers."""
    if (rows.height, rows.width) == (columns.height, columns.width):
        return np.eye(len(columns))
    return _merge(rows, columns)  # evenly over what it covers


def _merge(before: Grid, after: Grid) -> Float[np.ndarray, "m n"]:
    """The cells of a map as means of those of a finer one; leading tokens stay themselves."""
    if (before.height, before.width) == (after.height, after.width):
        return np.eye(len(before))
    down, right = _cover(before.height, after.height), _cover(before.width, after.width)
    leading = np.eye(len(after.leading), len(before.leading))
    cells = np.kron(down, right)
    total = np.zeros((len(after), len(before)))
    total[: len(leading), : leading.shape[1]] = leading
    total[len(leading) :, leading.shape[1] :] = cells
    return total


def _cover(fine: int, coarse: int) -> Float[np.ndarray, "c f"]:
    """Which share of each coarse cell of a side the fine ones are."""
    edges = np.linspace(0, fine, coarse + 1)
    start, end = edges[:-1, None], edges[1:, None]
    cell = np.arange(fine)
    overlap = np.clip(np.minimum(end, cell + 1) - np.maximum(start, cell), 0, None)
    share: np.ndarray = overlap / overlap.sum(axis=1, keepdims=True)
    return share
