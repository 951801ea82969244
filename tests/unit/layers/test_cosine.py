"""Cosine attention: directions and temperatures."""

import math

import torch
from torch import nn

from regard.attention import Attention, Dot, record
from regard.layers.cosine import Temperature, UnitLength


def cosine(width: int, heads: int) -> Attention:
    parts = [nn.Linear(width, width, bias=False) for _ in range(4)]
    return Attention(*parts, heads=heads, score=Dot(1.0), q_norm=Temperature(heads), k_norm=UnitLength()).eval()


@torch.no_grad()
def test_how_long_tokens_are_does_not_change_where_they_look() -> None:
    attn, x = cosine(16, 2), torch.randn(2, 5, 16)
    with record(attn) as trace:
        attn(x)
        attn(1000 * x)
    torch.testing.assert_close(trace.weights("", 0), trace.weights("", 1), atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_scores_are_the_cosine_times_a_temperature_of_at_most_a_hundred() -> None:
    attn, x = cosine(16, 2), torch.randn(2, 5, 16)
    assert isinstance(attn.q_norm, Temperature)
    attn.q_norm.log_scale[1] = 50.0
    look = attn.look(x, attn.remember(x))
    q, k = (part(x).unflatten(-1, (2, 8)).transpose(1, 2) for part in (attn.q, attn.k))
    angle = nn.functional.cosine_similarity(q[..., :, None, :], k[..., None, :, :], dim=-1)
    scores = look.score(look.q, look.k)
    torch.testing.assert_close(scores[:, 0], 10 * angle[:, 0], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(scores[:, 1], 100 * angle[:, 1], atol=1e-3, rtol=1e-4)
    assert math.isclose(attn.q_norm.log_scale[0].item(), math.log(10), rel_tol=1e-6)
