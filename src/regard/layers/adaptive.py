"""Adaptive norms: a vector, such as the time of a denoiser, says how each branch is scaled, moved and let through."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention, Memory
from regard.attention.masks import Visible
from regard.layers.blocks import NO_CONTEXT, NO_CROSS

PARTS = 6  # shift, scale and gate of the attention, and of the MLP


class AdaptiveBlock(nn.Module):
    """A pre-norm block whose norms have no weights of their own but are told them (adaLN-zero, Peebles 2023).

    What is told is the same for all blocks, and each adds a table of its own (adaLN-single, Chen 2023), which saves a
    third of the parameters. A cross-attention reads the plain norm and is always let through.
    """

    def __init__(self, width: int, attn: Attention, mlp: nn.Module, *, cross: Attention | None = None) -> None:
        super().__init__()
        self.attn_norm, self.attn = nn.LayerNorm(width, eps=1e-6, elementwise_affine=False), attn
        self.cross = cross
        if cross is not None:
            self.cross_norm = nn.LayerNorm(width, eps=1e-6)
        self.mlp_norm, self.mlp = nn.LayerNorm(width, eps=1e-6, elementwise_affine=False), mlp
        self.table = nn.Parameter(torch.zeros(PARTS, width))

    def forward(
        self,
        x: Float[Tensor, "b n w"],
        told: Float[Tensor, "b 6 w"],
        context: Memory | None = None,
        *,
        visible: Visible | None = None,
    ) -> Float[Tensor, "b n w"]:
        """`told` are the shift, the scale and the gate of the attention, then those of the MLP."""
        if (self.cross is None) != (context is None):
            raise ValueError(NO_CONTEXT if context is None else NO_CROSS)
        first = (told + self.table)[:, :, None].unbind(dim=1)
        x = x + first[2] * self.attn(modulate(self.attn_norm(x), *first[:2]), visible=visible)
        if self.cross is not None:
            x = x + self.cross(self.cross_norm(x), context)
        y: Tensor = x + first[5] * self.mlp(modulate(self.mlp_norm(x), *first[3:5]))
        return y


def modulate(
    x: Float[Tensor, "b n w"], shift: Float[Tensor, "b 1 w"], scale: Float[Tensor, "b 1 w"]
) -> Float[Tensor, "b n w"]:
    """Tokens scaled and moved, all of a row alike; zeros leave them as they are."""
    return torch.addcmul(shift, x, 1 + scale)
