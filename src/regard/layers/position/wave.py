"""Sinusoidal position encodings: nothing is learned, so every position has one, however far."""

from collections.abc import Sequence
from typing import Literal

import torch
from einops import repeat
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn

from regard.layers.position.exact import to_float64
from regard.layers.position.join import How, join

PAIRS = "pairs of a sine and a cosine"
PAIRS_2D = "pairs of a sine and a cosine, half for rows and half for columns"


def sinusoid(
    positions: Float[Tensor, "*n"] | Int[Tensor, "*n"], width: int, base: float = 10000.0
) -> Float[Tensor, "*n {width}"]:
    """A sine and a cosine by turns, each pair slower than the one before (Vaswani 2017, §3.5).

    The encoding has the type of the positions, or the default type where they are whole numbers.
    """
    check_width(width, 2, PAIRS)
    dtype = positions.dtype if positions.is_floating_point() else torch.get_default_dtype()
    return _waves(positions, width, base).to(positions.device, dtype)


class Sinusoidal(nn.Module):
    """Fixed sines and cosines of a token's position in the sequence, defined at any length (Vaswani 2017).

    `width` is that of the encoding: added, the tokens' own; concatenated, what the tokens gain. The `layout` is the
    paper's, a sine and a cosine by turns, or has all sines in the first half, as Marian and tensor2tensor do.
    """

    def __init__(
        self,
        width: int,
        *,
        how: How = "add",
        base: float = 10000.0,
        layout: Literal["interleaved", "halves"] = "interleaved",
    ) -> None:
        super().__init__()
        check_width(width, 2, PAIRS)
        self.width, self.base, self.layout = width, base, layout
        self.how: How = how

    def forward(self, x: Float[Tensor, "b n w"], start: int | Int[Tensor, "#b n"] = 0) -> Float[Tensor, "b n o"]:
        """`start` is the position of the first token, or that of every token."""
        places = start if isinstance(start, Tensor) else torch.arange(start, start + x.shape[1], device=x.device)
        waves = _waves(places, self.width, self.base)
        if self.layout == "halves":
            waves = torch.cat((waves[..., 0::2], waves[..., 1::2]), dim=-1)
        return join(x, waves, self.how)


class Sinusoidal2d(nn.Module):
    """Fixed sines and cosines of a cell's row, then of its column, on maps of any size (Parmar 2018)."""

    def __init__(self, width: int, *, how: How = "add", base: float = 10000.0) -> None:
        super().__init__()
        check_width(width, 4, PAIRS_2D)
        self.width, self.base = width, base
        self.how: How = how

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b h w o"]:
        rows, columns = (torch.arange(side, device=x.device) for side in x.shape[1:3])
        return join(x, grid_waves(rows, columns, self.width, self.base), self.how)


class GroundSample(nn.Module):
    """Sines and cosines of a cell's position on the ground, alike in pictures of any resolution (Scale-MAE, Reed 2023).

    Rows and columns are multiplied by the picture's ground sample distance over the `reference`, in the same unit.
    """

    def __init__(self, width: int, *, reference: float = 1.0, base: float = 10000.0) -> None:
        super().__init__()
        check_width(width, 4, PAIRS_2D)
        self.width, self.reference, self.base = width, reference, base

    def forward(self, x: Float[Tensor, "b h w c"], distance: float | Float[Tensor, " b"]) -> Float[Tensor, "b h w c"]:
        """`distance` is what a cell measures on the ground, one number for all pictures or one for each."""
        each = distance if isinstance(distance, Tensor) else torch.tensor([distance], dtype=torch.float64)
        scale = to_float64(each)[:, None] / self.reference
        rows, columns = (scale * torch.arange(side, device=scale.device) for side in x.shape[1:3])
        return join(x, grid_waves(rows, columns, self.width, self.base), "add")


class Fourier(nn.Module):
    """Coordinates beside sines and cosines of them in many bands (NeRF, Mildenhall 2020; Perceiver, Jaegle 2021).

    Called with coordinates in [-1, 1], it gives `width` features. Along an axis, the bands run from 1 to `reach` / 2
    waves over the whole, so that `reach` cells are told apart. They are spaced evenly as in Perceiver, or by powers as
    in NeRF, whose L bands are `Fourier(3, L, 2**L, spacing="exponential")`.
    """

    def __init__(
        self,
        axes: int,
        bands: int,
        reach: int | Sequence[int],
        *,
        spacing: Literal["linear", "exponential"] = "linear",
    ) -> None:
        super().__init__()
        reaches = [reach] * axes if isinstance(reach, int) else list(reach)
        if len(reaches) != axes:
            raise ValueError(f"{len(reaches)} reaches do not fit {axes} axes; give one for all, or one for each")
        if spacing not in ("linear", "exponential"):
            raise ValueError(f"bands cannot be spaced by {spacing!r}; choose linear or exponential")
        if min(reaches) < 2:
            raise ValueError(f"reach {min(reaches)} tells no two cells apart; give at least 2")
        self.width = axes * (1 + 2 * bands)
        # Plain numbers, not a buffer: a model built on the meta device keeps them.
        self.frequencies = [_frequencies(each / 2, bands, spacing) for each in reaches]

    def forward(self, coordinates: Float[Tensor, "*b n axes"]) -> Float[Tensor, "*b n {self.width}"]:
        points = to_float64(coordinates)
        phase = torch.pi * points[..., None] * points.new_tensor(self.frequencies)
        waves = torch.cat((phase.sin().flatten(-2), phase.cos().flatten(-2)), dim=-1)
        return torch.cat((coordinates, waves.to(coordinates)), dim=-1)


def coordinates(*sides: int) -> Float[Tensor, "n axes"]:
    """The cells of a grid in reading order, each side running from -1 to 1."""
    return torch.cartesian_prod(*(torch.linspace(-1, 1, side) for side in sides)).view(-1, len(sides))


def angles(
    positions: Float[Tensor, "*n"] | Int[Tensor, "*n"], width: int, base: float
) -> Float64[Tensor, "*n {width//2}"]:
    """The angle of each pair of channels at each position, the first pair one radian a step."""
    positions = to_float64(positions)
    pairs = torch.arange(0, width, 2, dtype=positions.dtype, device=positions.device)
    return positions[..., None] * base ** (-pairs / width)


def check_width(width: int, parts: int, what: str) -> None:
    """Refuse a width that does not hold whole waves, and name the nearest that do."""
    if width < 1 or width % parts:
        below = width // parts * parts
        near = " or ".join(str(each) for each in (below, below + parts) if each > 0)
        raise ValueError(f"width {width} does not split into {what}; try {near}")


def _waves(positions: Tensor, width: int, base: float) -> Float64[Tensor, "*n {width}"]:
    angle = angles(positions, width, base)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)


def grid_waves(rows: Tensor, columns: Tensor, width: int, base: float) -> Float64[Tensor, "*b h w {width}"]:
    """Half of the width for a cell's row, half for its column."""
    down, across = (_waves(positions, width // 2, base) for positions in (rows, columns))
    return torch.cat(
        (
            repeat(down, "... h c -> ... h w c", w=across.shape[-2]),
            repeat(across, "... w c -> ... h w c", h=down.shape[-2]),
        ),
        dim=-1,
    )


def _frequencies(top: float, bands: int, spacing: Literal["linear", "exponential"]) -> list[float]:
    """Frequencies from 1 to `top`."""
    steps = [i / max(bands - 1, 1) for i in range(bands)]
    return [1 + (top - 1) * step if spacing == "linear" else top**step for step in steps]
