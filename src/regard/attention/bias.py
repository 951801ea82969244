"""What is added to the scores because of where a query and a key stand.

A bias is called with the queries and the keys of a look. The queries are the newest of the keys, so the same bias
serves a whole sequence and one more step of it.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.masks import distance


class Buckets(nn.Module):
    """T5's learned bias: near distances have a number of their own, far ones share (Raffel 2020, §2.1)."""

    def __init__(self, heads: int, *, buckets: int = 32, reach: int = 128, bidirectional: bool = True) -> None:
        super().__init__()
        exact = buckets // (4 if bidirectional else 2)
        if exact < 1 or reach <= exact:
            raise ValueError(
                f"{buckets} buckets hold {exact} distances each way exactly and share the rest up to {reach}; "
                f"give at least {4 if bidirectional else 2} buckets and a reach above {max(exact, 1)}"
            )
        self.table = nn.Embedding(buckets, heads)
        self.buckets, self.reach, self.bidirectional = buckets, reach, bidirectional

    def forward(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k d"]) -> Float[Tensor, "1 h q k"]:
        bias: Tensor = self.table(self.bucket(relative_distance(q, k)))
        return bias.permute(2, 0, 1)[None]

    def bucket(self, away: Int[Tensor, "q k"]) -> Int[Tensor, "q k"]:
        """Half of the buckets hold one distance each; the other half grow logarithmically up to `reach`."""
        count, first = self.buckets, torch.zeros_like(away)
        if self.bidirectional:
            count //= 2
            first = (away > 0) * count
            far = away.abs()
        else:
            far = (-away).clamp(min=0)
        exact = count // 2
        ratio = (far.clamp(min=exact).float() / exact).log() / math.log(self.reach / exact)
        shared = (exact + (ratio * (count - exact)).long()).clamp(max=count - 1)
        return first + torch.where(far < exact, far, shared)


class Alibi(nn.Module):
    """A fixed slope for each head: the farther, the less (Press 2022). Nothing is learned, so any length will do."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.slopes = _slopes(heads)

    def forward(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k d"]) -> Float[Tensor, "1 h q k"]:
        slopes = torch.tensor(self.slopes, device=q.device)[:, None, None]
        return (-relative_distance(q, k).abs() * slopes).to(q.dtype)[None]


class Shaw(nn.Module):
    """Relative keys: how a query likes a key depends on how far it stands (Shaw 2018, the keys' half).

    `width` is that of one head. Farther than `reach`, all distances are alike.
    """

    def __init__(self, width: int, reach: int) -> None:
        super().__init__()
        self.keys = nn.Embedding(2 * reach + 1, width)
        self.reach = reach

    def forward(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k d"]) -> Float[Tensor, "b h q k"]:
        near = relative_distance(q, k).clamp(-self.reach, self.reach) + self.reach
        # Score each query against the 2·reach + 1 keys once, then hand the scores out: n·r products instead of n².
        scores: Tensor = q @ self.keys.weight.T * q.shape[-1] ** -0.5
        return scores.gather(-1, near.expand(*q.shape[:2], -1, -1))


class Relative2d(nn.Module):
    """Swin's table: a learned number for each head and each offset inside a window (Liu 2021, eq. 4).

    The first `leading` tokens, such as [CLS], have no cell, and nothing is added to their scores.
    """

    def __init__(self, window: int | tuple[int, int], heads: int, *, leading: int = 0) -> None:
        super().__init__()
        height, width = window = _pair(window)
        self.window, self.leading = window, leading
        self.table = nn.Parameter(torch.empty((2 * height - 1) * (2 * width - 1), heads))
        nn.init.trunc_normal_(self.table, std=0.02)

    def forward(self, q: Float[Tensor, "b h n d"], k: Float[Tensor, "b g n d"]) -> Float[Tensor, "1 h n n"]:
        _check_window(self.window, q[..., self.leading :, :], k[..., self.leading :, :])
        height, width = self.window
        down, right = _offsets(self.window, q.device).unbind(-1)
        bias = self.table[(down + height - 1) * (2 * width - 1) + right + width - 1].permute(2, 0, 1)[None]
        return F.pad(bias, (self.leading, 0, self.leading, 0)) if self.leading else bias


class Continuous2d(nn.Module):
    """Swin V2's bias: a small network reads the offset on a log scale, so a window may grow later (Liu 2022, §3.3)."""

    def __init__(self, window: int | tuple[int, int], heads: int, *, hidden: int = 512, trained: int = 8) -> None:
        super().__init__()
        self.window = _pair(window)
        self.network = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, heads, bias=False))
        self.trained = trained

    def forward(self, q: Float[Tensor, "b h n d"], k: Float[Tensor, "b g n d"]) -> Float[Tensor, "1 h n n"]:
        _check_window(self.window, q, k)
        height, width = self.window
        down, right = (torch.arange(1 - side, side, device=q.device) for side in self.window)
        # Offsets are measured in the window of training, so that a larger one extrapolates little. The network reads
        # each of them once, and they are then handed out to the pairs of cells that have them.
        offsets = torch.cartesian_prod(down, right).view(-1, 2) * (8.0 / max(self.trained - 1, 1))
        table: Tensor = self.network((offsets.sign() * (1 + offsets.abs()).log2() / 3).to(q.dtype))
        down, right = _offsets(self.window, q.device).unbind(-1)
        bias = table[(down + height - 1) * (2 * width - 1) + right + width - 1]
        return 16 * bias.sigmoid().permute(2, 0, 1)[None]


class Distances2d(nn.Module):
    """LeViT's table: a learned number for each head and each distance down and across, whichever way (Graham 2021).

    The keys are the cells of a map; the queries are those of every `stride`-th row and column of it.
    """

    def __init__(self, cells: int | tuple[int, int], heads: int, *, stride: int = 1) -> None:
        super().__init__()
        self.cells = height, width = _pair(cells)
        self.stride = stride
        self.table = nn.Parameter(torch.zeros(heads, height * width))

    def forward(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k d"]) -> Float[Tensor, "1 h q k"]:
        height, width = self.cells
        _check_cells((-(-height // self.stride), -(-width // self.stride)), self.cells, q, k)
        down, right = (
            (torch.arange(0, side, self.stride, device=q.device)[:, None] - torch.arange(side, device=q.device)).abs()
            for side in self.cells
        )
        pairs = down[:, None, :, None] * width + right[None, :, None, :]
        return self.table[:, pairs.flatten(2).flatten(0, 1)][None]


class Decomposed2d(nn.Module):
    """MViTv2's relative positions: a query is scored against its distance down and that across (Li 2022, eq. 5).

    `width` is that of one head. Where the two maps differ in size, distances are measured in cells of the finer one.
    """

    def __init__(self, width: int, queries: tuple[int, int], keys: tuple[int, int]) -> None:
        super().__init__()
        self.queries, self.keys = queries, keys
        rows, columns = (2 * max(pair) - 1 for pair in zip(queries, keys, strict=True))
        self.rows = nn.Parameter(torch.empty(rows, width))
        self.columns = nn.Parameter(torch.empty(columns, width))
        for table in (self.rows, self.columns):
            nn.init.trunc_normal_(table, std=0.02)

    def forward(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k d"]) -> Float[Tensor, "b h q k"]:
        _check_cells(self.queries, self.keys, q, k)
        x = torch.unflatten(q, 2, self.queries)
        down = torch.einsum("bhijd,imd->bhijm", x, self.rows[_steps(self.queries[0], self.keys[0], q.device)])
        right = torch.einsum("bhijd,jnd->bhijn", x, self.columns[_steps(self.queries[1], self.keys[1], q.device)])
        return (down[..., :, None] + right[..., None, :]).flatten(4).flatten(2, 3)


class Quadratic2d(nn.Module):
    """Each head looks around a centre of its own, as wide as it likes (Cordonnier 2020, eq. 10).

    With as many heads as a kernel has cells and sharp centres, the layer is a convolution; in between it is blurred.
    """

    def __init__(self, window: int | tuple[int, int], heads: int, *, sharpness: float = 1.0) -> None:
        super().__init__()
        self.window = _pair(window)
        self.centre = nn.Parameter(torch.randn(heads, 2))
        self.sharpness = nn.Parameter(torch.full((heads,), sharpness))

    def forward(self, q: Float[Tensor, "b h n d"], k: Float[Tensor, "b g n d"]) -> Float[Tensor, "1 h n n"]:
        _check_window(self.window, q, k)
        away = (-_offsets(self.window, q.device) - self.centre[:, None, None]).square().sum(dim=-1)
        return -(self.sharpness[:, None, None] * away)[None]


def relative_distance(q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k d"]) -> Int[Tensor, "q k"]:
    return distance(q.shape[-2], k.shape[-2], q.device)


def _slopes(heads: int) -> list[float]:
    """2^(-8/h), 2^(-16/h), …; between powers of two, every other slope of the next is borrowed, as the authors do."""
    power = 2 ** math.floor(math.log2(heads))
    own = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    return own + (_slopes(2 * power)[0::2][: heads - power] if heads > power else [])


def _pair(size: int | tuple[int, int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else size


def _offsets(window: tuple[int, int], device: torch.device) -> Int[Tensor, "n n 2"]:
    """Query cell minus key cell, down and right; computed anew, since a model built on `meta` keeps no numbers."""
    rows, columns = (torch.arange(side, device=device) for side in window)
    cells = torch.cartesian_prod(rows, columns).view(-1, 2)
    return cells[:, None] - cells[None]


def _steps(queries: int, keys: int, device: torch.device) -> Int[Tensor, "q k"]:
    """How far each query of a side stands behind each key, in steps of the finer side and counted from 0."""
    step_q, step_k = max(keys / queries, 1.0), max(queries / keys, 1.0)
    q, k = torch.arange(queries, device=device) * step_q, torch.arange(keys, device=device) * step_k
    return (q[:, None] - k + (keys - 1) * step_k).long()


def _check_cells(queries: tuple[int, int], keys: tuple[int, int], q: Tensor, k: Tensor) -> None:
    if (q.shape[-2], k.shape[-2]) != (queries[0] * queries[1], keys[0] * keys[1]):
        raise ValueError(
            f"a bias for queries on a map of {queries[0]}×{queries[1]} and keys on one of {keys[0]}×{keys[1]} got "
            f"{q.shape[-2]} and {k.shape[-2]}; give pictures of the size that the model was built for"
        )


def _check_window(window: tuple[int, int], q: Tensor, k: Tensor) -> None:
    cells = window[0] * window[1]
    if q.shape[-2] != cells or k.shape[-2] != cells:
        raise ValueError(
            f"a bias for windows of {window[0]}×{window[1]} needs {cells} queries and keys, "
            f"got {q.shape[-2]} and {k.shape[-2]}; partition the image with Window({window[0]})"
        )
