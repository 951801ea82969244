"""The attention equation, once: put a look, weigh what it may see, answer it::

    weights = softmax(score(q, k) + bias), over the visible keys
    y = weights · v

Every attention of the library passes through `mix`, and every weight that is shown through `weigh`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from regard.attention.masks import Causal, Visible


@dataclass(frozen=True, slots=True)
class Dot:
    """Luong's dot score with `scale=1.0`; the Transformer's with the default, one over the root of the width."""

    scale: float | None = None

    def __call__(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k d"]) -> Float[Tensor, "b h q k"]:
        # Scaling q before the product touches n·d numbers instead of n², and keeps large products in range.
        return product(q * (q.shape[-1] ** -0.5 if self.scale is None else self.scale), k.mT)


class Additive(nn.Module):
    """Bahdanau's score: a one-layer network looks at each query beside each key."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.energy = nn.Linear(width, 1, bias=False)

    def forward(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b h k d"]) -> Float[Tensor, "b h q k"]:
        energy: Tensor = self.energy(torch.tanh(q[..., :, None, :] + k[..., None, :, :]))
        return energy.squeeze(-1)


Score = Dot | Additive


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A question put to attention, before it is answered."""

    q: Float[Tensor, "b h q d"]
    # g divides h: groups of query heads may share one head of keys; s divides b: so may neighbouring rows.
    k: Float[Tensor, "s g k d"]
    score: Score = Dot()
    visible: Visible | None = None
    bias: Float[Tensor, "*#bh #q #k"] | None = None
    edit: "Edit | None" = None  # what a watcher puts in place of the weights

    def weights(self) -> Float[Tensor, "b h q k"]:
        """How much each query takes from each key."""
        if self.edit is not None:
            return self.edit(replace(self, edit=None))
        scores = _apart(self.score(_together(self.q, len(self.k)), self.k), len(self.q))
        return weigh(scores if self.bias is None else scores + self.bias, self._drawn())

    def _drawn(self) -> Bool[Tensor, "*#bh #q #k"] | None:
        return self.visible.draw(self.q.device) if isinstance(self.visible, Causal) else self.visible


Edit = Callable[[Look], Float[Tensor, "b h q k"]]


def weigh(
    scores: Float[Tensor, "*bh q k"], visible: Bool[Tensor, "*#bh #q #k"] | None = None
) -> Float[Tensor, "*bh q k"]:
    """Softmax over the visible keys; a query that sees nothing weighs nothing."""
    if visible is None:
        return scores.softmax(dim=-1)
    blind = ~visible.any(dim=-1, keepdim=True)
    # Blind rows stay finite through the softmax: zeroing a NaN afterwards would still poison the gradient.
    hidden = ~(visible | blind)
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1).masked_fill(blind, 0.0)


def mix(look: Look, v: Float[Tensor, "s g k e"], *, dropout: float = 0.0) -> Float[Tensor, "b h q e"]:
    """Answer a look: by the fused kernel when nobody needs the weights, written out where that is faster."""
    if look.edit is None and isinstance(look.score, Dot) and not _written_out_is_faster(look, dropout):
        return _fused(look, look.score.scale, v, dropout)
    weights = _together(F.dropout(look.weights(), dropout), len(v))
    return _apart(product(weights, v), len(look.q))


def product(x: Float[Tensor, "b h m i"], y: Float[Tensor, "b g i n"]) -> Float[Tensor, "b h m n"]:
    """The matrix product head by head, where each head of y serves h/g neighbouring heads of x."""
    heads, groups = x.shape[1], y.shape[1]
    if heads == groups:
        return x @ y
    return (torch.unflatten(x, 1, (groups, heads // groups)) @ y[:, :, None]).flatten(1, 2)


def _together(x: Shaped[Tensor, "b h q d"], rows: int) -> Shaped[Tensor, "s h n d"]:
    """Neighbouring rows that share a memory, as more queries of one row."""
    return x if len(x) == rows else torch.unflatten(x, 0, (rows, -1)).transpose(1, 2).flatten(2, 3)


def _apart(x: Float[Tensor, "s h n d"], rows: int) -> Float[Tensor, "b h q d"]:
    """Each row by itself again."""
    return x if len(x) == rows else torch.unflatten(x, 2, (rows // len(x), -1)).transpose(1, 2).flatten(0, 1)


def _fused(look: Look, scale: float | None, v: Tensor, dropout: float) -> Tensor:
    visible, bias, blind, causal, shared = look.visible, look.bias, None, False, len(v) < len(look.q)
    if isinstance(visible, Causal):
        if bias is None and visible.queries == visible.keys and not shared:
            # The kernel's own causality lines up the first query with the first key, so it is right here only.
            visible, causal = None, True
        else:
            # One newest query sees every key, so decoding needs no mask at all.
            visible = None if visible.queries == 1 else visible.draw(look.q.device)
    elif visible is not None:
        # Kernels differ on rows that see nothing; letting them see everything and zeroing the answer is right on all.
        blind = ~visible.any(dim=-1, keepdim=True)
        visible = visible | blind
    shown = visible if bias is None else bias if visible is None else bias.masked_fill(~visible, -torch.inf)
    if shown is not None and shared:
        shown = _together(shown.expand(*look.q.shape[:-1], look.k.shape[-2]), len(v))
    y = F.scaled_dot_product_attention(
        _together(look.q, len(v)),
        look.k,
        v,
        attn_mask=shown,
        dropout_p=dropout,
        is_causal=causal,
        scale=scale,
        enable_gqa=look.q.shape[1] != look.k.shape[1],
    )
    y = _apart(y, len(look.q))
    return y if blind is None else y.masked_fill(blind, 0.0)


def _written_out_is_faster(look: Look, dropout: float) -> bool:
    """Where two plain products beat the fused kernel. `make bench` prints the table that these numbers come from."""
    if look.q.device.type != "cpu":
        return False
    if dropout > 0.0:
        return True  # torch's CPU kernel has no dropout and falls back to something slower
    longest, learning = max(look.q.shape[-2], look.k.shape[-2]), torch.is_grad_enabled() and look.q.requires_grad
    if look.q.dtype == torch.bfloat16:
        return look.q.shape[-2] > 1 and longest <= 1024 and cpu_multiplies_bfloat16()
    # The kernel's backward pass is its weak side, and it skips half of a causal look.
    return look.q.shape[-2] > 1 and longest <= (128 if learning and not isinstance(look.visible, Causal) else 16)


@cache
def cpu_multiplies_bfloat16() -> bool:
    """Without an instruction for it, a CPU multiplies bfloat16 hundreds of times slower than float32."""
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
