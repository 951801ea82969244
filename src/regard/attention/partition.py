"""Which tokens of an image look at each other; the attention inside never knows.

A partition cuts a map into groups of tokens and puts them back. Sizes that do not divide are padded, and the padding
is hidden (Swin's published code lets it be looked at; on sizes that divide, both are the same).
"""

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Tensor

GROUPS = "(b i j) (p q) c"  # i × j groups of p × q tokens
NEIGHBOURS = "b (i p) (j q) c"  # neighbours share a group
SPREAD = "b (p i) (q j) c"  # neighbours lie in different groups


@dataclass(frozen=True, slots=True)
class Partition:
    """A way to cut a map: how many groups, how large, how shifted. Subclasses answer these three questions."""

    def factors(self, height: int, width: int) -> dict[str, int]:
        """i × j groups of p × q tokens, covering the map with as little padding as possible."""
        raise NotImplementedError

    def pattern(self) -> str:
        return NEIGHBOURS

    def groups(self) -> str:
        return GROUPS

    def axes(self, height: int, width: int) -> dict[str, int]:
        """How long each letter of the pattern is; more letters than the four factors where cells are dilated."""
        return self.factors(height, width)

    def shifts(self, height: int, width: int) -> tuple[int, int]:  # noqa: ARG002 - Shifted asks
        """How far the map is rolled up and to the left before it is cut."""
        return 0, 0

    def split(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "g n c"]:
        return self._cut(x, padding=0)

    def merge(self, groups: Float[Tensor, "g n c"], height: int, width: int) -> Float[Tensor, "b h w c"]:
        x = rearrange(groups, f"{self.groups()} -> {self.pattern()}", **self.axes(height, width))
        return x.roll(self.shifts(height, width), dims=(1, 2))[:, :height, :width]

    def visible(self, height: int, width: int, device: torch.device) -> Bool[Tensor, "g 1 n n"] | None:
        """Who sees whom in each group of one map; None when everybody does.

        Tokens are labelled by how they came to their group: carried by the wrap along a side, or padding.
        """
        size, (up, left) = self.factors(height, width), self.shifts(height, width)
        if (size["i"] * size["p"], size["j"] * size["q"]) == (height, width) and not (up or left):
            return None
        carried_down, carried_right = (torch.arange(n, device=device) < m for n, m in ((height, up), (width, left)))
        label = (2 * carried_down[:, None] + carried_right)[None, :, :, None]
        group = self._cut(label, padding=-1).squeeze(-1)
        return ((group[:, :, None] == group[:, None, :]) & (group[:, None, :] >= 0))[:, None]

    def cells(self, height: int, width: int, device: torch.device) -> Int[Tensor, "g n"]:
        """Which cell of the map each token of each group is, counted row by row; padding is the one after the last."""
        cell = torch.arange(height * width, device=device).view(1, height, width, 1)
        return self._cut(cell, padding=height * width).squeeze(-1)

    def _cut(self, x: Tensor, padding: int) -> Tensor:
        height, width = x.shape[1:3]
        size = self.factors(height, width)
        down, right = size["i"] * size["p"] - height, size["j"] * size["q"] - width
        if down or right:
            x = F.pad(x, (0, 0, 0, right, 0, down), value=padding)
        up, left = self.shifts(height, width)
        if up or left:
            x = x.roll((-up, -left), dims=(1, 2))
        return rearrange(x, f"{self.pattern()} -> {self.groups()}", **self.axes(height, width))


@dataclass(frozen=True, slots=True)
class Window(Partition):
    """Squares of neighbours (Liu 2021)."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"a window of {self.size} tokens holds nothing; give 1 or more")

    def factors(self, height: int, width: int) -> dict[str, int]:
        return dict(i=-(-height // self.size), j=-(-width // self.size), p=self.size, q=self.size)


@dataclass(frozen=True, slots=True)
class Shifted(Window):
    """Windows moved by `shift`, so that what was divided meets; tokens brought together by the wrap stay strangers."""

    shift: int

    def __post_init__(self) -> None:
        if not 0 < self.shift < self.size:
            raise ValueError(f"a shift of {self.shift} does not lie within windows of {self.size}; half of it is usual")

    def shifts(self, height: int, width: int) -> tuple[int, int]:
        # Where one window holds the whole side there is nothing to bring together.
        return self.shift if height > self.size else 0, self.shift if width > self.size else 0


@dataclass(frozen=True, slots=True)
class Dilated(Window):
    """Windows whose tokens lie `rate` apart: far-reaching like a grid, near like a window (Ibtehaz 2024)."""

    rate: int

    def __post_init__(self) -> None:
        if self.size < 1 or self.rate < 1:
            raise ValueError(f"windows of {self.size} tokens {self.rate} apart hold nothing; give 1 or more of both")

    def factors(self, height: int, width: int) -> dict[str, int]:
        block = self.size * self.rate  # the side of `rate` × `rate` windows that lie between each other
        return dict(i=-(-height // block) * self.rate, j=-(-width // block) * self.rate, p=self.size, q=self.size)

    def pattern(self) -> str:
        return "b (i p r) (j q s) c"

    def groups(self) -> str:
        return "(b i r j s) (p q) c"

    def axes(self, height: int, width: int) -> dict[str, int]:
        size = self.factors(height, width)
        return {**size, "i": size["i"] // self.rate, "j": size["j"] // self.rate, "r": self.rate, "s": self.rate}


@dataclass(frozen=True, slots=True)
class Grid(Window):
    """As many tokens as a window has, spread evenly over a map of any size (Tu 2022, MaxViT's grid)."""

    def pattern(self) -> str:
        return SPREAD


@dataclass(frozen=True, slots=True)
class Atrous(Partition):
    """Tokens `rate` apart, from everywhere on the map (Ibtehaz 2024; MaxViT's grid, Tu 2022)."""

    rate: int

    def __post_init__(self) -> None:
        if self.rate < 1:
            raise ValueError(f"tokens {self.rate} apart are none; give a rate of 1 or more")

    def factors(self, height: int, width: int) -> dict[str, int]:
        return dict(i=self.rate, j=self.rate, p=-(-height // self.rate), q=-(-width // self.rate))

    def pattern(self) -> str:
        return SPREAD


@dataclass(frozen=True, slots=True)
class Axis(Partition):
    """Each row on its own, or each column (Ho 2019)."""

    along: Literal["rows", "columns"]

    def __post_init__(self) -> None:
        if self.along not in ("rows", "columns"):
            raise ValueError(f"no axis is called {self.along!r}; choose rows or columns")

    def factors(self, height: int, width: int) -> dict[str, int]:
        rows = self.along == "rows"
        return dict(i=height if rows else 1, j=1 if rows else width, p=1 if rows else height, q=width if rows else 1)


def grid(size: int, extent: int) -> Atrous:
    """MaxViT's grid attention: size × size tokens spread evenly over a map of the given extent."""
    if extent % size:
        raise ValueError(
            f"a grid of {size} does not spread evenly over {extent} tokens; try Atrous({-(-extent // size)})"
        )
    return Atrous(extent // size)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the tokens of a look lie on a map, so that its weights can be shown over the whole of it.

    The queries are the cells of a map of height × width, cut by a partition if there is one. The keys are the same
    cells, or those of a map of another size, `keys`, where they are pooled or strided.
    """

    height: int
    width: int
    partition: Partition | None = None
    keys: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.partition is not None and self.keys is not None:
            raise ValueError(f"groups of {self.partition} hold their own keys; leave keys={self.keys} out")

    def unfold(self, weights: Float[Tensor, "g h n m"]) -> Float[Tensor, "b h cells keys"]:
        """How much each cell takes from each cell: nothing from another group, and padding is left out."""
        total = self.height * self.width
        if self.partition is None:
            rows, columns = self.keys or (self.height, self.width)
            if tuple(weights.shape[-2:]) != (total, rows * columns):
                raise ValueError(
                    f"weights of {weights.shape[-2]} queries at {weights.shape[-1]} keys are not those of a map of "
                    f"{self.height}×{self.width} that looks at one of {rows}×{columns}; give the layout of this look"
                )
            return weights
        cells = self.partition.cells(self.height, self.width, weights.device)
        # Each cell has its place in one group: its row of weights stands there, and is spread over the cells of that
        # group. Padding is a cell after the last, which is cut off again.
        place = cells.flatten().argsort()[:total]
        taken = torch.unflatten(weights, 0, (-1, len(cells))).transpose(1, 2).flatten(2, 3)[:, :, place]
        group = cells[place // cells.shape[1]]
        whole = weights.new_zeros(*taken.shape[:-1], total + 1).scatter(-1, group.expand_as(taken), taken)
        return whole[..., :total]
