"""The builders: what they make, and what they say when asked for the impossible."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from regard.attention import (
    Additive,
    Alibi,
    Attention,
    Buckets,
    Continuous2d,
    Dot,
    Location,
    Partitioned,
    Quadratic2d,
    Relative2d,
    Shaw,
    Window,
    additive,
    bilinear,
    causal,
    grid,
    latent,
    location,
    multihead,
    padding,
    record,
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


@pytest.mark.usefixtures("as_users_meet_it")
def test_torchs_bias_is_told_what_it_is_called_here() -> None:
    with pytest.raises(TypeError, match=r"bias is a bool, .* added to the scores; .* qkv_bias=False, out_bias=False"):
        multihead(64, 4, bias=False)
    with pytest.raises(TypeError, match=r"bias is a Tensor, .* write bias=lambda q, k: mask"):
        multihead(64, 4, bias=torch.zeros(3, 3))


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'droput'"):
        multihead(8, 2, droput=0.1)  # type: ignore[call-arg]


def test_a_bilinear_score_reaches_a_context_of_another_width() -> None:
    attn = bilinear(query=6, context=9)
    s, h = torch.randn(2, 3, 6), torch.randn(2, 5, 9)
    expected = torch.softmax(s @ attn.q.weight.T @ h.mT, dim=-1) @ h
    torch.testing.assert_close(attn(s, attn.remember(h)), expected)


def test_a_location_score_looks_where_the_query_says_and_never_asks_the_keys() -> None:
    """Luong 2015, eq. 8: a = softmax(W h), cut to the length; words beyond the last place are ignored."""
    attn = location(query=6, places=5)
    assert isinstance(attn.score, Location)
    s, h, other = torch.randn(2, 3, 6), torch.randn(2, 4, 9), torch.randn(2, 4, 9)
    with record(attn) as trace:
        y = attn(s, attn.remember(h))
        attn(s, attn.remember(other))
    first, second = (look.weights() for look in trace[""])
    expected = torch.softmax((s @ attn.score.place.weight.T)[..., :4], dim=-1)
    torch.testing.assert_close(first[:, 0], expected)
    torch.testing.assert_close(y, expected @ h)
    assert first.equal(second)
    with record(attn) as trace:
        attn(s, attn.remember(torch.randn(2, 7, 9)))
    weights = trace.weights("")
    assert not weights[..., 5:].any()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 1, 3))


def test_a_location_score_of_hidden_places_stays_finite() -> None:
    attn, s = location(query=6, places=2), torch.randn(1, 1, 6, requires_grad=True)
    attn(s, attn.remember(torch.randn(1, 4, 6)), visible=torch.tensor([[False, False, True, True]])).sum().backward()
    assert s.grad is not None
    assert s.grad.isfinite().all()


@pytest.mark.parametrize("build", [lambda: additive(8, 8, 6), lambda: location(8, 5)])
def test_a_trace_keeps_a_score_as_it_was_though_it_goes_on_learning(build: Callable[[], Attention]) -> None:
    attn, x = build(), torch.randn(1, 5, 8)
    with record(attn) as trace:
        attn(x)
    before = trace.weights("")
    assert isinstance(attn.score, nn.Module)
    with torch.no_grad():
        for parameter in attn.score.parameters():
            parameter.add_(1.0 + torch.rand_like(parameter))
    assert trace.weights("").equal(before)


def test_several_heads_may_score_in_any_way() -> None:
    x = torch.randn(2, 5, 8)
    for score in (Dot(1.0), Additive(4), Location(4, 5), lambda q, k: -torch.cdist(q, k)):
        attn = multihead(8, 2, score=score).eval()
        with record(attn) as trace:
            y = attn(x)
        look, v = trace[""][0], attn.remember(x).v
        torch.testing.assert_close(look.weights(), score(look.q, look.k).softmax(dim=-1))
        torch.testing.assert_close(y, attn.finish(look.weights() @ v))
    with pytest.raises(ValueError, match=r"keys for each of 2 heads and not for 1 groups; take Dot\(\)"):
        multihead(8, 2, groups=1, score=Additive(4))


def test_heads_may_be_of_any_width() -> None:
    attn = multihead(10, 3, head_width=8, groups=1)
    assert [each.weight.shape for each in (attn.q, attn.k, attn.out)] == [(24, 10), (8, 10), (10, 24)]
    assert attn(torch.randn(2, 5, 10)).shape == (2, 5, 10)
    with pytest.raises(ValueError, match="heads of width 0"):
        multihead(8, 2, head_width=0)


@pytest.mark.parametrize("norm", [nn.RMSNorm, nn.LayerNorm])
def test_queries_and_keys_are_normed_head_by_head_before_they_are_turned(norm: Callable[[int], nn.Module]) -> None:
    rotary = Rotary(4)
    attn, x = multihead(8, 2, qk_norm=norm, rotary=rotary).eval(), torch.randn(2, 5, 8)
    assert attn.q_norm is not None
    assert attn.k_norm is not None
    nn.init.normal_(attn.q_norm.weight)
    nn.init.normal_(attn.k_norm.weight)
    look = attn.look(x, attn.remember(x))
    for heads, project, norms in ((look.q, attn.q, attn.q_norm), (look.k, attn.k, attn.k_norm)):
        expected = rotary(norms(project(x).unflatten(-1, (2, 4)).transpose(1, 2)), 0)
        torch.testing.assert_close(heads, expected)
    whole = attn(x, visible=causal(5))
    past, steps = None, []
    for word in x.split(1, dim=1):
        y, past = attn.step(word, past)
        steps.append(y)
    torch.testing.assert_close(torch.cat(steps, dim=1), whole)


def test_where_tells_queries_and_keys_the_place_and_leaves_the_values() -> None:
    attn, x, where = multihead(8, 2), torch.randn(2, 4, 8), torch.randn(4, 8)
    own = attn(x, where=where)
    torch.testing.assert_close(own, attn(x + where, attn.remember(x, where=where)))
    torch.testing.assert_close(own, attn(x, attn.remember(x, where=where), where=where))
    assert not own.isclose(attn(x + where)).all()


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
