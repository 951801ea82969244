"""How likely a point would pick each other as its neighbour: a Gaussian around it, as wide as a perplexity asks.

The perplexity is the number of neighbours that a point effectively has: 2 to the entropy of its picks in bits. Wide and
narrow Gaussians are found by Newton's method on the logarithm of the precision, kept between two that are known to be
too wide and too narrow.
"""

import math

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from regard.analysis.maps.distances import Distances
from regard.progress import Progress

ROUNDS = 60
NEAR = 1e-6  # of the entropy, in nats
ROOM = 1 << 20  # distances that are looked at together


def lower_perplexity(perplexity: float | int, points: int) -> tuple[float, str]:
    """The perplexity that so many points allow, and a sentence where it is not the one asked for.

    Three times as many others are needed, as t-SNE's author has it; with fewer, everybody is everybody's neighbour.
    """
    if not (math.isfinite(perplexity) and perplexity >= 1):
        raise ValueError(f"a perplexity of {perplexity:g} is no number of neighbours; give 1 or more, as 30")
    most = max(1.0, (points - 1) / 3)
    if perplexity <= most:
        return float(perplexity), ""
    return most, f"perplexity {perplexity:g} is too large for {points} points and was lowered to {most:.3g}"


def joint_probabilities(
    points: Float[np.ndarray, "n d"], perplexity: float | int, progress: Progress | None = None
) -> Float32[Tensor, "n n"]:
    """p_ij of all pairs, which add up to 1: the mean of how likely i picks j and j picks i."""
    distances, count = Distances(points), len(points)
    p = torch.empty(count, count)
    for rows in torch.arange(count).split(max(1, ROOM // count)):
        p[rows] = conditional_probabilities(distances.rows(rows), perplexity).float()
        if progress is not None:
            progress(int(rows[-1] + 1) / count)
    side = 1024  # in place, block by block: a second table might not fit
    for i in range(0, count, side):
        for j in range(i, count, side):
            here, there = p[i : i + side, j : j + side], p[j : j + side, i : i + side]
            both = (here + there.T) / (2 * count)
            here.copy_(both)
            there.copy_(both.T)
    return p


def conditional_probabilities(distances: Float[Tensor, "r n"], perplexity: float | int) -> Float[Tensor, "r n"]:
    """How likely some points pick each of all, from squared distances; what is infinitely far is not picked.

    Probabilities are exp(-β d), with that β of each row whose entropy is the logarithm of the perplexity.
    """
    wanted = math.log(perplexity)
    distances = distances - distances.amin(dim=1, keepdim=True)  # the nearest may always be picked
    away = distances.nan_to_num(posinf=0.0)
    scale = away.mean(dim=1)
    log_beta = -torch.where(scale > 0, scale, 1.0).log()  # where all are as near, any will do
    low, high = log_beta - 60, log_beta + 60
    p = distances
    for _ in range(ROUNDS):
        beta = log_beta.exp()
        p = torch.exp(distances * -beta[:, None])
        total = p.sum(dim=1)
        p /= total[:, None]
        weighed = p * away
        mean = weighed.sum(dim=1)
        over = total.log() + beta * mean - wanted
        if float(over.abs().max()) < NEAR:
            break
        wide = over > 0
        low, high = torch.where(wide, log_beta, low), torch.where(wide, high, log_beta)
        # The entropy falls by β² times the variance of the distances as log β grows.
        slope = beta**2 * (torch.linalg.vecdot(weighed, away) - mean**2)
        step = log_beta + (over / slope.clamp(min=1e-12)).clamp(-4, 4)
        log_beta = torch.where((step > low) & (step < high), step, (low + high) / 2)
    return p
