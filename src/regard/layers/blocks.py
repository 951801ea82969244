"""Transformer blocks: self-attention, cross-attention and an MLP, each added to the residual stream.

A block takes tokens "b n w", or a map "b h w c" where its attention is `Partitioned`.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Attention, Memory
from regard.attention.masks import Visible
from regard.layers.residual import Residual

Norm = Callable[[int], nn.Module]  # nn.LayerNorm, nn.RMSNorm, or either with its settings in a partial

# A cross-attention without its context would quietly look at itself, and a context without one be ignored.
NO_CONTEXT = "this block looks at a context; give it context=block.cross.remember(encoded)"
NO_CROSS = "this block looks at no context; build it with cross=multihead(…), or leave the context out"
NO_PAST = "{} has no past to continue; only a block around an Attention goes in steps"


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
        layer_scale: float | None = None,
        drop_path: float = 0.0,
    ) -> None:
        super().__init__()

        def join() -> Residual:
            return Residual(width, dropout=dropout, layer_scale=layer_scale, drop_path=drop_path)

        self.attn_norm, self.attn, self.attn_join = norm(width), attn, join()
        self.cross = cross
        if cross is not None:
            self.cross_norm, self.cross_join = norm(width), join()
        self.mlp_norm, self.mlp, self.mlp_join = norm(width), mlp, join()

    def forward(
        self,
        x: Float[Tensor, "b *n w"],
        context: Memory | None = None,
        *,
        where: Float[Tensor, "#b *n w"] | None = None,
        visible: Visible | None = None,
        context_visible: Visible | None = None,
        positions: Int[Tensor, "#b n"] | None = None,
    ) -> Float[Tensor, "b *n w"]:
        """Attend to x itself, and to a context where the block has a `cross`: `block.cross.remember(encoded)`.

        `where` are positions, added to the queries of both attentions and to the keys of x, never to values (DETR,
        SAM); those of the context are given to `remember`. `context_visible` is the mask of the cross-attention.
        `positions` are what a rotary attention turns by, where they do not count from 0.
        """
        if (self.cross is None) != (context is None):
            raise ValueError(NO_CONTEXT if context is None else NO_CROSS)
        x = self.attn_join(x, self.attn(self.attn_norm(x), where=where, visible=visible, positions=positions))
        if self.cross is not None:
            x = self.cross_join(x, self.cross(self.cross_norm(x), context, where=where, visible=context_visible))
        y: Tensor = self.mlp_join(x, self.mlp(self.mlp_norm(x)))
        return y

    def step(
        self,
        x: Float[Tensor, "b n w"],
        past: Memory | None = None,
        context: Memory | None = None,
        *,
        visible: Bool[Tensor, "b 1 1 n"] | None = None,
        positions: Int[Tensor, "#b n"] | None = None,
    ) -> tuple[Float[Tensor, "b n w"], Memory]:
        """The next tokens of a causal sequence: `past` holds the keys and values of those before, the KV cache.

        `visible` is the padding among the new tokens, which stays hidden in every later step; `positions` are theirs,
        where they do not follow on the past's.
        """
        if (self.cross is None) != (context is None):
            raise ValueError(NO_CONTEXT if context is None else NO_CROSS)
        if not isinstance(self.attn, Attention):
            raise TypeError(NO_PAST.format(type(self.attn).__name__))
        y, past = self.attn.step(self.attn_norm(x), past, visible=visible, positions=positions)
        x = self.attn_join(x, y)
        if self.cross is not None:
            x = self.cross_join(x, self.cross(self.cross_norm(x), context))
        x = self.mlp_join(x, self.mlp(self.mlp_norm(x)))
        return x, past


class PostNormBlock(Block):
    """Post-norm, as published: the stream is normalised after each branch has joined (Vaswani 2017, §3.1)."""

    def forward(
        self,
        x: Float[Tensor, "b *n w"],
        context: Memory | None = None,
        *,
        where: Float[Tensor, "#b *n w"] | None = None,
        visible: Visible | None = None,
        context_visible: Visible | None = None,
        positions: Int[Tensor, "#b n"] | None = None,
    ) -> Float[Tensor, "b *n w"]:
        if (self.cross is None) != (context is None):
            raise ValueError(NO_CONTEXT if context is None else NO_CROSS)
        x = self.attn_norm(self.attn_join(x, self.attn(x, where=where, visible=visible, positions=positions)))
        if self.cross is not None:
            x = self.cross_norm(self.cross_join(x, self.cross(x, context, where=where, visible=context_visible)))
        y: Tensor = self.mlp_norm(self.mlp_join(x, self.mlp(x)))
        return y

    def step(
        self,
        x: Float[Tensor, "b n w"],
        past: Memory | None = None,
        context: Memory | None = None,
        *,
        visible: Bool[Tensor, "b 1 1 n"] | None = None,
        positions: Int[Tensor, "#b n"] | None = None,
    ) -> tuple[Float[Tensor, "b n w"], Memory]:
        if (self.cross is None) != (context is None):
            raise ValueError(NO_CONTEXT if context is None else NO_CROSS)
        if not isinstance(self.attn, Attention):
            raise TypeError(NO_PAST.format(type(self.attn).__name__))
        y, past = self.attn.step(x, past, visible=visible, positions=positions)
        x = self.attn_norm(self.attn_join(x, y))
        if self.cross is not None:
            x = self.cross_norm(self.cross_join(x, self.cross(x, context)))
        x = self.mlp_norm(self.mlp_join(x, self.mlp(x)))
        return x, past


class GatedBlock(nn.Module):
    """Cross-attention and MLP behind tanh gates that start closed, to be put into a trained model (Alayrac 2022).

    Build the cross-attention without `qkv_bias` and `out_bias`: a word that sees no image then passes unchanged.
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
