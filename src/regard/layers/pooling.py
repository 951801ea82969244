"""Pooling attention: queries, keys and values are shrunken maps, so that attention itself makes maps smaller.

Maps are "b h w c". What is looked at lies on a map of another size than what looks, which `Layout.keys` tells.
"""

from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention, Decomposed2d, Layout, Memory, mix


class PoolHeads(nn.Module):
    """Each head's map, shrunken by a 3×3 convolution of each channel that all heads share, and normalised."""

    def __init__(self, heads: int, width: int, *, stride: int = 1, eps: float = 1e-6) -> None:
        super().__init__()
        self.heads = heads
        self.conv = nn.Conv2d(width, width, 3, stride=stride, padding=1, groups=width, bias=False)
        self.norm = nn.LayerNorm(width, eps=eps)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b g i j d"]:
        x = torch.unflatten(x, -1, (self.heads, -1)).permute(0, 3, 4, 1, 2)
        y: Tensor = self.conv(x.flatten(0, 1))
        pooled: Tensor = self.norm(torch.unflatten(y, 0, (-1, self.heads)).permute(0, 1, 3, 4, 2))
        return pooled


class PoolingAttention(nn.Module):
    """Attention between shrunken maps, with relative positions; the pooled queries are added to the answers (Li 2022).

    `side` is that of the map it is built for, as positions are learned for it; `stride` shrinks the queries, and so the
    outcome, and `key_stride` keys and values.
    """

    def __init__(
        self,
        channels: int,
        width: int,
        heads: int,
        *,
        side: int,
        stride: int = 1,
        key_stride: int = 1,
        dropout: float = 0.0,
        eps: float = 1e-6,
    ) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} does not split into {heads} heads; make it a multiple of them")
        pool, queries, keys = (
            partial(PoolHeads, heads, width // heads, eps=eps),
            -(-side // stride),
            -(-side // key_stride),
        )
        self.q, self.k, self.v = (nn.Linear(channels, width) for _ in range(3))
        self.pool_q, self.pool_k, self.pool_v = pool(stride=stride), pool(stride=key_stride), pool(stride=key_stride)
        # Projections and pooling have happened before it is asked, since they know of maps.
        self.attn = Attention(
            nn.Identity(),
            nn.Identity(),
            nn.Identity(),
            nn.Linear(width, width),
            heads=heads,
            bias=Decomposed2d(width // heads, (queries, queries), (keys, keys)),
            dropout=dropout,
        )

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
        q, k, v = self.pool_q(self.q(x)), self.pool_k(self.k(x)), self.pool_v(self.v(x))
        (rows, columns), keys = q.shape[2:4], (k.shape[2], k.shape[3])
        memory = Memory(k.flatten(2, 3), v.flatten(2, 3))
        asked = q.permute(0, 2, 3, 1, 4).flatten(3).flatten(1, 2)
        look = self.attn.look(asked, memory, layout=Layout(rows, columns, keys=keys))
        y = mix(look, memory.v, dropout=self.attn.dropout if self.training else 0.0)
        return torch.unflatten(self.attn.finish(y + look.q), 1, (rows, columns))
