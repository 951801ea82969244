"""What each token thinks over on its own, between two looks at the others."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.dropout import Dropout


class MLP(nn.Module):
    """Two linears with a bend between them (Vaswani 2017, eq. 2; there with ReLU)."""

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
    """One linear opens and closes another: SwiGLU with SiLU, GEGLU with GELU (Shazeer 2020)."""

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
        # Two thirds of the usual hidden width: three matrices then weigh as much as the two of `MLP` (§3).
        hidden = 8 * width // 3 if hidden is None else hidden
        self.gate = nn.Linear(width, hidden, bias=bias)
        self.up = nn.Linear(width, hidden, bias=bias)
        self.activation = activation()
        self.dropout = Dropout(dropout)
        self.down = nn.Linear(hidden, width, bias=bias)

    def forward(self, x: Float[Tensor, "*b w"]) -> Float[Tensor, "*b w"]:
        y: Tensor = self.down(self.dropout(self.activation(self.gate(x)) * self.up(x)))
        return y
