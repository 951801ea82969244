"""Grouping: tokens of a picture are handed to groups, each to one, and a group becomes the mean of what it got.

The softmax runs over groups and not over what is looked at, so that groups compete for tokens (Xu 2022; slot attention,
Locatello 2020). The choice is hard, and gradients pass as if it were soft (straight-through, van den Oord 2017).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.mlp import MLP


class Grouped(NamedTuple):
    """Groups, and to which of them each token went."""

    tokens: Float[Tensor, "b g w"]
    chosen: Float[Tensor, "b g n"]  # 1 for the group of a token and 0 for all others
    soft: Float[Tensor, "b g n"]  # how nearly it was another


class Grouping(nn.Module):
    """Tokens are given to the groups they are most like, by Gumbel noise in training (Xu 2022, eq. 3 to 6)."""

    def __init__(self, width: int, hidden: int, *, eps: float = 1e-6) -> None:
        super().__init__()
        self.group_norm, self.token_norm = nn.LayerNorm(width, eps=eps), nn.LayerNorm(width, eps=eps)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.mlp_norm, self.mlp = nn.LayerNorm(width, eps=eps), MLP(width, hidden)

    def forward(self, groups: Float[Tensor, "b g w"], tokens: Float[Tensor, "b n w"]) -> Grouped:
        asked, given = self.group_norm(groups), self.token_norm(tokens)
        logits = self.q(asked) @ self.k(given).mT * groups.shape[-1] ** -0.5
        soft = logits.softmax(dim=1)
        if self.training:
            noise = -torch.empty_like(logits).exponential_().log()
            soft = (logits + noise).softmax(dim=1)
        hard = torch.zeros_like(soft).scatter(1, soft.argmax(dim=1, keepdim=True), 1.0)
        chosen = hard + soft - soft.detach()
        # A group that got nothing stays as it was.
        share = chosen / chosen.sum(dim=-1, keepdim=True).clamp(min=1.0)
        x = groups + self.out(share @ self.v(given))
        return Grouped(x + self.mlp(self.mlp_norm(x)), chosen, soft)


def through(stages: Sequence[Float[Tensor, "b _ _"]]) -> Float[Tensor, "b _ _"]:
    """To which last group each first token went, through all stages between."""
    found = stages[0]
    for each in stages[1:]:
        found = each @ found
    return found


def masks_of(chosen: Float[Tensor, "b g n"], grid: tuple[int, int], size: tuple[int, int]) -> Float[Tensor, "b g y x"]:
    """Groups as masks over a picture of some size, blurred between the cells."""
    cells = torch.unflatten(chosen, -1, grid)
    return F.interpolate(cells.float(), size=size, mode="bilinear", align_corners=False)
