"""Residual connections: how a branch joins the stream that runs through a network."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.dropout import Dropout


class Residual(nn.Module):
    """Add a branch to the stream, with dropout, LayerScale and stochastic depth on the way.

    `layer_scale` starts a learned factor for each channel (Touvron 2021); `drop_path` is the probability that a
    sample skips the branch in training (Huang 2016).
    """

    def __init__(
        self, width: int, *, dropout: float = 0.0, layer_scale: float | None = None, drop_path: float = 0.0
    ) -> None:
        super().__init__()
        if not 0.0 <= drop_path < 1.0:
            raise ValueError(f"drop_path {drop_path} leaves no sample to learn from; give 0 to below 1")
        self.dropout = Dropout(dropout)
        self.layer_scale = None if layer_scale is None else nn.Parameter(torch.full((width,), layer_scale))
        self.drop_path = drop_path

    def forward(self, x: Float[Tensor, "b *n w"], branch: Float[Tensor, "b *n w"]) -> Float[Tensor, "b *n w"]:
        y: Tensor = self.dropout(branch)
        if self.layer_scale is not None:
            y = y * self.layer_scale
        if self.drop_path and self.training:
            keep = torch.rand(y.shape[0], *[1] * (y.ndim - 1), device=y.device) >= self.drop_path
            y = y * keep / (1.0 - self.drop_path)  # so that the expected sum is the same as at test time
        return x + y
