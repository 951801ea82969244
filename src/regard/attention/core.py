"""The attention equation, once: put a look, weigh what it may see, answer it::

    weights = softmax(score(q, k) + bias), over the visible keys
    y = weights · v

Every attention of the library passes through `mix`, and every weight that is shown through `weigh`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import kernel
from regard.attention.kernel import join_rows, part_rows, product
from regard.attention.masks import Packed, Visible, causal, draw
from regard.attention.partition import Layout


@runtime_checkable
class Score(Protocol):
    """How well each key suits each query."""

    def __call__(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k c"]) -> Float[Tensor, "b h q k"]: ...


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


class Location(nn.Module):
    """Luong's location score: the query alone says where to look, and what stands there is not asked (2015, eq. 8).

    It knows the first `places` keys; those beyond them are ignored, as in the paper.
    """

    def __init__(self, width: int, places: int) -> None:
        super().__init__()
        self.place = nn.Linear(width, places, bias=False)

    def forward(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k c"]) -> Float[Tensor, "b h q k"]:
        scores: Tensor = self.place(q)[..., : k.shape[-2]]
        # The lowest finite number, since a row of -inf, where all known places are hidden, would have no softmax.
        return F.pad(scores, (0, k.shape[-2] - scores.shape[-1]), value=torch.finfo(scores.dtype).min)


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A question put to attention, before it is answered."""

    q: Float[Tensor, "b h q d"]
    # g divides h: groups of query heads may share one head of keys; s divides b: so may neighbouring rows.
    k: Float[Tensor, "s g k c"]
    score: Score = Dot()
    visible: Visible | None = None
    bias: Float[Tensor, "*#bh #q #k"] | None = None
    edit: "Edit | None" = None  # what a watcher puts in place of the weights
    layout: Layout | None = None  # where the tokens lie on a map

    def weights(self) -> Float[Tensor, "b h q k"]:
        """How much each query takes from each key."""
        if self.edit is not None:
            return self.edit(replace(self, edit=None))
        scores = part_rows(self.score(join_rows(self.q, self.k.shape[0]), self.k), self.q.shape[0])
        return weigh(scores if self.bias is None else scores + self.bias, draw(self.visible, self.q.device))


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
    if isinstance(look.visible, Packed) and look.edit is None and look.bias is None:
        return _mix_packed(look, look.visible, v, dropout)
    if (
        look.edit is None
        and isinstance(look.score, Dot)
        and not kernel.written_out_is_faster(look.q, look.k, look.visible, dropout)
    ):
        return kernel.fused(look.q, look.k, v, look.score.scale, look.visible, look.bias, dropout)
    weights = join_rows(F.dropout(look.weights(), dropout), v.shape[0])
    return part_rows(product(weights, v), look.q.shape[0])


def _mix_packed(look: Look, texts: Packed, v: Float[Tensor, "1 g k e"], dropout: float) -> Float[Tensor, "1 h q e"]:
    """Answer text by text; neighbours of equal length are a batch."""
    answers = []
    for start, count, length in texts.runs():
        q, k, values = (
            torch.unflatten(part[0, :, start : start + count * length], 1, (count, length)).transpose(0, 1)
            for part in (look.q, look.k, v)
        )
        part = replace(look, q=q, k=k, visible=causal(length) if texts.causal else None, layout=None)
        answers.append(mix(part, values, dropout=dropout).transpose(0, 1).flatten(1, 2))
    return torch.cat(answers, dim=1)[None]
