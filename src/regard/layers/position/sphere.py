"""Position encodings on a sphere: points on Earth, directions of a panorama."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.position.exact import to_float64
from regard.layers.position.join import join


class Harmonics(nn.Module):
    """Spherical harmonics of a point on Earth, through a learned linear map (Rußwurm 2024).

    Called with longitude and latitude in degrees, in this order; nothing special happens at 180° or at the poles.
    """

    def __init__(self, degree: int, width: int) -> None:
        super().__init__()
        self.degree = degree
        self.embed = nn.Linear((degree + 1) ** 2, width)

    def forward(self, points: Float[Tensor, "*b 2"]) -> Float[Tensor, "*b w"]:
        longitude, latitude = to_float64(points).deg2rad().unbind(-1)
        encoding: Tensor = self.embed(harmonics(longitude, latitude, self.degree).to(self.embed.weight))
        return encoding


class Panorama(nn.Module):
    """The direction each cell of an equirectangular map looks in, without a seam (after OmniFusion, Li 2022).

    Columns go once around; the top row looks straight up and the bottom row straight down, all of their cells alike.
    It is encoded by `Harmonics`, so that neighbours on the sphere get similar encodings.
    """

    def __init__(self, width: int, *, degree: int = 8) -> None:
        super().__init__()
        self.direction = Harmonics(degree, width)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b h w c"]:
        height, width = x.shape[1:3]
        if height < 2:
            raise ValueError(f"a panorama of {height} row cannot reach from pole to pole; give at least 2 rows")
        row, column = (to_float64(torch.arange(side, device=x.device)) for side in (height, width))
        latitude = 90 - 180 * row / (height - 1)
        longitude = 360 * (column + 0.5) / width - 180
        return join(x, self.direction(torch.cartesian_prod(latitude, longitude).flip(-1).view(height, width, 2)), "add")


def harmonics(
    longitude: Float[Tensor, "*n"], latitude: Float[Tensor, "*n"], degree: int
) -> Float[Tensor, "*n {(degree+1)**2}"]:
    """Real spherical harmonics up to a degree, orthonormal on the sphere, of angles in radians.

    They are ordered by degree n, then by order m from -n to n: sines of -m·longitude where m < 0, cosines where m > 0,
    and no alternating sign. The first four are 1, y, z, x of the direction, times constants.
    """
    longitudes = to_float64(longitude)
    legendre = _legendre(to_float64(latitude), degree)
    waves = [
        legendre[n, abs(m)] * (torch.cos(m * longitudes) if m >= 0 else torch.sin(-m * longitudes))
        for n in range(degree + 1)
        for m in range(-n, n + 1)
    ]
    return torch.stack(waves, dim=-1).to(longitude)


def _legendre(latitude: Float[Tensor, "*n"], degree: int) -> dict[tuple[int, int], Float[Tensor, "*n"]]:
    """Associated Legendre functions of the sine of latitude, scaled as the harmonics need them.

    Degrees go up at a fixed order, which is stable, and the scale is part of each step, so no factorial overflows
    (the forward columns of Holmes and Featherstone 2002).
    """
    z, flat = latitude.sin(), latitude.cos()
    p = {(0, 0): torch.full_like(z, 1 / math.sqrt(4 * math.pi))}
    for m in range(degree + 1):
        if m > 0:
            # Cosines and sines of longitude have half the power of the constant, made good once at order 1.
            p[m, m] = flat * p[m - 1, m - 1] * math.sqrt((2 * m + 1) / (2 * m) * (2 if m == 1 else 1))
        for n in range(m + 1, degree + 1):
            step = z * p[n - 1, m]
            if n > m + 1:
                step = step - p[n - 2, m] * math.sqrt(((n - 1) ** 2 - m**2) / (4 * (n - 1) ** 2 - 1))
            p[n, m] = step * math.sqrt((4 * n**2 - 1) / (n**2 - m**2))
    return p
