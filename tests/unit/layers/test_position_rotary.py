"""Rotations: scores that know the distance and nothing else."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import causal, multihead
from regard.layers.position import Rotary, Rotary2d


@given(shift=st.integers(0, 10**5), interleaved=st.booleans())
def test_scores_depend_on_distance_alone(shift: int, interleaved: bool) -> None:
    rotary, q, k = Rotary(8, interleaved=interleaved), torch.randn(1, 2, 5, 8), torch.randn(1, 2, 5, 8)
    assert torch.allclose(rotary(q, shift) @ rotary(k, shift).mT, rotary(q, 0) @ rotary(k, 0).mT, atol=1e-5)
    assert not torch.allclose(rotary(q, 1) @ rotary(k, 0).mT, rotary(q, 0) @ rotary(k, 0).mT, atol=1e-2)


@given(start=st.integers(0, 10**6), interleaved=st.booleans())
def test_turning_changes_no_length(start: int, interleaved: bool) -> None:
    x = torch.randn(2, 3, 4, 16)
    assert torch.allclose(Rotary(16, interleaved=interleaved)(x, start).norm(dim=-1), x.norm(dim=-1), atol=1e-5)
    assert torch.allclose(Rotary2d(16, 5, interleaved=interleaved)(x, start).norm(dim=-1), x.norm(dim=-1), atol=1e-5)


@given(start=st.integers(0, 11), interleaved=st.booleans())
def test_a_late_start_gives_the_tail_of_the_whole(start: int, interleaved: bool) -> None:
    x = torch.randn(2, 2, 12, 8)
    for rotary in (Rotary(8, interleaved=interleaved), Rotary2d(8, 4, leading=1, interleaved=interleaved)):
        assert rotary(x[:, :, start:], start).equal(rotary(x, 0)[:, :, start:])


def test_the_first_place_is_not_turned_and_every_other_is_turned_its_own_way() -> None:
    x = torch.ones(1, 1, 3000, 8)
    y = Rotary(8)(x, 0)[0, 0]
    assert y[0].equal(x[0, 0, 0])
    assert torch.unique(y, dim=0).shape[0] == 3000


def test_the_two_layouts_are_one_rotation_of_reordered_channels() -> None:
    x = torch.randn(1, 2, 6, 8)
    order = torch.arange(8).view(2, 4).T.flatten()
    assert torch.allclose(Rotary(8)(x, 3)[..., order], Rotary(8, interleaved=True)(x[..., order], 3), atol=1e-6)


def test_a_wide_head_keeps_its_last_channels() -> None:
    x = torch.randn(1, 2, 6, 12)
    y = Rotary(8)(x, 3)
    assert y[..., :8].equal(Rotary(8)(x[..., :8], 3))
    assert y[..., 8:].equal(x[..., 8:])


@pytest.mark.parametrize("interleaved", [False, True])
def test_decoding_step_by_step_equals_the_whole(interleaved: bool) -> None:
    attn = multihead(32, 4, groups=2, rotary=Rotary(8, interleaved=interleaved)).eval()
    x = torch.randn(2, 9, 32)
    whole = attn(x, visible=causal(9))
    with torch.no_grad():
        past = attn.remember(x[:, :4])
        steps = [attn(x[:, :4], past, visible=causal(4))]
        for t in range(4, 9):
            past = attn.remember(x[:, t : t + 1], past)
            steps.append(attn(x[:, t : t + 1], past))
    assert torch.allclose(torch.cat(steps, dim=1), whole, atol=1e-5)


def test_order_matters_to_an_attention_that_turns() -> None:
    x = torch.randn(1, 6, 32)
    plain, turning = multihead(32, 4), multihead(32, 4, rotary=Rotary(8))
    assert torch.allclose(plain(x.flip(1)).flip(1), plain(x), atol=1e-6)
    assert not torch.allclose(turning(x.flip(1)).flip(1), turning(x), atol=1e-3)


def test_a_run_without_gradients_leaves_one_with_them_intact() -> None:
    attn, x = multihead(32, 4, rotary=Rotary(8)), torch.randn(1, 7, 32)
    with torch.inference_mode():
        attn(x)
    attn(x).sum().backward()
    assert all(each.grad is not None and each.grad.isfinite().all() for each in attn.parameters())


def test_heads_of_half_precision_stay_so() -> None:
    x = torch.randn(1, 2, 5, 8)
    y = Rotary(8)(x.bfloat16(), 100_000)
    assert y.dtype == torch.bfloat16
    assert torch.allclose(y.float(), Rotary(8)(x, 100_000), atol=0.05)


def _scores(rotary: Rotary2d, q: Tensor, k: Tensor, row: int, column: int) -> Tensor:
    """Scores between the cells of a 3 × 4 patch whose corner is at (row, column) of a grid of 20 columns."""
    cells = (torch.arange(row, row + 3)[:, None] * 20 + torch.arange(column, column + 4)).flatten()
    q, k = (torch.zeros(1, 1, 400, 16).index_copy(2, cells, x) for x in (q, k))
    scores: Tensor = rotary(q, 0) @ rotary(k, 0).mT
    return scores[:, :, cells][..., cells]


@given(row=st.integers(0, 17), column=st.integers(0, 16), interleaved=st.booleans())
def test_on_a_grid_scores_depend_on_both_distances_alone(row: int, column: int, interleaved: bool) -> None:
    rotary = Rotary2d(16, 20, interleaved=interleaved)
    q, k = torch.randn(2, 1, 1, 12, 16)
    assert torch.allclose(_scores(rotary, q, k, row, column), _scores(rotary, q, k, 0, 0), atol=1e-5)


def test_rows_turn_the_first_half_and_columns_the_second() -> None:
    x = torch.randn(1, 2, 15, 16)
    y = Rotary2d(16, 5)(x, 0)
    rows, columns = Rotary(8)(x[:, :, ::5, :8], 0), Rotary(8)(x[:, :, :5, 8:], 0)
    assert torch.allclose(y[:, :, ::5, :8], rows, atol=1e-6)
    assert torch.allclose(y[:, :, :5, 8:], columns, atol=1e-6)
    assert torch.unique(Rotary2d(16, 5)(torch.ones(1, 1, 15, 16), 0)[0, 0], dim=0).shape[0] == 15


def test_leading_tokens_have_no_cell() -> None:
    x = torch.randn(1, 2, 2 + 12, 8)
    y = Rotary2d(8, 4, leading=2)(x, 0)
    assert y[:, :, :2].equal(x[:, :, :2])
    assert y[:, :, 2:].equal(Rotary2d(8, 4)(x[:, :, 2:], 0))
    attn = multihead(32, 4, rotary=Rotary2d(8, 4, leading=2))
    assert attn(torch.randn(2, 14, 32)).shape == (2, 14, 32)


def test_what_does_not_fit_is_refused_with_a_way_out() -> None:
    with pytest.raises(ValueError, match="width 7 does not split into pairs that rotate together; try 6 or 8"):
        Rotary(7)
    with pytest.raises(ValueError, match=r"width 6 does not split .* half by column; try 4 or 8"):
        Rotary2d(6, 4)
    with pytest.raises(ValueError, match=r"32 channels does not fit heads of width 8; .* Rotary\(8\)"):
        multihead(32, 4, rotary=Rotary(32))(torch.zeros(1, 2, 32))
    with pytest.raises(ValueError, match=r"width 4 does not fit heads of width 8; .* Rotary2d\(8, 3\)"):
        Rotary2d(4, 3)(torch.zeros(1, 1, 9, 8), 0)
