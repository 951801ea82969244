"""How far a map can be trusted: which neighbours it keeps, and which it makes up."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.analysis.maps.distances import Distances
from regard.analysis.maps.map import Points, as_points

SAMPLE = 2000  # points that are asked at most
ROOM = 1 << 21  # distances that are looked at together


@dataclass(frozen=True, slots=True)
class Quality:
    """The share of nearest neighbours that stay so, and trustworthiness (Venna and Kaski 2001); both are 1 at best.

    Trustworthiness counts by how far a neighbour on the map comes from beyond the true ones: a lucky guess is near 0.5.
    """

    preservation: float
    trustworthiness: float
    neighbours: int  # how many of each point; fewer than asked for where the set is small
    asked: int  # points: all, or a sample of a large set


def quality(points: Points, places: Points, neighbours: int = 10, *, sample: int = SAMPLE, seed: int = 0) -> Quality:
    """Compare the nearest `neighbours` of points with those of their places; of a large set a `sample` is asked."""
    near, far = as_points(places), as_points(points)
    if len(near) != len(far):
        raise ValueError(f"{len(near)} places are not those of {len(far)} points; give one for each")
    if len(far) < 3:
        raise ValueError(f"{len(far)} points have no neighbours to mistake; give 3 or more")
    if neighbours < 1:
        raise ValueError(f"{neighbours} neighbours cannot be compared; give 1 or more")
    count = len(far)
    k = min(neighbours, (count - 1) // 2)  # with half of the set, trustworthiness has no meaning
    asked = _sample(count, sample, seed)
    true_distances, shown_distances = Distances(far), Distances(near)
    kept, beyond = 0, 0
    for rows in asked.split(max(1, ROOM // count)):
        true, shown = true_distances.rows(rows), shown_distances.rows(rows)
        real = true.topk(k, dim=1, largest=False).indices
        seen = shown.topk(k, dim=1, largest=False).indices
        kept += int((real[:, :, None] == seen[:, None, :]).sum())
        for j in range(k):  # how many points are truly nearer than each neighbour on the map
            rank = (true < true.gather(1, seen[:, j : j + 1])).sum(dim=1) + 1
            beyond += int((rank - k).clamp(min=0).sum())
    trust = 1 - beyond * 2 / (len(asked) * k * (2 * count - 3 * k - 1))
    return Quality(kept / (len(asked) * k), trust, k, len(asked))


def agreement(places: Points, labels: Int[np.ndarray, " n"], neighbours: int = 10) -> float:
    """The share of nearest neighbours on a map that have the label of their point."""
    table = as_points(places)
    if len(labels) != len(table):
        raise ValueError(f"{len(labels)} labels are not those of {len(table)} places; give one for each")
    k = min(neighbours, len(table) - 1)
    distances, kinds, equal = Distances(table), torch.tensor(labels), 0
    for rows in torch.arange(len(table)).split(max(1, ROOM // len(table))):
        seen = distances.rows(rows).topk(k, dim=1, largest=False).indices
        equal += int((kinds[seen] == kinds[rows][:, None]).sum())
    return equal / (len(table) * k)


def _sample(count: int, most: int, seed: int) -> Int[Tensor, " r"]:
    if count <= most:
        return torch.arange(count)
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))[:most]
