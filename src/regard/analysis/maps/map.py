"""A map: points of many numbers as places in two or three, and what the way there has to say."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import Tensor

Points = np.ndarray | Tensor  # a row for each point; `as_points` says what is wrong with others


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """Where each point lies, by which method, and its facts: shares of variance, KL, perplexity, what was lowered."""

    places: Float[np.ndarray, "n k"]
    method: str
    facts: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.places)

    @property
    def caption(self) -> str:
        """Method and facts, as one writes them under a figure."""
        said = [self.method]
        if "variance" in self.facts:
            said.append(f"{sum(self.facts['variance']):.0%} of the variance on {len(self.facts['variance'])} axes")
        if "perplexity" in self.facts:
            said.append(f"perplexity {self.facts['perplexity']:.3g}")
        if "neighbours" in self.facts:
            said.append(f"{self.facts['neighbours']} neighbours")
        if "kl" in self.facts:
            said.append(f"KL {self.facts['kl']:.3f}")
        return ", ".join(said)


def as_points(points: Points) -> Float[np.ndarray, "n d"]:
    """Points as float32 or float64, checked: a table of finite numbers with two rows or more."""
    table = points.detach().cpu().float().numpy() if isinstance(points, Tensor) else np.asarray(points)
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"an array of shape {table.shape} is no table of points; give a row of numbers for each point")
    if len(table) < 2:
        raise ValueError(f"{len(table)} point{'' if len(table) else 's'} cannot be told apart on a map; give 2 or more")
    if not (np.issubdtype(table.dtype, np.number) or table.dtype == bool) or np.iscomplexobj(table):
        raise ValueError(f"points of {table.dtype} cannot be put on a map; give real numbers")
    if table.dtype not in (np.float32, np.float64):
        table = table.astype(np.float32)
    for first in range(0, len(table), 65_536):  # a file that is mapped may be larger than memory
        finite = np.isfinite(table[first : first + 65_536]).all(axis=1)
        if not finite.all():
            place = first + int(finite.argmin())
            raise ValueError(f"point {place} (counted from 0) holds NaN or infinity; leave it out, or mend it")
    return table
