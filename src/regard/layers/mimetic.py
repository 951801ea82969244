"""Mimetic initialization: first weights of attention that look as trained ones do (Trockman 2023).

In trained models WqᵀWk has a strong diagonal and the product of value and output a negative one. Begun so, with
positions that are waves, a token looks at its neighbours from the first step on. A small model that has to find it out
by itself may spend most of a short training before it reads anything but single words.
"""

from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention
from regard.layers.position import Learned, LearnedCells, sinusoid
from regard.layers.position.cells import WaveCells

LOOK, BLEND = (0.7, 0.7), (0.4, 0.4)  # of noise and of the identity, as in §4 of the paper
SCALE = 0.02 * 2**0.5  # so that waves are as large as a table that is drawn with 0.02


@torch.no_grad()
def mimetic(model: nn.Module, *, look: tuple[float, float] = LOOK, blend: tuple[float, float] = BLEND) -> None:
    """Draw the projections of every attention anew, and begin learned positions as waves.

    Attentions whose projections are no square matrices, such as those between two widths, are left as they are.
    """
    for module in model.modules():
        if isinstance(module, Attention) and _is_square(module):
            _draw(module, look, blend)
        elif isinstance(module, Learned):
            count, width = module.table.shape
            module.table.copy_(sinusoid(torch.arange(count), width) * SCALE)
        elif isinstance(module, LearnedCells) and module.full:
            waves = WaveCells(module.table.shape[1], leading=module.leading)(module.rows, module.columns)
            module.table.copy_(waves * SCALE)


def _is_square(attn: Attention) -> bool:
    parts = [attn.q, attn.k, attn.v, attn.out]
    return all(isinstance(part, nn.Linear) and part.in_features == part.out_features for part in parts)


def _draw(attn: Attention, look: tuple[float, float], blend: tuple[float, float]) -> None:
    q, k, v, out = (cast(nn.Linear, part).weight for part in (attn.q, attn.k, attn.v, attn.out))
    width, head = len(q), len(q) // attn.heads
    for i in range(attn.heads):
        rows = slice(i * head, (i + 1) * head)
        # The best product of two narrow matrices is what the largest singular values make.
        asked, size, answered = torch.linalg.svd(_near_identity(width, *look))
        q[rows] = (asked[:, :head] * size[:head].sqrt()).T
        k[rows] = answered[:head] * size[:head].sqrt()[:, None]
    outwards, size, inwards = torch.linalg.svd(_near_identity(width, blend[0], -blend[1]))
    v.copy_(inwards * size.sqrt()[:, None])
    out.copy_(outwards * size.sqrt())


def _near_identity(width: int, noise: float, identity: float) -> Float[Tensor, "w w"]:
    drawn: Tensor = noise * torch.randn(width, width) / width**0.5 + identity * torch.eye(width)
    return drawn
