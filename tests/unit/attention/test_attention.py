"""The builders: what they make, and what they say when asked for the impossible."""

import pytest
import torch

from regard.attention import Alibi, Relative2d, Shaw, bilinear, grid, latent, multihead


def test_heads_that_do_not_divide_are_told_what_would() -> None:
    with pytest.raises(ValueError, match="width 100 does not split into 12 heads; try 4, 5, 10 heads"):
        multihead(100, 12)
    with pytest.raises(ValueError, match="12 heads do not share 5 groups; try 3, 4, 6 groups"):
        multihead(12, 12, groups=5)


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'droput'"):
        multihead(8, 2, droput=0.1)  # type: ignore[call-arg]


def test_a_bilinear_score_reaches_a_context_of_another_width() -> None:
    attn = bilinear(query=6, context=9)
    s, h = torch.randn(2, 3, 6), torch.randn(2, 5, 9)
    expected = torch.softmax(s @ attn.q.weight.T @ h.mT, dim=-1) @ h
    torch.testing.assert_close(attn(s, attn.remember(h)), expected)


def test_where_moves_the_keys_and_leaves_the_values() -> None:
    attn, x, where = multihead(8, 2), torch.randn(1, 4, 8), torch.randn(4, 8)
    memory = attn.remember(x, where=where)
    assert memory.v.equal(attn.remember(x).v)
    assert memory.k.equal(attn.remember(x + where).k)


def test_learned_queries_answer_for_any_length_at_their_own_number() -> None:
    pool = latent(3, 8, 2, context=5)
    assert pool(torch.randn(2, 4, 5)).shape == pool(torch.randn(2, 9, 5)).shape == (2, 3, 8)
    memory = pool.attn.remember(torch.randn(2, 4, 5))
    assert pool(memory).shape == (2, 3, 8)


def test_grouped_queries_have_fewer_keys() -> None:
    attn = multihead(32, 8, groups=2)
    assert attn.remember(torch.randn(1, 3, 32)).k.shape == (1, 2, 3, 4)
    assert attn.q.out_features == 4 * attn.k.out_features


def test_parameters_are_called_by_what_they_are() -> None:
    names = [name for name, _ in multihead(8, 2, bias=Relative2d(2, 2)).named_parameters()]
    assert names == [
        *(f"{part}.{kind}" for part in ("q", "k", "v", "out") for kind in ("weight", "bias")),
        "bias.table",
    ]


def test_a_window_bias_refuses_other_sizes() -> None:
    with pytest.raises(
        ValueError, match="windows of 7×7 needs 49 queries and keys, got 50 and 50; partition the image"
    ):
        multihead(8, 2, bias=Relative2d(7, 2))(torch.randn(1, 50, 8))


def test_a_grid_that_does_not_spread_evenly_is_told_the_rate() -> None:
    assert grid(7, 56).rate == 8
    with pytest.raises(ValueError, match=r"a grid of 7 does not spread evenly over 50 tokens; try Atrous\(8\)"):
        grid(7, 50)


def test_alibi_slopes_are_the_papers() -> None:
    assert Alibi(8).slopes.tolist() == [2**-i for i in range(1, 9)]


def test_relative_keys_score_as_if_each_pair_had_its_own_key() -> None:
    """Shaw 2018, eq. 4: e_ij = q_i · (k_j + r_{j-i}) / √d, with the distance clipped."""
    shaw = Shaw(4, reach=2)
    q, k = torch.randn(1, 2, 6, 4), torch.randn(1, 2, 6, 4)
    for i in range(6):
        for j in range(6):
            r = shaw.keys.weight[min(max(j - i, -2), 2) + 2]
            torch.testing.assert_close(shaw(q, k)[0, :, i, j], q[0, :, i] @ r / 2)
