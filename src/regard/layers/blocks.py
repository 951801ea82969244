"""The Transformer's blocks: look at the others, look at a context, think it over; each time, add to the stream.

A block takes tokens "b n w", or a map "b h w c" where its attention is `Partitioned`.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import Attention, Memory
from regard.attention.masks import Visible
from regard.layers.residual import Residual

Norm = Callable[[int], nn.Module]  # nn.LayerNorm, nn.RMSNorm, or either with its settings in a partial


class Block(nn.Module):
    """Pre-norm: each branch reads a normalised copy, and the stream itself runs through untouched (Xiong 2020)."""

    def __init__(
        self,
        width: int,
        attn: nn.Module,
        mlp: nn.Module,
        *,
        cross: Attention | None = None,
        norm: Norm = nn.LayerNorm,
        dropout: float = 0.0,
        scale: float | None = None,
        skip: float = 0.0,
    ) -> None:
        super().__init__()

        def join() -> Residual:
            return Residual(width, dropout=dropout, scale=scale, skip=skip)

        self.attn_norm, self.attn, self.attn_join = norm(width), attn, join()
        self.cross = cross
        if cross is not None:
            self.cross_norm, self.cross_join = norm(width), join()
        self.mlp_norm, self.mlp, self.mlp_join = norm(width), mlp, join()

    def forward(
        self, x: Float[Tensor, "b *n w"], context: Memory | None = None, *, visible: Visible | None = None
    ) -> Float[Tensor, "b *n w"]:
        """Look within x, and at a context where the block has a `cross`: `context = block.cross.remember(encoded)`."""
        return self._rest(self.attn_join(x, self.attn(self.attn_norm(x), visible=visible)), context)

    def step(
        self,
        x: Float[Tensor, "b n w"],
        past: Memory | None = None,
        context: Memory | None = None,
        *,
        visible: Bool[Tensor, "b 1 1 n"] | None = None,
    ) -> tuple[Float[Tensor, "b n w"], Memory]:
        """The next tokens of a causal sequence: what came before is remembered, not computed again.

        `visible` is the padding among the new tokens, which stays hidden in every later step.
        """
        y, memory = _next(self.attn, self.attn_norm(x), past, visible)
        return self._rest(self.attn_join(x, y), context), memory

    def _rest(self, x: Tensor, context: Memory | None) -> Tensor:
        _expects(self.cross, context)
        if self.cross is not None:
            x = self.cross_join(x, self.cross(self.cross_norm(x), context))
        y: Tensor = self.mlp_join(x, self.mlp(self.mlp_norm(x)))
        return y


class PostNormBlock(Block):
    """Post-norm, as published: the stream is normalised after each branch has joined (Vaswani 2017, §3.1)."""

    def forward(
        self, x: Float[Tensor, "b *n w"], context: Memory | None = None, *, visible: Visible | None = None
    ) -> Float[Tensor, "b *n w"]:
        return self._rest(self.attn_norm(self.attn_join(x, self.attn(x, visible=visible))), context)

    def step(
        self,
        x: Float[Tensor, "b n w"],
        past: Memory | None = None,
        context: Memory | None = None,
        *,
        visible: Bool[Tensor, "b 1 1 n"] | None = None,
    ) -> tuple[Float[Tensor, "b n w"], Memory]:
        y, memory = _next(self.attn, x, past, visible)
        return self._rest(self.attn_norm(self.attn_join(x, y)), context), memory

    def _rest(self, x: Tensor, context: Memory | None) -> Tensor:
        _expects(self.cross, context)
        if self.cross is not None:
            x = self.cross_norm(self.cross_join(x, self.cross(x, context)))
        y: Tensor = self.mlp_norm(self.mlp_join(x, self.mlp(x)))
        return y


class GatedBlock(nn.Module):
    """Looks at a context through gates that start closed, so that it can join a trained model unseen (Alayrac 2022).

    Build the cross-attention without `offset`: a word that sees no image then passes it by untouched.
    """

    def __init__(self, width: int, cross: Attention, mlp: nn.Module, *, norm: Norm = nn.LayerNorm) -> None:
        super().__init__()
        self.cross_norm, self.cross, self.cross_gate = norm(width), cross, nn.Parameter(torch.zeros(1))
        self.mlp_norm, self.mlp, self.mlp_gate = norm(width), mlp, nn.Parameter(torch.zeros(1))

    def forward(
        self, x: Float[Tensor, "b n w"], context: Memory, *, visible: Visible | None = None
    ) -> Float[Tensor, "b n w"]:
        x = x + self.cross_gate.tanh() * self.cross(self.cross_norm(x), context, visible=visible)
        y: Tensor = x + self.mlp_gate.tanh() * self.mlp(self.mlp_norm(x))
        return y


def _next(attn: nn.Module, x: Tensor, past: Memory | None, visible: Tensor | None) -> tuple[Tensor, Memory]:
    if not isinstance(attn, Attention):
        raise TypeError(
            f"{type(attn).__name__} has no past to continue; only a block around an Attention goes in steps"
        )
    return attn.step(x, past, visible=visible)


def _expects(cross: Attention | None, context: Memory | None) -> None:
    """A cross-attention without its context would quietly look at itself, and a context without one be ignored."""
    if cross is not None and context is None:
        raise ValueError("this block looks at a context; give it context=block.cross.remember(encoded)")
    if cross is None and context is not None:
        raise ValueError("this block looks at no context; build it with cross=multihead(…), or leave the context out")
