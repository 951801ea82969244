"""Feed-forward networks: what a block computes of each token alone, between two attentions."""

from collections.abc import Callable, Mapping
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.dropout import Dropout


class QuickGELU(nn.Module):
    """x · σ(1.702 x), a rougher GELU (Hendrycks 2016), with which CLIP was trained."""

    def forward(self, x: Float[Tensor, "*b w"]) -> Float[Tensor, "*b w"]:
        return x * torch.sigmoid(1.702 * x)


# By the name that configs use; `gelu_tanh` is the approximation of GPT-2, gelu_new in Hugging Face's configs.
ACTIVATIONS: Mapping[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "gelu_tanh": partial(nn.GELU, approximate="tanh"),
    "silu": nn.SiLU,
    "quick_gelu": QuickGELU,
}


class MLP(nn.Module):
    """Two linear layers with an activation between them (Vaswani 2017, eq. 2; there with ReLU)."""

    def __init__(
        self,
        width: int,
        hidden: int | None = None,
        *,
        activation: Callable[[], nn.Module] = nn.GELU,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        hidden = 4 * width if hidden is None else hidden
        self.up = nn.Linear(width, hidden, bias=bias)
        self.activation = activation()
        self.dropout = Dropout(dropout)
        self.down = nn.Linear(hidden, width, bias=bias)

    def forward(self, x: Float[Tensor, "*b w"]) -> Float[Tensor, "*b w"]:
        y: Tensor = self.down(self.dropout(self.activation(self.up(x))))
        return y


class GatedMLP(nn.Module):
    """Gated linear unit: one linear layer scales another; SwiGLU with SiLU, GEGLU with GELU (Shazeer 2020)."""

    def __init__(
        self,
        width: int,
        hidden: int | None = None,
        *,
        activation: Callable[[], nn.Module] = nn.SiLU,
        dropout: float = 0.0,
        bias: bool = False,
    ) -> None:
        super().__init__()
        # Two thirds of the usual hidden width: three matrices then have as many parameters as the two of `MLP` (§3).
        hidden = 8 * width // 3 if hidden is None else hidden
        self.gate = nn.Linear(width, hidden, bias=bias)
        self.up = nn.Linear(width, hidden, bias=bias)
        self.activation = activation()
        self.dropout = Dropout(dropout)
        self.down = nn.Linear(hidden, width, bias=bias)

    def forward(self, x: Float[Tensor, "*b w"]) -> Float[Tensor, "*b w"]:
        y: Tensor = self.down(self.dropout(self.activation(self.gate(x)) * self.up(x)))
        return y
