"""One module for every attention: where queries, keys and values come from is injected, the equation is the core's."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.core import Additive, Dot, Location, Look, Score, mix
from regard.attention.masks import Visible, both, causal, check, check_newest
from regard.attention.memory import Memory
from regard.attention.partition import Layout, Partition
from regard.attention.recorder import observe

# A bias sees the question, so that a score may add what depends on the query too (Shaw 2018).
Bias = Callable[[Float[Tensor, "b h q d"], Float[Tensor, "b g k d"]], Float[Tensor, "*#bh #q #k"]]
# A rotation of heads by their positions, which begin at a number or are given for each token (Su 2021).
Rotation = Callable[[Float[Tensor, "b h n d"], int | Int[Tensor, "#b n"]], Float[Tensor, "b h n d"]]
# A norm of heads of a given width, such as nn.RMSNorm or nn.LayerNorm.
Norm = Callable[[int], nn.Module]


class Attention(nn.Module):
    """Look at a memory. Self-attention is the case where you look at yourself."""

    watched = True  # by `record`

    def __init__(
        self,
        q: nn.Module,
        k: nn.Module,
        v: nn.Module,
        out: nn.Module,
        *,
        heads: int = 1,
        groups: int | None = None,
        score: Score = Dot(),
        q_norm: nn.Module | None = None,
        k_norm: nn.Module | None = None,
        bias: Bias | None = None,
        rotary: Rotation | None = None,
        sliding_window: int | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if bias is not None and not callable(bias):
            way = "projections without constant terms are made by qkv_bias=False, out_bias=False"
            if isinstance(bias, Tensor):
                way = "write bias=lambda q, k: mask"
            raise TypeError(
                f"bias is a {type(bias).__name__}, but it is called as bias(q, k) and added to the scores; {way}"
            )
        self.q, self.k, self.v, self.out = q, k, v, out
        self.heads, self.groups = heads, heads if groups is None else groups
        self.score, self.bias, self.rotary, self.dropout = score, bias, rotary, dropout
        self.q_norm, self.k_norm, self.sliding_window = q_norm, k_norm, sliding_window
        self.qkv: nn.Module | None = None  # q, k and v in one product, where somebody has prepared it

    def forward(
        self,
        x: Float[Tensor, "b n w"],
        memory: Memory | None = None,
        *,
        where: Float[Tensor, "*#b n w"] | None = None,
        visible: Visible | None = None,
        positions: Int[Tensor, "#b n"] | None = None,
        layout: Layout | None = None,
    ) -> Float[Tensor, "b n o"]:
        """Ask with x, of a memory or of x itself, and blend the answers.

        `where` is added to what queries and keys are made of, but not to values (Carion 2020, DETR). `positions` of x
        are what a rotary attention turns by, where they do not count from 0. `layout` tells whoever watches where the
        tokens lie on a map.
        """
        self._check(x, memory)
        if memory is None:
            q, k, v = self._project(x, where)
            memory = self._memory(k, v, positions=positions)
        else:
            q = self.q(x if where is None else x + where)
        look = self._look(q, memory, visible, layout, positions)
        y = mix(look, memory.v, dropout=self.dropout if self.training else 0.0)
        return self.finish(y)

    def step(
        self,
        x: Float[Tensor, "b n w"],
        past: Memory | None = None,
        *,
        visible: Bool[Tensor, "b 1 1 n"] | None = None,
        positions: Int[Tensor, "#b n"] | None = None,
    ) -> tuple[Float[Tensor, "b n o"], Memory]:
        """Ask with the next tokens of a sequence, of its past and of themselves; and what to remember of it all.

        `visible` is the padding among the new tokens, which stays hidden in every later step. `positions` of the new
        tokens follow on the past's, if left out.
        """
        self._check(x, None)
        q, k, v = self._project(x)
        memory = self._memory(k, v, past, visible, positions)
        look = self._look(q, memory, causal(x.shape[1], memory.k.shape[-2]), None, positions)
        y = mix(look, memory.v, dropout=self.dropout if self.training else 0.0)
        return self.finish(y), memory

    def remember(
        self,
        context: Float[Tensor, "b n c"],
        past: Memory | None = None,
        *,
        where: Float[Tensor, "*#b n c"] | None = None,
        visible: Bool[Tensor, "*#b #q n"] | None = None,
    ) -> Memory:
        """Project a context once, to be looked at many times; a `past` is continued.

        Keys say where to look and values what is there, so `where` moves the keys alone.
        """
        return self._memory(self.k(context if where is None else context + where), self.v(context), past, visible)

    def look(
        self,
        x: Float[Tensor, "b n w"],
        memory: Memory,
        *,
        where: Float[Tensor, "*#b n w"] | None = None,
        visible: Visible | None = None,
        layout: Layout | None = None,
    ) -> Look:
        """The question x puts to a memory, told to whoever is watching."""
        self._check(x, memory)
        return self._look(self.q(x if where is None else x + where), memory, visible, layout)

    def finish(self, y: Float[Tensor, "b h n e"]) -> Float[Tensor, "b n o"]:
        """Lay the heads' answers side by side and blend them."""
        blended: Tensor = self.out(y.transpose(1, 2).flatten(2))
        return blended

    def _project(self, x: Tensor, where: Tensor | None = None) -> Sequence[Tensor]:
        """Queries, keys and values of x itself."""
        if self.qkv is None or where is not None:
            placed = x if where is None else x + where
            return self.q(placed), self.k(placed), self.v(x)
        three: list[Any] = [self.q, self.k, self.v]
        y: tuple[Tensor, ...] = self.qkv(x).split([part.out_features for part in three], dim=-1)
        return y

    def _memory(
        self,
        k: Tensor,
        v: Tensor,
        past: Memory | None = None,
        visible: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Memory:
        """Projected keys and values, split into heads; after a past where there is one."""
        if visible is not None:
            batch, keys = k.shape[:2]
            check(visible, queries=1, keys=keys, batch=batch, heads=1)
            visible = visible.expand(batch, 1, 1, keys)
        k, v = split_heads(k, self.groups), split_heads(v, self.groups)
        if self.k_norm is not None:
            k = self.k_norm(k)
        if self.rotary is not None:
            after = 0 if past is None else past.k.shape[-2]
            k = self.rotary(k, after if positions is None else positions)
        newer = Memory(k, v, visible)
        return newer if past is None else past.extend(newer)

    def _look(
        self,
        q: Tensor,
        memory: Memory,
        visible: Visible | None,
        layout: Layout | None = None,
        positions: Tensor | None = None,
    ) -> Look:
        """The question of projected queries, split into heads."""
        q, keys = split_heads(q, self.heads), memory.k.shape[-2]
        if self.q_norm is not None:
            q = self.q_norm(q)
        if self.rotary is not None:
            check_newest(q.shape[-2], keys)
            q = self.rotary(q, keys - q.shape[-2] if positions is None else positions)
        if visible is not None:
            check(visible, queries=q.shape[-2], keys=keys, batch=q.shape[0], heads=self.heads)
        if self.sliding_window is not None and keys > self.sliding_window:
            visible = both(visible, _newest(q.shape[-2], memory, self.sliding_window))
        bias = None if self.bias is None else self.bias(q, memory.k)
        if bias is not None and bias.ndim == 4 and bias.shape[1] not in (1, self.heads):
            raise ValueError(f"a bias for {bias.shape[1]} heads does not fit an attention of {self.heads}")
        look = Look(q, memory.k, self.score, both(visible, memory.row_visible), bias, layout=layout)
        return observe(self, look)

    def _check(self, x: Tensor, memory: object) -> None:
        """The mistakes that would otherwise end deep inside torch."""
        if isinstance(memory, Tensor):
            raise TypeError("what is looked at must be remembered first; write attn(x, attn.remember(context))")
        if x.ndim != 3:
            raise ValueError(
                f"x has shape {tuple(x.shape)}, but attention takes batch × tokens × width; add what is missing"
            )
        if isinstance(self.q, nn.Linear) and x.shape[-1] != self.q.in_features:
            raise ValueError(f"x has width {x.shape[-1]}, but this attention asks with width {self.q.in_features}")
        if isinstance(memory, Memory) and memory.k.shape[0] * memory.shared != x.shape[0]:
            rows = memory.k.shape[0] * memory.shared
            raise ValueError(f"a batch of {x.shape[0]} cannot look at a memory of batch {rows}")


class Latent(nn.Module):
    """Learned queries that ask the same questions of whatever they are shown."""

    def __init__(self, count: int, width: int, attn: Attention) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(count, width) * 0.02)
        self.attn = attn

    def forward(
        self, context: Float[Tensor, "b n c"] | Memory, *, visible: Visible | None = None
    ) -> Float[Tensor, "b m o"]:
        memory = context if isinstance(context, Memory) else self.attn.remember(context)
        answers: Tensor = self.attn(self.queries.expand(memory.k.shape[0], -1, -1), memory, visible=visible)
        return answers


class Partitioned(nn.Module):
    """An attention inside the groups of a partition, over a map."""

    def __init__(self, attn: Attention, partition: Partition) -> None:
        super().__init__()
        self.attn, self.partition = attn, partition

    def forward(
        self,
        x: Float[Tensor, "b h w c"],
        *,
        where: Float[Tensor, "#b h w c"] | None = None,
        visible: Visible | None = None,
        positions: None = None,
    ) -> Float[Tensor, "b h w o"]:
        if visible is not None or positions is not None:
            raise ValueError(
                "who sees whom, and where, is settled by the partition; leave visible and positions out, or attend "
                "without groups"
            )
        if x.ndim != 4:
            raise ValueError(
                f"x has shape {tuple(x.shape)}, but a partition cuts maps: batch × height × width × channels"
            )
        batch, height, width, _ = x.shape
        alike = self.partition.visible(height, width, x.device)
        y = self.attn(
            self.partition.split(x),
            where=None if where is None else self.partition.split(where.expand_as(x)),
            visible=None if alike is None else alike.repeat(batch, 1, 1, 1),
            layout=Layout(height, width, self.partition),
        )
        return self.partition.merge(y, height, width)


def additive(query: int, context: int, hidden: int) -> Attention:
    """Bahdanau 2014: values are the annotations themselves, scored by a small network."""
    return Attention(
        q=nn.Linear(query, hidden, bias=False),
        k=nn.Linear(context, hidden),
        v=nn.Identity(),
        out=nn.Identity(),
        score=Additive(hidden),
    )


def bilinear(query: int, context: int) -> Attention:
    """Luong 2015, the "general" score: one matrix carries the query into the space of the annotations."""
    return Attention(
        q=nn.Linear(query, context, bias=False),
        k=nn.Identity(),
        v=nn.Identity(),
        out=nn.Identity(),
        score=Dot(1.0),
    )


def location(query: int, places: int) -> Attention:
    """Luong 2015, the "location" score: the query alone says which of the first `places` keys to look at."""
    return Attention(nn.Identity(), nn.Identity(), nn.Identity(), nn.Identity(), score=Location(query, places))


def multihead(
    width: int,
    heads: int,
    *,
    context: int | None = None,
    groups: int | None = None,
    head_width: int | None = None,
    score: Score = Dot(),
    qk_norm: Norm | None = None,
    bias: Bias | None = None,
    rotary: Rotation | None = None,
    sliding_window: int | None = None,
    dropout: float = 0.0,
    qkv_bias: bool = True,
    out_bias: bool = True,
) -> Attention:
    """Vaswani 2017. With fewer `groups` than heads, several query heads share keys and values (Ainslie 2023).

    `context` is the width of what is looked at where it differs; `head_width` that of a head where heads do not share
    the width; `qk_norm` a norm of query and key heads; `qkv_bias` and `out_bias` give the projections their constants.
    With a `sliding_window`, each token sees so many of the newest tokens and none after itself (Beltagy 2020, Mistral).
    """
    groups = heads if groups is None else groups
    if min(width, heads, groups) < 1:
        raise ValueError(f"width {width}, {heads} heads and {groups} groups make no attention; all must be 1 or more")
    if head_width is not None and head_width < 1:
        raise ValueError(f"heads of width {head_width} hold nothing; give 1 or more, or leave head_width out")
    if head_width is None and width % heads:
        raise ValueError(f"width {width} does not split into {heads} heads; try {_divisors_near(width, heads)} heads")
    if heads % groups:
        raise ValueError(f"{heads} heads do not share {groups} groups; try {_divisors_near(heads, groups)} groups")
    if groups < heads and isinstance(score, Additive):
        raise ValueError(
            f"an additive score has keys for each of {heads} heads and not for {groups} groups; take Dot()"
        )
    context, head = width if context is None else context, width // heads if head_width is None else head_width
    return Attention(
        q=nn.Linear(width, heads * head, bias=qkv_bias),
        k=nn.Linear(context, groups * head, bias=qkv_bias),
        v=nn.Linear(context, groups * head, bias=qkv_bias),
        out=nn.Linear(heads * head, width, bias=out_bias),
        heads=heads,
        groups=groups,
        score=score,
        q_norm=None if qk_norm is None else qk_norm(head),
        k_norm=None if qk_norm is None else qk_norm(head),
        bias=bias,
        rotary=rotary,
        sliding_window=sliding_window,
        dropout=dropout,
    )


def latent(count: int, width: int, heads: int, *, context: int | None = None, dropout: float = 0.0) -> Latent:
    """Learned queries over a context of any length: Perceiver latents, Flamingo's resampler, a pooling head."""
    return Latent(count, width, multihead(width, heads, context=context, dropout=dropout))


def split_heads(x: Float[Tensor, "b n w"], heads: int) -> Float[Tensor, "b h n d"]:
    return torch.unflatten(x, -1, (heads, -1)).transpose(1, 2)


def _newest(queries: int, memory: Memory, window: int) -> Visible:
    """A window of the newest keys before each query; where some are padding, it is counted without them."""
    if memory.row_visible is None:
        return causal(queries, memory.k.shape[-2], window=window)
    places = memory.row_visible.cumsum(dim=-1)
    return places > places[..., -queries:].mT - window


def _divisors_near(whole: int, wanted: int) -> str:
    """The three ways to split `whole` that are nearest to the one asked for."""
    divisors = sorted((d for d in range(1, whole + 1) if whole % d == 0), key=lambda d: (abs(d - wanted), d))
    return ", ".join(str(d) for d in sorted(divisors[:3]))
