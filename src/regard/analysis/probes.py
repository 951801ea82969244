"""Linear probes: how much a logistic regression reads from features that stay as they are (Radford 2021, §3.2)."""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.analysis.scores import Score, accuracy

STRENGTHS = tuple(10.0**power for power in range(-5, 1))  # of weight decay, the best of which is chosen
STEPS = 100  # of L-BFGS, as many as matter


class Probe(NamedTuple):
    """A trained classifier of features, and how well it does."""

    weight: Float[Tensor, "c w"]
    bias: Float[Tensor, " c"]
    strength: float
    score: Score
    hits: tuple[bool, ...]


def linear_probe(
    train: tuple[Float[np.ndarray, "n w"], Int[np.ndarray, " n"]],
    test: tuple[Float[np.ndarray, "m w"], Int[np.ndarray, " m"]],
    *,
    held: float = 0.2,
) -> Probe:
    """Accuracy on the test of a logistic regression on features of train.

    Features are scaled to mean 0 and deviation 1 as those of train. A share is held back to choose how strongly weights
    are pulled to zero; then all of train is learnt.
    """
    x, y = torch.as_tensor(train[0]).float(), torch.as_tensor(train[1]).long()
    if len(x) < 5 or len(x) != len(y):
        raise ValueError(f"{len(x)} features and {len(y)} classes teach nothing; give equally many, 5 or more")
    mean, scale = x.mean(dim=0), x.std(dim=0).clamp(min=1e-6)
    x, classes = (x - mean) / scale, int(y.max()) + 1
    # Every fifth is held back or so: any order will do but one that is sorted by class in steps of five.
    back = torch.arange(len(x)) % max(2, round(1 / held)) == 0
    tried = {strength: _fit(x[~back], y[~back], classes, strength) for strength in STRENGTHS}
    best = max(STRENGTHS, key=lambda strength: _right(tried[strength], x[back], y[back]).float().mean().item())
    weight, bias = _fit(x, y, classes, best)
    asked = (torch.as_tensor(test[0]).float() - mean) / scale
    hits = _right((weight, bias), asked, torch.as_tensor(test[1]).long()).tolist()
    return Probe(weight, bias, best, accuracy(hits), tuple(hits))


def _fit(x: Tensor, y: Tensor, classes: int, strength: float) -> tuple[Tensor, Tensor]:
    weight = nn.Parameter(torch.zeros(classes, x.shape[1]))
    bias = nn.Parameter(torch.zeros(classes))
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=STEPS, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        lost = F.cross_entropy(F.linear(x, weight, bias), y) + strength / 2 * weight.square().sum()
        lost.backward()
        return lost

    optimizer.step(closure)
    return weight.detach(), bias.detach()


def _right(probe: tuple[Tensor, Tensor], x: Tensor, y: Tensor) -> Tensor:
    return F.linear(x, *probe).argmax(dim=1) == y
