"""Distances of some points to all, by one product."""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

LARGE = 1 << 24  # numbers; more are kept in float32


class Distances:
    """Squared distances between points, some rows of the table at a time."""

    def __init__(self, points: Float[np.ndarray, "n d"]) -> None:
        self.points = torch.tensor(points, dtype=torch.float64 if points.size <= LARGE else torch.float32)
        self.points -= self.points.mean(dim=0)  # differences of large numbers would lose their digits
        self.squares = (self.points**2).sum(dim=1)

    def __len__(self) -> int:
        return len(self.points)

    def rows(self, which: Int[Tensor, " r"]) -> Float[Tensor, "r n"]:
        """Of some points to all; to itself a point is infinitely far, since nobody is its own neighbour."""
        found = self.squares[which, None] + self.squares
        found.addmm_(self.points[which], self.points.T, alpha=-2).clamp_(min=0)
        found[torch.arange(len(which)), which] = torch.inf
        return found
