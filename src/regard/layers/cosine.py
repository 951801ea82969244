"""Scaled cosine attention: heads of unit length, and a temperature that each head learns (Liu 2022, §3.2).

Both stand where norms of queries and keys do, so that the score stays a product and the fused kernel serves it::

    Attention(…, score=Dot(1.0), q_norm=Temperature(heads), k_norm=UnitLength())
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

HIGHEST = math.log(100.0)  # of the logarithm, so that no score is beyond ±100


class UnitLength(nn.Module):
    """Only the direction of each head's vector is kept."""

    def forward(self, x: Float[Tensor, "b h n d"]) -> Float[Tensor, "b h n d"]:
        return F.normalize(x, dim=-1)


class Temperature(nn.Module):
    """Directions, made longer by a learned factor for each head; it starts at 10 and ends at 100."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.full((heads, 1, 1), math.log(10.0)))

    def forward(self, x: Float[Tensor, "b h n d"]) -> Float[Tensor, "b h n d"]:
        return F.normalize(x, dim=-1) * self.log_scale.clamp(max=HIGHEST).exp()
