"""Why the scores are divided by √d: wider heads, larger variance, lower entropy, smaller gradients (deck 003)."""

import math

import pytest
import torch

from regard.attention import Dot, Look

WIDTHS = (4, 16, 64, 256, 1024)
KEYS = 32


def look(width: int, scale: float | None) -> Look:
    """A thousand queries and keys of independent unit normal numbers."""
    generator = torch.Generator().manual_seed(width)
    q, k = (torch.randn(1, 1, n, width, generator=generator) for n in (1000, KEYS))
    return Look(q, k, Dot(scale))


def entropy(look: Look) -> float:
    weights = look.weights().clamp(min=1e-30)
    return float(-(weights * weights.log()).sum(dim=-1).mean())


def sensitivity(look: Look) -> float:
    """How much the weights move when the scores do: the mean size of the softmax's Jacobian, w_i (1 - w_i)."""
    weights = look.weights()
    return float((weights * (1 - weights)).sum(dim=-1).mean())


@pytest.mark.parametrize("width", WIDTHS)
def test_the_variance_of_a_product_is_its_width(width: int) -> None:
    for scale, expected in ((1.0, width), (None, 1.0)):
        one = look(width, scale)
        assert float(one.score(one.q, one.k).var()) == pytest.approx(expected, rel=0.25)


def test_without_scaling_wide_heads_look_at_one_key_only() -> None:
    plain = [entropy(look(width, 1.0)) for width in WIDTHS]
    assert plain == sorted(plain, reverse=True)
    assert plain[-1] < 0.15
    scaled = [entropy(look(width, None)) for width in WIDTHS]
    assert min(scaled) > 0.8 * math.log(KEYS)


def test_without_scaling_the_gradient_of_the_softmax_vanishes() -> None:
    plain = [sensitivity(look(width, 1.0)) for width in WIDTHS]
    assert plain == sorted(plain, reverse=True)
    assert plain[-1] < 0.1
    assert min(sensitivity(look(width, None)) for width in WIDTHS) > 0.9
