"""Learned position encodings: a table with one vector for each position."""

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.position.join import How, join


class Learned(nn.Module):
    """A learned vector for each position of a sequence, up to a fixed number of them (Gehring 2017; BERT, GPT, ViT)."""

    def __init__(self, context: int, width: int, *, how: How = "add") -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(context, width) * 0.02)
        self.how: How = how

    def forward(self, x: Float[Tensor, "b n w"], start: int | Int[Tensor, "#b n"] = 0) -> Float[Tensor, "b n o"]:
        """`start` is the position of the first token, or that of every token."""
        context, width = self.table.shape
        if isinstance(start, Tensor):
            return join(x, F.embedding(start.to(self.table.device), self.table), self.how)
        end = start + x.shape[1]
        if start < 0:
            raise ValueError(f"position {start} lies before the first; they are counted from 0, so give a start of 0")
        if end > context:
            raise ValueError(
                f"position {end - 1} lies beyond a learned table of {context}, 0 to {context - 1}; "
                f"shorten the input, build Learned({end}, {width}), or use Sinusoidal({width}), which has no limit"
            )
        return join(x, self.table[start:end], self.how)


class Learned2d(nn.Module):
    """A learned vector for each cell of a map, interpolated for maps of other sizes (Dosovitskiy 2021, §3.2)."""

    def __init__(self, grid: int | tuple[int, int], width: int, *, how: How = "add") -> None:
        super().__init__()
        height, across = (grid, grid) if isinstance(grid, int) else grid
        self.table = nn.Parameter(torch.randn(height, across, width) * 0.02)
        self.how: How = how

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b h w o"]:
        return join(x, interpolate(self.table, x.shape[1], x.shape[2]), self.how)


def interpolate(table: Float[Tensor, "i j c"], height: int, width: int) -> Float[Tensor, "{height} {width} c"]:
    """A table of cells at another size, bicubic between its own cells; at its own size it is unchanged."""
    if tuple(table.shape[:2]) == (height, width):
        return table
    cells = rearrange(table, "i j c -> 1 c i j")
    resized = F.interpolate(cells.float(), size=(height, width), mode="bicubic", align_corners=False)
    return rearrange(resized, "1 c i j -> i j c").to(table.dtype)
