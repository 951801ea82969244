"""Disentangled attention scores words and distances apart, and is an attention of the core all the same."""

import copy
import pickle
from typing import Any, get_args

import pytest
import torch
from torch import Tensor, nn

from regard.attention import Attention, causal, record
from regard.attention.disentangled import Disentangled, Distances, Terms, disentangled

every_term = pytest.mark.parametrize("terms", get_args(Terms))


def attention(terms: Any = "both", *, shared: bool = True, **changes: Any) -> Attention:
    torch.manual_seed(0)
    distances = Distances(16, **{"buckets": 4, "reach": 12, "norm": nn.LayerNorm(16)} | changes)
    return disentangled(16, 2, distances, terms=terms, shared=shared).eval()


def by_hand(attn: Attention, x: Tensor) -> Tensor:
    """The scores of equation 4, pair by pair."""
    assert isinstance(attn.bias, Disentangled)
    distances, _ = attn.bias._others
    project_q, project_k = attn.bias.q or attn.q, attn.bias.k or attn.k
    terms = attn.bias.terms
    q, k = (project(x).unflatten(-1, (2, 8)) for project in (attn.q, attn.k))
    scores = torch.zeros(x.shape[0], 2, x.shape[1], x.shape[1])
    for i in range(x.shape[1]):
        for j in range(x.shape[1]):
            vector = distances(torch.tensor([i - j]))[0]
            score = (q[:, i] * k[:, j]).sum(-1)
            if terms != "p2c":
                score = score + (q[:, i] * project_k(vector).view(2, 8)).sum(-1)
            if terms != "c2p":
                score = score + (k[:, j] * project_q(vector).view(2, 8)).sum(-1)
            scores[..., i, j] = score / (8 * (3 if terms == "both" else 2)) ** 0.5
    return scores


@torch.no_grad()
@every_term
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("tokens", [1, 2, 9])
def test_the_scores_are_the_papers(terms: Any, shared: bool, tokens: int) -> None:
    attn, x = attention(terms, shared=shared), torch.randn(3, tokens, 16)
    with record(attn) as trace:
        attn(x)
    torch.testing.assert_close(trace.weights(""), by_hand(attn, x).softmax(dim=-1))


@torch.no_grad()
@every_term
def test_the_newest_words_look_as_they_do_in_the_whole_text(terms: Any) -> None:
    attn, x = attention(terms), torch.randn(2, 9, 16)
    whole = attn(x, visible=causal(9))
    _, past = attn.step(x[:, :5])
    newest, _ = attn.step(x[:, 5:], past)
    torch.testing.assert_close(newest, whole[:, 5:])


@torch.no_grad()
def test_only_distances_count_and_beyond_the_reach_all_are_alike() -> None:
    attn, x = attention(), torch.randn(1, 1, 16).expand(-1, 60, -1)
    with record(attn) as trace:
        attn(x)
    logs = trace.weights("")[0].log()
    near = logs[:, 30, 25:36] - logs[:, 30, 30:31]
    torch.testing.assert_close(near, logs[:, 35, 30:41] - logs[:, 35, 35:36])
    torch.testing.assert_close(logs[:, 59, :40], logs[:, 59, :1].expand(-1, 40))
    assert not torch.allclose(near[:, 4], near[:, 6])  # before is not after


def test_near_distances_have_vectors_of_their_own() -> None:
    rows = Distances(8, buckets=8, reach=32).bucket(torch.arange(-5, 6))
    assert rows.tolist() == [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    far = Distances(8, buckets=8, reach=32).bucket(torch.arange(4, 40))
    assert far.diff().ge(0).all()
    assert far.unique().tolist() == [12, 13, 14, 15]
    assert Distances(8, buckets=None, reach=3).bucket(torch.arange(-5, 6)).tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5]


def test_distances_are_shared_and_stored_once() -> None:
    distances = Distances(16)
    one, two = (disentangled(16, 2, distances) for _ in range(2))
    assert not any("table" in name for name in one.state_dict())
    assert one.state_dict().keys() == {
        f"{part}.{name}" for part in ("q", "k", "v", "out") for name in ("weight", "bias")
    }
    (one(torch.randn(1, 4, 16)) + two(torch.randn(1, 4, 16))).sum().backward()
    assert distances.table.weight.grad is not None


@torch.no_grad()
def test_a_copy_looks_by_its_own_projections() -> None:
    attn, x = attention(), torch.randn(1, 5, 16)
    before = attn(x)
    for other in (copy.deepcopy(attn), pickle.loads(pickle.dumps(attn))):
        assert other(x).equal(before)
        other.k = nn.Linear(16, 16)  # as somebody does who quantizes or adapts it
        assert isinstance(other.bias, Disentangled)
        assert other.bias._others[1].k is other.k
    assert attn(x).equal(before)


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1 buckets hold 0 distances each way exactly .* give at least 2 buckets and"):
        Distances(8, buckets=1)
    with pytest.raises(ValueError, match=r"256 buckets hold 128 distances .* up to 100; .* a reach above 129"):
        Distances(8, reach=100)
    wrong: Any = "p2p"
    with pytest.raises(ValueError, match="the terms of a score cannot be 'p2p'; choose from both, c2p, p2c"):
        disentangled(8, 2, Distances(8), terms=wrong)
    attn = attention()
    with pytest.raises(ValueError, match="3 queries cannot be the newest of 2 keys"):
        attn(torch.randn(1, 3, 16), attn.remember(torch.randn(1, 2, 16)))
