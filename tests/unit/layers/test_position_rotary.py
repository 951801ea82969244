"""Rotations: scores that know the distance and nothing else."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import causal, multihead
from regard.layers.position import Dynamic, Linear, Llama3, LongRope, Rotary, Rotary2d, Yarn
from regard.layers.position.scaling import frequencies


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


# --- longer texts than were trained


def test_linear_scaling_puts_positions_closer_together() -> None:
    x = torch.randn(1, 2, 9, 8)
    assert torch.allclose(Rotary(8, scaling=Linear(4.0))(x, 0)[:, :, ::4], Rotary(8)(x[:, :, ::4], 0), atol=1e-6)


@pytest.mark.parametrize("scaling", [Yarn(4.0, 32), Llama3(4.0, 32)])
def test_fast_pairs_are_kept_and_slow_ones_made_slower(scaling: Yarn | Llama3) -> None:
    ratio = frequencies(64, 100.0) / scaling.frequencies(64, 100.0, 0)
    assert ratio[0] == 1
    assert ratio[-1] == pytest.approx(4.0)
    assert (ratio.diff() >= -1e-12).all()


def test_a_dynamic_base_grows_only_beyond_the_context() -> None:
    one = Dynamic(2.0, 16)
    assert all(one.frequencies(8, 100.0, length).equal(frequencies(8, 100.0)) for length in (0, 5, 16))
    assert (one.frequencies(8, 100.0, 20)[1:] > one.frequencies(8, 100.0, 40)[1:]).all()
    # The slowest pair of a text of twice the length turns as far as it did at the context, by factor 2 · 2 - 1.
    assert one.frequencies(8, 100.0, 32)[-1] == pytest.approx(frequencies(8, 100.0)[-1].item() / 3)


def test_divisors_change_beyond_the_context() -> None:
    one = LongRope((1.0, 2.0), (3.0, 4.0), 10)
    plain = frequencies(4, 100.0)
    assert (plain / one.frequencies(4, 100.0, 10)).tolist() == pytest.approx([1, 2])
    assert (plain / one.frequencies(4, 100.0, 11)).tolist() == pytest.approx([3, 4])


def test_yarn_and_divisors_change_the_length_of_what_is_turned() -> None:
    x = torch.randn(1, 1, 5, 8)
    for scaling, strength in (
        (Yarn(4.0, 32), 0.1 * math.log(4) + 1),
        (Yarn(4.0, 32, strength=1.5), 1.5),
        (LongRope((1.0,) * 4, (1.0,) * 4, 8, 0.7), 0.7),
    ):
        assert torch.allclose(Rotary(8, scaling=scaling)(x, 3).norm(dim=-1), x.norm(dim=-1) * strength, atol=1e-5)


@given(starts=st.lists(st.integers(0, 30), min_size=2, max_size=3))
def test_positions_of_each_token_turn_as_their_run_does(starts: list[int]) -> None:
    x, rotary = torch.randn(len(starts), 2, 4, 8), Rotary(8, scaling=Llama3(8.0, 8))
    together = rotary(x, torch.tensor(starts)[:, None] + torch.arange(4))
    for i, start in enumerate(starts):
        assert torch.allclose(together[i : i + 1], rotary(x[i : i + 1], start), atol=1e-6)


def test_scalings_that_do_not_fit_are_refused_with_a_way_out() -> None:
    with pytest.raises(ValueError, match="3 long divisors do not fit the 4 pairs of 8 channels; give one above 0 for"):
        Rotary(8, scaling=LongRope((1.0,) * 4, (1.0,) * 3, 8))
    with pytest.raises(ValueError, match="2 channels has no base that could grow; give 4 channels or more"):
        Rotary(2, scaling=Dynamic(2.0, 8))
