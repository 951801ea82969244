"""t-SNE, exact (van der Maaten and Hinton 2008): neighbours stay neighbours, and nothing else is promised.

Points pick neighbours by Gaussians (`affinity.py`), places by a Student distribution, whose heavy tails leave room
between clusters. Places move until both pick alike::

    q_ij = (1 + |y_i - y_j|²)⁻¹ / Σ (1 + |y_k - y_l|²)⁻¹        KL(P ‖ Q) = Σ p_ij log(p_ij / q_ij)

A lecture may write p as what i alone picks. Since q_ij = q_ji, the mean of both directions, which is used here, has the
same gradient: the two sums differ by a constant.

Every pair is computed, and once: of the tables of pairs only the half above the diagonal is kept, in strips that fit
into a processor's cache.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from regard.analysis.maps.affinity import joint_probabilities, lower_perplexity
from regard.analysis.maps.map import Map, Points, as_points
from regard.analysis.maps.pca import principal_axes
from regard.progress import Progress
from regard.threads import threads

Init = Literal["random", "pca"]

MOST = 20_000  # points, whose pairs take 2.4 GB
EXAGGERATION, EARLY = 12.0, 250  # by how much, and for how many steps, neighbours attract more at first
VARIANCE = 1e-3  # of the places before the first step
STRIP = 1 << 19  # pairs that are computed together
ALONE = 600  # points up to which threads wait for each other longer than they work
FIRST = 0.1  # of the work is finding who picks whom


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Where the points are after a number of steps, and how far from right: KL, in nats."""

    step: int
    places: Float32[np.ndarray, "n k"]
    kl: float


def tsne(
    points: Points,
    perplexity: float | int = 30,
    dimensions: int = 2,
    *,
    seed: int = 0,
    steps: int = 1000,
    init: Init = "random",
    lr: float | int | None = None,
    every: int = 50,
    watch: Callable[[Frame], object] | None = None,
    progress: Progress | None = None,
) -> Map:
    """A map of points by exact t-SNE; a perplexity too large for the set is lowered, and `facts["lowered"]` says so.

    It begins with noise as small as a lecture draws it, or with the first axes of `pca`. `watch` is shown a `Frame`
    `every` so many steps.
    """
    table = as_points(points)
    if dimensions < 1:
        raise ValueError(f"a map of {dimensions} dimensions has no room; give 2 or 3")
    if len(table) > MOST:
        raise ValueError(
            f"exact t-SNE compares all pairs, and {len(table):,} points have too many; give up to {MOST:,}, or take "
            f"fast_tsne"
        )
    if steps < 0 or every < 1:
        raise ValueError(f"steps {steps} and every {every} cannot be counted; give 0 or more, and 1 or more")
    used, lowered = lower_perplexity(perplexity, len(table))
    told = progress or (lambda _: None)
    with threads(1) if len(table) <= ALONE else nullcontext():
        p = joint_probabilities(table, used, lambda done: told(FIRST * done))
        pace = max(len(table) / EXAGGERATION / 4, 50.0) if lr is None else lr
        descent = _Descent(p, _begin(table, dimensions, seed, init), pace)
        for step in range(steps + 1):
            if step:
                early = step <= EARLY
                descent.step(EXAGGERATION if early else 1.0, 0.5 if early else 0.8)
            if step % every == 0 or step == steps:
                told(FIRST + (1 - FIRST) * step / max(steps, 1))
                if watch is not None:
                    watch(descent.frame(step))
        last = descent.frame(steps)
    facts = {"perplexity": used, "kl": last.kl, "steps": steps, "init": init}
    return Map(last.places, "t-SNE", facts | ({"lowered": lowered} if lowered else {}))


def _begin(points: Float[np.ndarray, "n d"], dimensions: int, seed: int, init: Init) -> Float32[Tensor, "k n"]:
    if init == "pca":
        places: Tensor = torch.from_numpy(principal_axes(points, dimensions).project(points)).T
        spread = float(places[0].std())
        if spread > 0:
            return places.mul(VARIANCE**0.5 / spread)
    noise: Tensor = torch.randn(len(points), dimensions, generator=torch.Generator().manual_seed(seed))
    return noise.T.mul(VARIANCE**0.5)


class _Descent:
    """Gradient descent with momentum, and a gain for each number that grows while its direction stays.

    Places are kept as rows of coordinates: products with few rows are several times as fast as with few columns. Of
    all tables of pairs there are strips alone: some points against themselves and those behind them.
    """

    def __init__(self, p: Float32[Tensor, "n n"], places: Float32[Tensor, "k n"], lr: float) -> None:
        count = len(p)
        rows = max(1, min(count, STRIP // count))
        self.edges = [(first, min(first + rows, count)) for first in range(0, count, rows)]
        self.p = [p[first:last, first:].contiguous() for first, last in self.edges]
        self.near = [torch.empty_like(strip) for strip in self.p]
        self.room = torch.empty(rows * count)
        self.places, self.lr = places.contiguous(), lr
        self.update, self.gains = torch.zeros_like(self.places), torch.ones_like(self.places)
        self.entropy = _total([torch.xlogy(strip, strip) for strip in self.p])  # Σ p log p, which does not change

    def step(self, exaggeration: float, momentum: float) -> None:
        """Move all places once."""
        gradient = self.gradient(exaggeration)
        against = gradient * self.update < 0
        self.gains = torch.where(against, self.gains + 0.2, self.gains * 0.8).clamp_(min=0.01)
        self.update.mul_(momentum).sub_(self.gains.mul(gradient), alpha=self.lr)
        self.places += self.update
        self.places -= self.places.mean(dim=1, keepdim=True)

    def gradient(self, exaggeration: float = 1.0) -> Float32[Tensor, "k n"]:
        """4 Σ_j (p_ij - q_ij) (1 + |y_i - y_j|²)⁻¹ (y_i - y_j), with p as exaggerated as said."""
        total = exaggeration * self._approach()
        with_ones = torch.cat([self.places, torch.ones(1, self.places.shape[1])])
        forces = torch.zeros_like(with_ones)
        for (first, last), p, near in zip(self.edges, self.p, self.near, strict=True):
            force = self.room[: p.numel()].view_as(p)
            torch.sub(p, near, alpha=1 / total, out=force).mul_(near)
            forces[:, first:last] += with_ones[:, first:] @ force.T
            forces[:, last:] += with_ones[:, first:last] @ force[:, last - first :]
        return (forces[-1] * self.places - forces[:-1]).mul_(4 * exaggeration)

    def frame(self, step: int) -> Frame:
        """What a watcher is shown."""
        return Frame(step, self.places.T.contiguous().numpy().copy(), self.kl())

    def kl(self) -> float:
        """KL(P ‖ Q) = Σ p log p + Σ p log(1 + |y_i - y_j|²) + log Σ (1 + |y_k - y_l|²)⁻¹."""
        total = self._approach()
        cost = _total([torch.xlogy(p, near) for p, near in zip(self.p, self.near, strict=True)])
        return max(0.0, self.entropy - cost + math.log(total))

    def _approach(self) -> float:
        """Fill `near` with (1 + |y_i - y_j|²)⁻¹, and add it up over all pairs."""
        count = self.places.shape[1]
        squares, ones = (self.places**2).sum(dim=0), torch.ones(count)
        # One product gives 1 + |y_i|² + |y_j|² - 2 y_i·y_j.
        left = torch.stack([*(-2 * self.places), squares + 1, ones], dim=1)
        right = torch.stack([*self.places, ones, squares])
        for (first, last), near in zip(self.edges, self.near, strict=True):
            torch.mm(left[first:last], right[:, first:], out=near)
            # Rounding may leave less than 1 between neighbours that lie far out.
            near.clamp_(min=1.0).reciprocal_()[:, : last - first].fill_diagonal_(0)  # nobody is its own neighbour
        return max(_total(self.near), 1e-30)


def _total(strips: Sequence[Float32[Tensor, "_ _"]]) -> float:
    """The sum of a table of pairs, of which there is the half above the diagonal, and squares of it on the diagonal."""
    return sum(2 * float(strip.sum()) - float(strip[:, : len(strip)].sum()) for strip in strips)
