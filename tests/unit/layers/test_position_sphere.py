"""Codes on the sphere: an orthonormal basis, and maps without a seam."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.layers.position import Harmonics, Panorama, harmonics

LONGITUDE = st.floats(-180, 180)
LATITUDE = st.floats(-90, 90)


def _quadrature(degree: int) -> tuple[Tensor, Tensor, Tensor]:
    """Places and weights that integrate products of two harmonics exactly: Gauss-Legendre in z, even in longitude."""
    z, heights = np.polynomial.legendre.leggauss(degree + 1)
    longitude = torch.arange(2 * degree + 2, dtype=torch.float64) * (2 * math.pi / (2 * degree + 2))
    places = torch.cartesian_prod(longitude, torch.from_numpy(np.arcsin(z)))
    weights = torch.from_numpy(heights).repeat(len(longitude)) * (2 * math.pi / (2 * degree + 2))
    return places[:, 0], places[:, 1], weights


@pytest.mark.parametrize("degree", [0, 1, 5, 12, 30])
def test_harmonics_are_orthonormal_on_the_sphere(degree: int) -> None:
    longitude, latitude, weights = _quadrature(degree)
    y = harmonics(longitude, latitude, degree)
    gram = y.T @ (weights[:, None] * y)
    assert torch.allclose(gram, torch.eye((degree + 1) ** 2, dtype=torch.float64), atol=1e-10)
    single = harmonics(longitude.float(), latitude.float(), degree)
    gram = single.T @ (weights[:, None].float() * single)
    assert torch.allclose(gram, torch.eye((degree + 1) ** 2), atol=1e-5)


@given(longitude=LONGITUDE, latitude=LATITUDE)
def test_the_first_nine_are_their_closed_forms(longitude: float, latitude: float) -> None:
    along, up = torch.tensor([longitude, latitude], dtype=torch.float64).deg2rad()
    x, y, z = (float(each) for each in (up.cos() * along.cos(), up.cos() * along.sin(), up.sin()))
    one, two = math.sqrt(3 / (4 * math.pi)), math.sqrt(15 / (4 * math.pi))
    wanted = [math.sqrt(1 / (4 * math.pi)), one * y, one * z, one * x]
    wanted += [two * x * y, two * y * z, math.sqrt(5 / (16 * math.pi)) * (3 * z * z - 1), two * x * z]
    wanted += [two / 2 * (x * x - y * y)]
    assert harmonics(along, up, 2).tolist() == pytest.approx(wanted, abs=1e-12)


@given(longitude=LONGITUDE, latitude=LATITUDE)
def test_no_place_on_earth_is_louder_than_another(longitude: float, latitude: float) -> None:
    """Unsöld's theorem: the squares of all harmonics sum to (degree + 1)² / 4π everywhere, so codes are bounded."""
    along, up = torch.tensor([longitude, latitude], dtype=torch.float64).deg2rad()
    for degree in (3, 40):
        assert harmonics(along, up, degree).square().sum().item() == pytest.approx((degree + 1) ** 2 / (4 * math.pi))


def test_high_degrees_stay_finite_near_the_pole() -> None:
    up = torch.tensor([90.0, 89.999, 60.0, -90.0], dtype=torch.float64).deg2rad()
    assert harmonics(torch.zeros_like(up), up, 100).isfinite().all()


def test_the_date_line_and_the_poles_are_places_like_others() -> None:
    encoding = Harmonics(6, 16)
    east, west = encoding(torch.tensor([[180.0, 20.0], [-180.0, 20.0]]))
    assert torch.allclose(east, west, atol=1e-6)
    pole = encoding(torch.tensor([[[0.0, 90.0], [77.0, 90.0], [-140.0, 90.0]]]))
    assert torch.allclose(pole, pole[:, :1].expand_as(pole), atol=1e-6)


def test_cities_have_codes_of_their_own() -> None:
    places = torch.cartesian_prod(torch.arange(-180.0, 180, 10), torch.arange(-80.0, 81, 10))
    encoding = Harmonics(8, 32)(places)
    distances = torch.cdist(encoding, encoding) + torch.eye(len(places))
    assert distances.min() > 1e-3


def test_the_seam_of_a_panorama_is_no_farther_than_any_neighbours() -> None:
    y = Panorama(24)(torch.zeros(2, 9, 16, 24))[1]
    steps = (y - y.roll(1, dims=1)).norm(dim=-1)
    assert steps[:, 0].max() <= steps[:, 1:].max() * 1.5
    # Going once around by twice the cells halves the largest step across the seam: the encoding is continuous there.
    finer = Panorama(24)
    wide, wider = (finer(torch.zeros(1, 5, w, 24))[0, 2] for w in (64, 128))
    assert (wider[0] - wider[-1]).norm() < 0.6 * (wide[0] - wide[-1]).norm()


def test_straight_up_is_one_direction() -> None:
    y = Panorama(24)(torch.zeros(1, 9, 16, 24))[0]
    for pole in (y[0], y[-1]):
        assert torch.allclose(pole, pole[:1].expand_as(pole), atol=1e-6)
    assert (y[0, 0] - y[-1, 0]).norm() > 0.1
    between = y[1:-1].flatten(0, 1)
    assert (torch.cdist(between, between) + torch.eye(len(between))).min() > 1e-3


def test_a_cell_has_the_code_of_the_direction_it_looks_in() -> None:
    encoding = Panorama(8, degree=3)
    direction = encoding.direction(torch.tensor([[-180 + 360 * 3.5 / 12, 30.0]]))
    assert torch.allclose(encoding(torch.zeros(1, 7, 12, 8))[0, 2, 3], direction[0], atol=1e-6)


def test_a_panorama_of_one_row_is_refused() -> None:
    with pytest.raises(ValueError, match="1 row cannot reach from pole to pole; give at least 2 rows"):
        Panorama(8)(torch.zeros(1, 1, 4, 8))
