"""How a branch joins the stream that runs through a network."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.dropout import Dropout


class Residual(nn.Module):
    """Add a branch to the stream: thinned by dropout, weighed by LayerScale, and skipped now and then.

    `scale` starts a learned weight for each channel (Touvron 2021, LayerScale); `skip` is the chance that a sample
    passes the branch by in training (Huang 2016, stochastic depth).
    """

    def __init__(self, width: int, *, dropout: float = 0.0, scale: float | None = None, skip: float = 0.0) -> None:
        super().__init__()
        if not 0.0 <= skip < 1.0:
            raise ValueError(f"skip {skip} leaves no sample to learn from; give a chance from 0 to below 1")
        self.dropout = Dropout(dropout)
        self.scale = None if scale is None else nn.Parameter(torch.full((width,), scale))
        self.skip = skip

    def forward(self, x: Float[Tensor, "b *n w"], branch: Float[Tensor, "b *n w"]) -> Float[Tensor, "b *n w"]:
        y: Tensor = self.dropout(branch)
        if self.scale is not None:
            y = y * self.scale
        if self.skip and self.training:
            keep = torch.rand(y.shape[0], *[1] * (y.ndim - 1), device=y.device) >= self.skip
            y = y * keep / (1.0 - self.skip)  # so that the expected sum is the same as at test time
        return x + y
