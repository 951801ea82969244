"""Learned tables: what they know, and how they meet what they do not know."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.layers.position import Learned, Learned2d, interpolate


@given(start=st.integers(0, 11))
def test_a_late_start_gives_the_tail_of_the_whole(start: int) -> None:
    position, x = Learned(12, 8), torch.randn(2, 12, 8)
    assert position(x[:, start:], start=start).equal(position(x)[:, start:])


def test_every_position_has_a_vector_of_its_own_that_learns() -> None:
    position = Learned(6, 4)
    y = position(torch.zeros(1, 6, 4))[0]
    assert torch.unique(y, dim=0).shape[0] == 6
    position(torch.zeros(2, 3, 4), start=2).sum().backward()
    assert position.table.grad is not None
    assert position.table.grad.any(dim=1).tolist() == [False, False, True, True, True, False]


def test_a_table_starts_small() -> None:
    assert Learned(1000, 64).table.std().item() == pytest.approx(0.02, rel=0.05)


def test_a_position_beyond_the_table_is_refused_with_a_way_out() -> None:
    with pytest.raises(ValueError, match=r"position 9 lies beyond .* of 8, 0 to 7; .* Learned\(10, 4\), .*Sinusoidal"):
        Learned(8, 4)(torch.zeros(1, 3, 4), start=7)
    with pytest.raises(ValueError, match="position -1 lies before the first"):
        Learned(8, 4)(torch.zeros(1, 3, 4), start=-1)


def test_an_encoding_may_lie_beside_the_tokens() -> None:
    position, x = Learned(5, 3, how="concatenate"), torch.randn(2, 5, 8)
    y = position(x)
    assert y.shape == (2, 5, 11)
    assert y[..., :8].equal(x)
    assert y[1, :, 8:].equal(position.table)


def test_an_encoding_of_another_width_is_not_added() -> None:
    with pytest.raises(
        ValueError, match=r'width 4 cannot be added to tokens of width 8; give it width 8, or .*how="con'
    ):
        Learned(5, 4)(torch.zeros(1, 5, 8))


def test_a_map_of_the_tables_size_gets_the_table_itself() -> None:
    position = Learned2d((3, 5), 8)
    assert position(torch.zeros(2, 3, 5, 8))[1].equal(position.table)
    assert Learned2d(4, 8).table.shape == (4, 4, 8)


def test_a_stretched_table_keeps_a_constant_and_follows_a_slope() -> None:
    assert torch.allclose(interpolate(torch.full((4, 6, 2), 0.7), 9, 5), torch.tensor(0.7))
    slope = torch.arange(8.0)[:, None, None].expand(8, 8, 1)
    steps = interpolate(slope, 16, 8)[4:-4, 0, 0].diff()
    # Away from the border, twice the cells make steps of about half the height (torch's cubic keeps no slope exactly).
    assert torch.allclose(steps, torch.full_like(steps, 0.5), atol=0.1)


@pytest.mark.parametrize("factor", [2, 3, 4])
def test_a_larger_map_has_smoother_steps(factor: int) -> None:
    position = Learned2d(6, 4)
    steps = interpolate(position.table, 6 * factor, 6 * factor).diff(dim=0).abs().max()
    assert steps < position.table.diff(dim=0).abs().max()


def test_a_stretched_table_still_learns_in_its_own_type() -> None:
    position = Learned2d(4, 8).to(torch.bfloat16)
    y = position(torch.zeros(1, 6, 7, 8, dtype=torch.bfloat16))
    assert y.dtype == torch.bfloat16
    y.float().sum().backward()
    assert position.table.grad is not None
    assert position.table.grad.all()
