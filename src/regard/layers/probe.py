"""Pooling by attention: a learned query asks all tokens, and an MLP says what it has heard (Zhai 2022, SigLIP)."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import latent
from regard.layers.mlp import MLP


class Probe(nn.Module):
    """One vector for any number of tokens, asked for by a query that is the same for all of them."""

    def __init__(
        self, width: int, heads: int, hidden: int, *, activation: Callable[[], nn.Module] = nn.GELU, eps: float = 1e-6
    ) -> None:
        super().__init__()
        self.look = latent(1, width, heads)
        self.norm = nn.LayerNorm(width, eps=eps)
        self.mlp = MLP(width, hidden, activation=activation)

    def forward(self, tokens: Float[Tensor, "b n w"]) -> Float[Tensor, "b w"]:
        heard: Tensor = self.look(tokens)[:, 0]
        said: Tensor = heard + self.mlp(self.norm(heard))
        return said
