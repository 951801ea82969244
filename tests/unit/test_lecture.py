"""The lecture's construction of attention, slide by slide; each step contains the one before it.

additive → dot → scaled → many queries → separate keys and values → self → masked → multi-head → cross
"""

import math

import pytest
import torch
from torch import Tensor, nn

from regard.attention import Additive, Attention, Dot, Memory, additive, causal, multihead

N, D = 6, 8  # six input vectors of width eight


def bare(score: Dot | Additive) -> Attention:
    """Attention with no projections: the inputs are their own keys and values."""
    return Attention(nn.Identity(), nn.Identity(), nn.Identity(), nn.Identity(), score=score)


@pytest.fixture
def x() -> Tensor:
    return torch.randn(1, N, D)


@pytest.fixture
def h() -> Tensor:
    """One query, as the decoder's state is."""
    return torch.randn(1, 1, D)


def same(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_1_additive_a_small_network_scores_each_input(x: Tensor, h: Tensor) -> None:
    """e_i = f_att(h, x_i),  a = softmax(e),  c = Σ a_i x_i."""
    attn = additive(query=D, context=D, hidden=5)
    assert isinstance(attn.score, Additive)
    scores = [attn.score.energy(torch.tanh(attn.q(h[0, 0]) + attn.k(x_i))) for x_i in x[0]]
    a = torch.softmax(torch.cat(scores), dim=0)
    same(attn(h, attn.remember(x))[0, 0], sum(a_i * x_i for a_i, x_i in zip(a, x[0], strict=True)))


def test_2_dot_the_network_becomes_a_product(x: Tensor, h: Tensor) -> None:
    """e_i = h · x_i."""
    a = torch.softmax(x[0] @ h[0, 0], dim=0)
    same(bare(Dot(1.0))(h, Memory(x[:, None], x[:, None]))[0, 0], a @ x[0])


def test_3_scaled_divides_the_product_by_the_root_of_the_width(x: Tensor, h: Tensor) -> None:
    """e_i = h · x_i / √D: the dot product of a shorter query."""
    attn = bare(Dot())
    same(attn(h, attn.remember(x)), bare(Dot(1.0))(h / math.sqrt(D), attn.remember(x)))


def test_4_many_queries_are_asked_at_once(x: Tensor) -> None:
    """e_ij = q_j · x_i / √D: each query is answered as if it had come alone."""
    attn, queries = bare(Dot()), torch.randn(1, 4, D)
    memory = attn.remember(x)
    same(attn(queries, memory), torch.cat([attn(q, memory) for q in queries.split(1, dim=1)], dim=1))


def test_5_keys_say_where_to_look_and_values_what_is_there(x: Tensor) -> None:
    """k = x W_k, v = x W_v: with both the identity, it is the step before; values may have any width."""
    queries = torch.randn(1, 4, D)
    split = Attention(nn.Identity(), nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False), nn.Identity())
    nn.init.eye_(split.k.weight)
    nn.init.eye_(split.v.weight)
    same(split(queries, split.remember(x)), bare(Dot())(queries, bare(Dot()).remember(x)))
    wide = Attention(nn.Identity(), nn.Linear(D, D), nn.Linear(D, 3), nn.Identity())
    assert wide(queries, wide.remember(x)).shape == (1, 4, 3)


def test_6_self_attention_asks_its_own_inputs(x: Tensor) -> None:
    """q = x W_q: the general layer, given the queries that the inputs make."""
    own = multihead(D, 1)
    general = Attention(nn.Identity(), own.k, own.v, own.out)
    same(own(x), general(own.q(x), general.remember(x)))


def test_7_masked_the_future_weighs_nothing(x: Tensor) -> None:
    """Setting the scores of the future to −∞ gives each word the attention over its own prefix."""
    attn = multihead(D, 1)
    masked = attn(x, visible=causal(N))
    for t in range(1, N + 1):
        same(masked[:, t - 1], attn(x[:, :t])[:, -1])


def test_8_multihead_is_several_attentions_side_by_side(x: Tensor) -> None:
    """Each head has its own rows of W_q, W_k, W_v; their answers lie side by side and W_o blends them."""
    attn = multihead(D, 2, qkv_bias=False, out_bias=False)
    heads = []
    for rows in (slice(0, 4), slice(4, 8)):
        q, k, v = (x @ linear.weight[rows].T for linear in (attn.q, attn.k, attn.v))
        heads.append(torch.softmax(q @ k.mT / math.sqrt(4), dim=-1) @ v)
    same(attn(x), torch.cat(heads, dim=-1) @ attn.out.weight.T)


def test_8_one_head_is_plain_self_attention(x: Tensor) -> None:
    attn = multihead(D, 1, qkv_bias=False, out_bias=False)
    q, k, v = x @ attn.q.weight.T, x @ attn.k.weight.T, x @ attn.v.weight.T
    same(attn(x), torch.softmax(q @ k.mT / math.sqrt(D), dim=-1) @ v @ attn.out.weight.T)


def test_9_cross_attention_is_the_same_layer_looking_elsewhere(x: Tensor) -> None:
    """Looking at a memory of yourself is self-attention; at an encoder's output, it is cross-attention."""
    attn = multihead(D, 2)
    same(attn(x, attn.remember(x)), attn(x))
    cross, encoded = multihead(D, 2, context=5), torch.randn(1, 9, 5)
    assert cross(x, cross.remember(encoded)).shape == (1, N, D)


def test_the_order_of_the_inputs_does_not_matter(x: Tensor, h: Tensor) -> None:
    """A query's answer is permutation-invariant, self-attention is permutation-equivariant."""
    order = torch.randperm(N)
    asked, own = additive(D, D, 5), multihead(D, 2)
    same(asked(h, asked.remember(x[:, order])), asked(h, asked.remember(x)))
    same(own(x[:, order]), own(x)[:, order])
