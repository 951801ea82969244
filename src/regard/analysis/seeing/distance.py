"""Mean attention distance: how far on the picture each head looks (Dosovitskiy 2021, figure 7; deck 001)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from regard.analysis.reading import Reading
from regard.analysis.view import Grid


@dataclass(frozen=True, slots=True, eq=False)
class Distance:
    """How far the heads of one attention look, in sides of the picture, and how far looking evenly would be."""

    name: str
    layer: int
    heads: Float[np.ndarray, " h"]
    even: float


def attention_distances(reading: Reading) -> list[Distance]:
    """The mean distance of each head of each attention over the picture, from the middle of a cell to that of another.

    1 is the longer side of the picture. What goes to tokens without a place is left out, and so are they as askers.
    """
    found = []
    for one in reading.maps:
        rows, columns = reading.axes[one.rows], reading.axes[one.columns]
        if not isinstance(rows, Grid) or not isinstance(columns, Grid):
            continue
        weights = reading.weights(one.name)[:, len(rows.leading) :, len(columns.leading) :]
        far = _between(rows, columns)
        share = weights.sum(axis=-1)
        mean = (weights * far).sum(axis=-1) / np.maximum(share, 1e-9)
        # A place that looks at leading tokens alone says nothing of distance.
        says = share > 1e-6
        heads = (mean * says).sum(axis=-1) / np.maximum(says.sum(axis=-1), 1)
        found.append(Distance(one.name, one.layer, heads, float(far.mean())))
    if not found:
        raise ValueError(f"{reading.model} has no attention over a picture, so that there is no distance to measure")
    return found


def _between(rows: Grid, columns: Grid) -> Float[np.ndarray, "n m"]:
    one, other = (places(grid, rows.height / rows.width) for grid in (rows, columns))
    far: np.ndarray = np.sqrt(((one[:, None] - other[None]) ** 2).sum(axis=-1))
    return far


def places(grid: Grid, ratio: float = 1.0) -> Float[np.ndarray, "n 2"]:
    """The middle of each cell, in units of the longer side of a picture whose height is `ratio` times its width."""
    high, wide = (1.0, 1 / ratio) if ratio >= 1 else (ratio, 1.0)
    down = (np.arange(grid.height) + 0.5) / grid.height * high
    right = (np.arange(grid.width) + 0.5) / grid.width * wide
    return np.stack(np.meshgrid(down, right, indexing="ij"), axis=-1).reshape(-1, 2)
