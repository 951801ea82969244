"""Principal component analysis (PCA): the few directions along which points differ most (Pearson 1901).

Exact by the eigenvectors of the covariance, or by random probes where a set has many points of many numbers (Halko
2011). Points are read in chunks, so that a file that is mapped is never copied whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from regard.analysis.maps.map import Map, Points, as_points
from regard.progress import Progress

How = Literal["auto", "exact", "randomised"]

CHUNK = 8192  # points that are read at once
LARGE = 1000  # points and numbers; up to here the exact way takes seconds
EXTRA, ROUNDS = 10, 4  # probes beyond those asked for, and how often they are sharpened


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """The directions of most variance as rows of length 1, the most first, and the share of the variance on each."""

    mean: Float64[Tensor, " d"]
    directions: Float64[Tensor, "k d"]
    shares: Float64[Tensor, " k"]
    how: str

    def project(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n k"]:
        """Where points lie along the axes, in float32."""
        parts = [(chunk - self.mean) @ self.directions.T for chunk in _chunks(points)]
        return torch.cat(parts).float().numpy()


def pca(points: Points, count: int = 2, *, how: How = "auto", seed: int = 0, progress: Progress | None = None) -> Map:
    """Points along their `count` principal axes. An axis points to where its largest number is positive.

    `auto` is exact unless a set has more than a thousand points of more than a thousand numbers; the `seed` is for the
    randomised way alone.
    """
    table = as_points(points)
    axes = principal_axes(table, count, how=how, seed=seed, progress=progress)
    variance = [float(share) for share in axes.shares]
    return Map(axes.project(table), "PCA" if axes.how == "exact" else "randomised PCA", {"variance": variance})


def principal_axes(
    points: Float[np.ndarray, "n d"],
    count: int = 2,
    *,
    how: How = "auto",
    seed: int = 0,
    progress: Progress | None = None,
) -> Axes:
    """The principal axes of points that `as_points` has checked."""
    most = min(points.shape)
    if not 1 <= count <= most:
        raise ValueError(
            f"{len(points)} points of {points.shape[1]} numbers have no {count} axes; ask for 1 to {most} of them"
        )
    told = progress or (lambda _: None)
    mean = sum((chunk.sum(dim=0) for chunk in _chunks(points)), torch.zeros(points.shape[1]).double()) / len(points)
    if how == "exact" or (how == "auto" and most <= LARGE):
        directions, variances, total = _exact(points, mean, count)
        how = "exact"
    else:
        directions, variances, total = _randomised(points, mean, count, seed, told)
        how = "randomised"
    told(1.0)
    largest = directions.gather(1, directions.abs().argmax(dim=1, keepdim=True))
    directions = directions * torch.where(largest < 0, -1.0, 1.0)  # an axis has no sign of its own
    shares = variances / total if total > 0 else torch.zeros_like(variances)
    return Axes(mean, directions, shares, how)


def _exact(points: Float[np.ndarray, "n d"], mean: Tensor, count: int) -> tuple[Tensor, Tensor, float]:
    if points.shape[1] > len(points):  # as many axes as points: the covariance would be the larger table
        (whole,) = _chunks(points, size=len(points))
        _, sizes, rows = torch.linalg.svd(whole - mean, full_matrices=False)
        return rows[:count], sizes[:count] ** 2, float((sizes**2).sum())
    table = torch.zeros(points.shape[1], points.shape[1]).double()
    for chunk in _chunks(points):
        chunk = chunk - mean
        table.addmm_(chunk.T, chunk)
    values, vectors = torch.linalg.eigh(table)
    values = values.clamp(min=0).flip(0)  # rounding can leave a little less than nothing
    return vectors.flip(1)[:, :count].T, values[:count], float(values.sum())


def _randomised(
    points: Float[np.ndarray, "n d"], mean: Tensor, count: int, seed: int, told: Progress
) -> tuple[Tensor, Tensor, float]:
    probes = min(count + EXTRA, *points.shape)
    generator = torch.Generator().manual_seed(seed)
    basis = torch.randn(points.shape[1], probes, generator=generator).double()
    for turn in range(ROUNDS):
        seen = torch.linalg.qr(_times(points, mean, basis))[0]
        basis = torch.linalg.qr(_turned(points, mean, seen))[0]
        told((turn + 1) / (ROUNDS + 1))
    seen = torch.linalg.qr(_times(points, mean, basis))[0]
    _, sizes, rows = torch.linalg.svd(_turned(points, mean, seen).T, full_matrices=False)
    total = sum(float(((chunk - mean) ** 2).sum()) for chunk in _chunks(points))
    return rows[:count], sizes[:count] ** 2, total


def _times(points: np.ndarray, mean: Tensor, right: Tensor) -> Tensor:
    return torch.cat([(chunk - mean) @ right for chunk in _chunks(points)])


def _turned(points: np.ndarray, mean: Tensor, right: Tensor) -> Tensor:
    found = torch.zeros(points.shape[1], right.shape[1]).double()
    for chunk, part in zip(_chunks(points), right.split(CHUNK), strict=True):
        found.addmm_((chunk - mean).T, part)
    return found


def _chunks(points: np.ndarray, size: int = CHUNK) -> Iterator[Float64[Tensor, "c d"]]:
    """Some points after others; what is mapped read-only is copied by the conversion."""
    for first in range(0, len(points), size):
        yield torch.tensor(points[first : first + size], dtype=torch.float64)
