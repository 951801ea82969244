"""The builders: what they make, and what they say when asked for the impossible."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from regard.attention import (
    Alibi,
    Buckets,
    Continuous2d,
    Partitioned,
    Quadratic2d,
    Relative2d,
    Shaw,
    Window,
    bilinear,
    grid,
    latent,
    multihead,
    padding,
)
from regard.layers.position import Rotary


def test_heads_that_do_not_divide_are_told_what_would() -> None:
    with pytest.raises(ValueError, match="width 100 does not split into 12 heads; try 4, 5, 10 heads"):
        multihead(100, 12)
    with pytest.raises(ValueError, match="12 heads do not share 5 groups; try 3, 4, 6 groups"):
        multihead(12, 12, groups=5)


def test_nothing_makes_no_attention() -> None:
    for width, heads, groups in ((8, 0, None), (8, -2, None), (0, 2, None), (8, 2, 0)):
        with pytest.raises(ValueError, match="make no attention; all must be 1 or more"):
            multihead(width, heads, groups=groups)


def test_buckets_that_cannot_hold_a_distance_are_refused() -> None:
    with pytest.raises(ValueError, match="give at least 4 buckets and a reach above 1"):
        Buckets(4, buckets=2)
    with pytest.raises(ValueError, match=r"32 buckets hold 8 distances each way exactly .* a reach above 8"):
        Buckets(4, reach=8)


@pytest.mark.parametrize("kind", [lambda: Alibi(2), lambda: Buckets(2), lambda: Shaw(4, 3)])
def test_a_bias_by_place_refuses_more_queries_than_keys(kind: Callable[[], nn.Module]) -> None:
    attn = multihead(8, 2, bias=kind())
    with pytest.raises(ValueError, match="6 queries cannot be the newest of 5 keys"):
        attn(torch.randn(1, 6, 8), attn.remember(torch.randn(1, 5, 8)))


def test_rotary_queries_are_the_newest_too() -> None:
    attn = multihead(8, 2, rotary=Rotary(4))
    with pytest.raises(ValueError, match="6 queries cannot be the newest of 5 keys"):
        attn(torch.randn(1, 6, 8), attn.remember(torch.randn(1, 5, 8)))


@pytest.mark.parametrize(
    "bias", [lambda: Alibi(2), lambda: Relative2d(3, 2), lambda: Continuous2d(3, 2), lambda: Quadratic2d(3, 2)]
)
def test_a_model_built_without_numbers_and_loaded_answers_as_the_one_that_was_saved(
    bias: Callable[[], nn.Module],
) -> None:
    saved, x = multihead(8, 2, bias=bias()), torch.randn(1, 9, 8)
    with torch.device("meta"):
        loaded = multihead(8, 2, bias=bias())
    loaded.load_state_dict(saved.state_dict(), assign=True)
    assert loaded(x).equal(saved(x))


def test_learned_queries_do_not_see_padding() -> None:
    pool, x = latent(3, 8, 2), torch.randn(2, 5, 8)
    hidden = pool(x, visible=padding(torch.tensor([5, 3]), 5))
    torch.testing.assert_close(hidden[1:], pool(x[1:, :3]))


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_would_end_deep_inside_torch_is_said_at_the_door() -> None:
    attn, x = multihead(8, 2), torch.randn(2, 5, 8)
    for wrong, error, words in (
        (lambda: attn(x, x), TypeError, r"must be remembered first; write attn\(x, attn.remember\(context\)\)"),
        (lambda: attn(x[0]), ValueError, r"x has shape \(5, 8\), but attention takes batch × tokens × width"),
        (lambda: attn(x[..., :6]), ValueError, "x has width 6, but this attention asks with width 8"),
        (lambda: attn(x, attn.remember(x[:1])), ValueError, "a batch of 2 cannot look at a memory of batch 1"),
        (lambda: multihead(8, 2, bias=Alibi(4))(x), ValueError, "a bias for 4 heads does not fit an attention of 2"),
        (
            lambda: Partitioned(attn, Window(2))(x),
            ValueError,
            r"\(2, 5, 8\), but a partition cuts maps",
        ),
    ):
        with pytest.raises(error, match=words):
            wrong()


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
    assert Alibi(8).slopes == [2**-i for i in range(1, 9)]


def test_relative_keys_score_as_if_each_pair_had_its_own_key() -> None:
    """Shaw 2018, eq. 4: e_ij = q_i · (k_j + r_{j-i}) / √d, with the distance clipped."""
    shaw = Shaw(4, reach=2)
    q, k = torch.randn(1, 2, 6, 4), torch.randn(1, 2, 6, 4)
    for i in range(6):
        for j in range(6):
            r = shaw.keys.weight[min(max(j - i, -2), 2) + 2]
            torch.testing.assert_close(shaw(q, k)[0, :, i, j], q[0, :, i] @ r / 2)
