"""Hard attention: answer a look with one value, drawn with the soft weights as its chances (Xu 2015, §4.1)."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.core import Look
from regard.attention.kernel import product


@dataclass(frozen=True, slots=True)
class Picked:
    """One key for each query, and how likely that choice was."""

    y: Float[Tensor, "b h q e"]
    key: Int[Tensor, "b h q"]  # -1 where a query sees nothing
    log_prob: Float[Tensor, "b h q"]  # what REINFORCE multiplies with the reward; 0 for a blind query
    weights: Float[Tensor, "b h q k"]  # the chances that it was drawn with


def pick(
    look: Look,
    v: Float[Tensor, "b g k e"],
    *,
    sample: bool = True,
    straight_through: bool = False,
    generator: torch.Generator | None = None,
) -> Picked:
    """Look at one key only: a drawn one, or the argmax with `sample=False`.

    A choice has no gradient of its own. With `straight_through` the answer borrows the soft one's (biased, steady);
    without it, the reward reaches the question through `log_prob` (unbiased, noisy).
    """
    weights = look.weights()
    rows = weights.flatten(0, 2)
    blind = rows.sum(dim=-1) == 0
    chances = rows.detach().masked_fill(blind[:, None], 1.0)
    key = torch.multinomial(chances, 1, generator=generator) if sample else chances.argmax(dim=-1, keepdim=True)
    chosen = torch.zeros_like(rows).scatter_(1, key, 1.0).masked_fill(blind[:, None], 0.0).view_as(weights)
    likely = rows.gather(1, key)[:, 0].masked_fill(blind, 1.0)
    return Picked(
        y=product(chosen + weights - weights.detach() if straight_through else chosen, v),
        key=key[:, 0].masked_fill(blind, -1).view(weights.shape[:-1]),
        log_prob=likely.log().view(weights.shape[:-1]),
        weights=weights,
    )
