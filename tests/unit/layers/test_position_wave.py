"""Codes of sines and cosines: unique, bounded, consistent in distance, and without an end."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from regard.layers.position import Fourier, GroundSample, Sinusoidal, Sinusoidal2d, coordinates, sinusoid

FAR = st.integers(0, 10**6)


@given(place=FAR, pair=st.integers(0, 15))
def test_the_code_is_the_formula_of_the_paper_at_any_place(place: int, pair: int) -> None:
    angle = place / 10000 ** (2 * pair / 32)
    encoding = sinusoid(torch.tensor([place]), 32)[0]
    assert encoding.dtype == torch.float32
    assert encoding[2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-6)
    assert encoding[2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@given(place=FAR, other=FAR, distance=st.integers(0, 500))
def test_likeness_depends_on_distance_alone(place: int, other: int, distance: int) -> None:
    here, there, others, theirs = sinusoid(torch.tensor([place, place + distance, other, other + distance]), 64)
    assert (here @ there).item() == pytest.approx((others @ theirs).item(), abs=2e-5)


def test_likeness_fades_with_distance_at_first() -> None:
    encoding = sinusoid(torch.arange(8), 128)
    assert ((encoding @ encoding[0]).diff() < 0).all()


def test_every_place_has_a_code_of_its_own_and_none_leaves_the_unit_box() -> None:
    encoding = sinusoid(torch.arange(20000), 16)
    assert torch.unique(encoding, dim=0).shape[0] == 20000
    assert encoding.abs().max() <= 1
    maps = Sinusoidal2d(16)(torch.zeros(1, 40, 50, 16))[0]
    assert torch.unique(maps.flatten(0, 1), dim=0).shape[0] == 2000
    assert maps.abs().max() <= 1


@given(start=st.integers(0, 19))
def test_a_late_start_gives_the_tail_of_the_whole(start: int) -> None:
    position, x = Sinusoidal(8), torch.randn(2, 20, 8)
    assert position(x[:, start:], start=start).equal(position(x)[:, start:])


def test_longer_inputs_than_ever_seen_need_nothing_new() -> None:
    position = Sinusoidal(8)
    short, long = position(torch.zeros(1, 4, 8)), position(torch.zeros(1, 5000, 8))
    assert long[:, :4].equal(short)
    assert not list(position.parameters())
    assert not position.state_dict()


def test_concatenation_leaves_the_tokens_alone() -> None:
    x = torch.randn(2, 7, 5)
    y = Sinusoidal(4, how="concatenate")(x, start=3)
    assert y[..., :5].equal(x)
    assert y[1, :, 5:].equal(sinusoid(torch.arange(3, 10), 4))


def test_a_code_takes_the_type_of_its_tokens() -> None:
    assert Sinusoidal(4)(torch.zeros(1, 3, 4, dtype=torch.bfloat16)).dtype == torch.bfloat16
    exact = Sinusoidal(4)(torch.zeros(1, 3, 4, dtype=torch.float64))[0, 2, 0].item()
    assert exact == pytest.approx(math.sin(2), abs=1e-15)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: sinusoid(torch.arange(3), 7), "width 7 does not split into pairs.*; try 6 or 8"),
        (lambda: Sinusoidal(1), "width 1 does not split.*; try 2"),
        (lambda: Sinusoidal2d(6), "width 6 does not split.*half for rows.*; try 4 or 8"),
        (lambda: GroundSample(10), "width 10 .*; try 8 or 12"),
        (lambda: Sinusoidal(8)(torch.zeros(1, 2, 6)), "width 8 cannot be added to tokens of width 6"),
        (lambda: Fourier(2, 4, (8, 8, 8)), "3 reaches do not fit 2 axes"),
        (lambda: Fourier(2, 4, 1), "reach 1 tells no two cells apart; give at least 2"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_way_out(build: object, words: str) -> None:
    assert callable(build)
    with pytest.raises(ValueError, match=words):
        build()


def test_rows_fill_the_first_half_of_a_maps_code_and_columns_the_second() -> None:
    y = Sinusoidal2d(8)(torch.zeros(2, 3, 5, 8))
    assert y[1, :, 4, :4].equal(sinusoid(torch.arange(3), 4))
    assert y[1, 2, :, 4:].equal(sinusoid(torch.arange(5), 4))


@given(distance=st.floats(0.1, 30), times=st.integers(2, 5))
def test_a_place_on_the_ground_has_one_code_in_pictures_of_any_resolution(distance: float, times: int) -> None:
    position = GroundSample(16, reference=10.0)
    coarse = position(torch.zeros(1, 4, 3, 16), distance * times)
    fine = position(torch.zeros(1, 4 * times, 3 * times, 16), distance)
    assert torch.allclose(fine[:, ::times, ::times], coarse, atol=1e-6)
    assert not torch.allclose(fine[:, :4, :3], coarse, atol=1e-3)


def test_pictures_of_a_batch_have_their_own_ground_and_the_reference_is_a_plain_map() -> None:
    position, x = GroundSample(8, reference=2.0), torch.randn(2, 3, 4, 8)
    y = position(x, torch.tensor([2.0, 0.5]))
    assert torch.allclose(y[0], Sinusoidal2d(8)(x)[0])
    assert torch.allclose(y[1:], position(x[1:], 0.5))
    assert torch.unique(position(torch.zeros_like(x), 0.3)[0].flatten(0, 1), dim=0).shape[0] == 12


def test_fourier_features_are_the_coordinates_then_all_sines_then_all_cosines() -> None:
    position, x = Fourier(2, 3, (8, 4)), torch.rand(5, 7, 2) * 2 - 1
    y = position(x)
    assert y.shape == (5, 7, position.width)
    first, second = (np.linspace(1, top, 3) for top in (4, 2))
    phase = np.pi * np.concatenate((x[..., :1].numpy() * first, x[..., 1:].numpy() * second), axis=-1)
    wanted = np.concatenate((x.numpy(), np.sin(phase), np.cos(phase)), axis=-1)
    assert np.allclose(y.numpy(), wanted, atol=1e-5)


def test_exponential_bands_are_those_of_nerf() -> None:
    x = torch.tensor([[0.3]])
    bands = Fourier(1, 4, 2**4, spacing="exponential")(x)[0, 1:5]
    assert torch.allclose(bands, torch.tensor([math.sin(math.pi * 0.3 * 2**i) for i in range(4)]), atol=1e-6)


def test_fourier_tells_apart_all_the_cells_of_a_grid_and_stays_bounded() -> None:
    cells = coordinates(6, 10, 4)
    assert cells.shape == (240, 3)
    assert cells[0].tolist() == [-1, -1, -1]
    assert cells[1].tolist() == pytest.approx([-1, -1, -1 / 3])
    assert cells[-1].tolist() == [1, 1, 1]
    features = Fourier(3, 4, (6, 10, 4))(cells)
    assert torch.unique(features, dim=0).shape[0] == 240
    assert features.abs().max() <= 1
    assert coordinates(3).tolist() == [[-1], [0], [1]]


def test_codes_survive_being_built_without_memory() -> None:
    with torch.device("meta"):
        position = nn.ModuleList([Sinusoidal(8), Fourier(1, 2, 4)])
    assert position[0](torch.zeros(1, 3, 8))[0].equal(sinusoid(torch.arange(3), 8))
    assert position[1](torch.zeros(1, 1)).tolist() == [[0, 0, 0, 1, 1]]
