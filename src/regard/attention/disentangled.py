"""Disentangled attention: what a word is and where it stands are scored apart (He 2021, DeBERTa).

score = content·content + content·position + position·content, each over the root of the width times their number
"""

import math
from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.attention import Attention, multihead, split_heads
from regard.attention.core import Dot
from regard.attention.masks import check_newest

# Queries of words look for positions, those of positions look for words, or both.
Terms = Literal["both", "c2p", "p2c"]


class Distances(nn.Module):
    """A vector for each distance of a query from a key, which all layers of a model share.

    With `buckets`, the nearer half of so many distances each way has vectors of its own, and farther ones share the
    rest, which grow logarithmically up to `reach`; without, all have their own up to `reach`. Beyond it they are alike.
    """

    def __init__(
        self,
        width: int,
        *,
        buckets: int | None = 256,
        reach: int = 512,
        norm: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        exact = reach if buckets is None else buckets // 2
        if exact < 1 or (buckets is not None and reach <= exact + 1):
            raise ValueError(
                f"{buckets} buckets hold {exact} distances each way exactly and share the rest up to {reach}; "
                f"give at least 2 buckets and a reach above {max(exact, 1) + 1}"
            )
        self.span = reach if buckets is None else buckets  # of vectors each way
        self.table = nn.Embedding(2 * self.span, width)
        self.norm, self.dropout = nn.Identity() if norm is None else norm, nn.Dropout(dropout)
        self.buckets, self.reach = buckets, reach

    def forward(self, away: Int[Tensor, " m"]) -> tuple[Float[Tensor, "r w"], Int[Tensor, " m"] | None]:
        """The vectors of queries that stand so far behind their keys; and which is whose, where several share them."""
        rows, distinct = self.bucket(away), 2 * self.span
        # A graph for all lengths must not ask which one it is.
        few = torch.compiler.is_compiling() or len(away) <= distinct
        vectors: Tensor = self.dropout(self.norm(self.table(rows) if few else self.table.weight))
        return vectors, None if few else rows

    def bucket(self, away: Int[Tensor, " m"]) -> Int[Tensor, " m"]:
        if self.buckets is not None:
            exact = self.buckets // 2
            # In float32 throughout, as the authors have it, since rounding decides where a bucket ends.
            ratio = (away.abs().clamp(min=exact) / exact).log() / torch.tensor((self.reach - 1) / exact).log()
            shared = (exact + (ratio * (exact - 1)).ceil()) * away.sign()
            away = torch.where(away.abs() <= exact, away, shared.long())
        return (away + self.span).clamp(0, 2 * self.span - 1)


class Disentangled(nn.Module):
    """The two terms of the score that know where words stand, as a bias of the first.

    Distances are projected to queries and keys as the words of an attention are: by its own projections, which it
    then shares, or by others. Both terms look up how far the query stands behind the key, as the authors' code does;
    for position·content the paper has it the other way round (eq. 4).
    """

    def __init__(self, distances: Distances, attn: Attention, *, terms: Terms = "both", shared: bool = True) -> None:
        super().__init__()
        if terms not in get_args(Terms):
            raise ValueError(f"the terms of a score cannot be {terms!r}; choose from {', '.join(get_args(Terms))}")
        # In a tuple: neither is a part of this module. The attention is asked late, as its projections may be replaced.
        self._others = (distances, attn)
        width = distances.table.embedding_dim
        self.q = nn.Linear(width, width) if terms != "c2p" and not shared else None
        self.k = nn.Linear(width, width) if terms != "p2c" and not shared else None
        self.terms, self.heads, self.scale = terms, attn.heads, scale(width // attn.heads, terms)

    def forward(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b h k d"]) -> Float[Tensor, "b h q k"]:
        distances, attn = self._others
        queries, keys = q.shape[-2], k.shape[-2]
        check_newest(queries, keys)
        vectors, whose = distances(torch.arange(-queries, keys + 1, device=q.device))

        def project(linear: nn.Module) -> Tensor:
            heads = split_heads(linear(vectors)[None], self.heads)
            return heads if whose is None else heads.index_select(-2, whose)

        terms = []
        # Each query is scored against the distances themselves, n·2n products, and then moved to where its keys stand.
        if self.terms != "p2c":
            toward = project(attn.k if self.k is None else self.k).flip(-2)[..., 1:, :]
            terms.append(_skew(q * self.scale @ toward.mT))
        if self.terms != "c2p":
            behind = project(attn.q if self.q is None else self.q)[..., 1:, :]
            terms.append(_skew(k @ (behind * self.scale).mT).mT)
        return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def disentangled(
    width: int,
    heads: int,
    distances: Distances,
    *,
    terms: Terms = "both",
    shared: bool = True,
    dropout: float = 0.0,
) -> Attention:
    """He 2021: a multihead attention that also scores words against distances, and distances against words."""
    attn = multihead(width, heads, score=Dot(scale(width // heads, terms)), dropout=dropout)
    attn.bias = Disentangled(distances, attn, terms=terms, shared=shared)
    return attn


def scale(width: int, terms: Terms) -> float:
    """Of each term: the variance of their sum is then that of one (§3.1)."""
    return 1.0 / math.sqrt(width * (3 if terms == "both" else 2))


def _skew(scores: Float[Tensor, "b h n m"]) -> Float[Tensor, "b h n w"]:
    """Row i, moved n - 1 - i places to the left, and its first m - n entries; no number is copied."""
    rows, columns = scores.shape[-2:]
    # One entry less in each row moves every row by one more.
    moved = scores.flatten(-2)[..., rows - 1 : rows - 1 + rows * (columns - 1)]
    return torch.unflatten(moved, -1, (rows, columns - 1))[..., : columns - rows]
