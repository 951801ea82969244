"""Almost orthogonal directions: many more than n of them fit into n dimensions, if angles may differ from 90° a little.

    start = random_directions(10_000, 100)
    angles(start).smallest, angles(spread(start)).smallest      # degrees, between the two lines that are nearest

A direction and its opposite are one line here, so that the smallest angle is that of the largest |cosine|. Random
directions show how many fit surely (Johnson and Lindenstrauss 1984), Welch's bound (1974) how near some pair must be.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float32, Int64
from torch import Tensor

from regard.progress import Progress

STRIP = 1 << 21  # pairs that are computed together
BINS = 180  # of the histogram, a degree each


@dataclass(frozen=True, slots=True, eq=False)
class Angles:
    """The angles of all pairs of directions, in degrees."""

    counts: Int64[np.ndarray, " 180"]  # pairs from 0° to 1°, from 1° to 2° …
    smallest: float  # between two lines, 90 at most
    deviation: float  # root of the mean square of what is missing to 90°

    @property
    def cosine(self) -> float:
        """The largest |cosine|."""
        return math.cos(math.radians(self.smallest))

    def within(self, degrees: int) -> float:
        """The share of pairs that are so many degrees from orthogonal, or fewer."""
        middle = BINS // 2
        return float(self.counts[middle - degrees : middle + degrees].sum() / self.counts.sum())


def random_directions(count: int, dimensions: int, *, seed: int = 0) -> Float32[Tensor, "c n"]:
    """Vectors of length 1 that point anywhere."""
    if count < 2 or dimensions < 2:
        raise ValueError(f"{count} directions in {dimensions} dimensions have no angles; give 2 or more of both")
    return F.normalize(torch.randn(count, dimensions, generator=torch.Generator().manual_seed(seed)), dim=1)


def angles(directions: Float32[Tensor, "c n"]) -> Angles:
    """The angles between all pairs of directions."""
    v = _unit(directions)
    counts, top, square, pairs = torch.zeros(BINS, dtype=torch.float64), 0.0, 0.0, len(v) * (len(v) - 1) // 2
    for _, _, cosines in _strips(v):
        above = torch.ones_like(cosines, dtype=torch.bool).triu_(1)  # the strip begins on the diagonal
        some = cosines[above].clamp_(-1, 1)
        if some.numel():
            top = max(top, float(some.abs().max()))
            degrees = some.acos_().rad2deg_()
            counts += torch.histc(degrees, BINS, 0, 180).double()
            square += float(((degrees - 90) ** 2).sum(dtype=torch.float64))
    found = counts.long().numpy()
    return Angles(found, math.degrees(math.acos(min(top, 1.0))), math.sqrt(square / pairs))


def spread(
    directions: Float32[Tensor, "c n"], *, steps: int = 300, lr: float | int = 1.0, progress: Progress | None = None
) -> Float32[Tensor, "c n"]:
    """Turn directions away from each other so that the largest |cosine| becomes small; the best that was met.

    In each step all pairs whose |cosine| is above a threshold push each other away, by as much as it is above. The
    threshold is half of the largest |cosine| at first and nearly all of it in the end. Where many push, all of them
    push less.
    """
    if steps < 0 or not 0 < lr <= 2:
        raise ValueError(f"{steps} steps of {lr:g} spread nothing; give 0 or more, and above 0 to 2")
    v = _unit(directions)
    best, least, top = v, math.inf, 1.0
    for step in range(steps + 1):
        # The largest |cosine| is known only after all pairs, so that the threshold is that of the step before.
        threshold = top * (0.5 + 0.48 * step / max(steps, 1)) if step else math.inf
        forces, pushing, top = torch.zeros_like(v), 0, 0.0
        for first, last, cosines in _strips(v):
            own = last - first
            cosines[:, :own].fill_diagonal_(0)
            low, high = cosines.aminmax()
            top = max(top, -float(low), float(high))
            if step < 1:
                continue
            push = F.softshrink(cosines, threshold)
            pushing += int(push.count_nonzero())
            forces[first:last].addmm_(push, v[first:])
            forces[last:].addmm_(push[:, own:].T, v[first:last])
        if top < least:
            best, least = v.clone(), top
        crowd = max(1.0, 2 * pushing / v.numel())  # pairs that push a direction, for each dimension it may turn to
        v = F.normalize(v - lr / crowd * forces, dim=1)
        if progress is not None:
            progress((step + 1) / (steps + 1))
    return best


def johnson_lindenstrauss(count: int, dimensions: int) -> float:
    """The |cosine| that so many directions surely need not exceed, since random ones may already do.

    Two random directions have a |cosine| above ε with a chance below 2 exp(-n ε² / 2). If that times the number of
    pairs is below 1, some choice has no such pair: ε² = 4 ln(count) / n.
    """
    return min(1.0, math.sqrt(4 * math.log(count) / dimensions))


def surely_fit(dimensions: int, degrees: float | int) -> int:
    """How many directions surely fit with all angles of at least so many degrees, by the same lemma; n always do."""
    power = dimensions * math.cos(math.radians(degrees)) ** 2 / 4
    return max(dimensions, math.floor(math.exp(power)) if power < 700 else dimensions)


def welch(count: int, dimensions: int) -> float:
    """The |cosine| that some pair of so many directions must reach, however they are chosen (Welch 1974).

    There is a bound for each power of the cosines; the largest of them counts.
    """
    largest, power = 0.0, 1
    while (room := math.comb(dimensions + power - 1, power)) < count:
        largest = max(largest, ((count / room - 1) / (count - 1)) ** (1 / (2 * power)))
        power += 1
    return largest


def _strips(v: Float32[Tensor, "c n"]) -> Iterator[tuple[int, int, Float32[Tensor, "r m"]]]:
    """The cosines of the directions from `first` to `last`, with those from `first` on."""
    rows = max(1, STRIP // len(v))
    for first in range(0, len(v), rows):
        last = min(first + rows, len(v))
        yield first, last, v[first:last] @ v[first:].T


def _unit(directions: Float32[Tensor, "c n"]) -> Float32[Tensor, "c n"]:
    if directions.ndim != 2 or min(directions.shape) < 2:
        raise ValueError(f"a tensor of shape {tuple(directions.shape)} has no angles; give a row for each direction")
    lengths = directions.norm(dim=1)
    wrong = ~(lengths.isfinite() & (lengths > 0))
    if wrong.any():
        raise ValueError(f"direction {int(wrong.int().argmax())} has no length or is not finite; leave it out")
    return F.normalize(directions, dim=1)
