"""The Perceiver resampler: a few learned queries read features of any number, and give always as many tokens.

Flamingo puts it between what sees and what speaks (Alayrac 2022, §2.1); the queries are those of a Perceiver (Jaegle
2021).
"""

from collections.abc import Callable, Iterable
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import multihead
from regard.layers.mlp import MLP


class ResamplerBlock(nn.Module):
    """The latents look at the features and at themselves in one look, and then think for themselves."""

    def __init__(self, width: int, heads: int, hidden: int, activation: Callable[[], nn.Module] = nn.GELU) -> None:
        super().__init__()
        self.feature_norm, self.attn_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = multihead(width, heads, qkv_bias=False, out_bias=False)
        self.mlp_norm, self.mlp = nn.LayerNorm(width), MLP(width, hidden, activation=activation, bias=False)

    def forward(self, x: Float[Tensor, "b r w"], features: Float[Tensor, "b n w"]) -> Float[Tensor, "b r w"]:
        asked = self.attn_norm(x)
        x = x + self.attn(asked, self.attn.remember(torch.cat((asked, self.feature_norm(features)), dim=1)))
        y: Tensor = x + self.mlp(self.mlp_norm(x))
        return y


class Resampler(nn.Module):
    """Features of one frame or several become `latents` tokens; each frame is known by a learned vector of its time."""

    def __init__(
        self,
        width: int,
        latents: int,
        *,
        depth: int,
        heads: int,
        hidden: int,
        frames: int = 1,
        activation: Callable[[], nn.Module] = nn.GELU,
    ) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(latents, width) * 0.02)
        self.times = nn.Parameter(torch.randn(frames, 1, width) * 0.02)
        self.blocks = nn.ModuleList(ResamplerBlock(width, heads, hidden, activation) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def forward(self, features: Float[Tensor, "b f n w"]) -> Float[Tensor, "b r w"]:
        frames = features.shape[1]
        if frames > len(self.times):
            raise ValueError(f"{frames} frames are more than the {len(self.times)} that have a time; give fewer")
        seen = (features + self.times[:frames]).flatten(1, 2)
        x = self.queries.expand(features.shape[0], -1, -1)
        for block in cast("Iterable[ResamplerBlock]", self.blocks):
            x = block(x, seen)
        y: Tensor = self.norm(x)
        return y
