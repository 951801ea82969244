"""The network of the speed-runs: its first channels are uncorrelated, and it begins near the identity."""

import pytest
import torch
import torch.nn.functional as F

from regard.models import build
from regard.models.airbench import Airbench, Config, Group, Whiten


def test_whitened_patches_are_uncorrelated_and_equally_strong() -> None:
    torch.manual_seed(0)
    image = F.avg_pool2d(torch.randn(64, 3, 34, 34), 3, stride=1)  # neighbours are alike, as in pictures
    whiten = Whiten(3, 2)
    whiten.learn(image)
    seen = whiten(image)[:, :12].transpose(0, 1).flatten(1)
    expected = torch.eye(12)
    # What little is added to the variance makes faint components a bit fainter.
    torch.testing.assert_close(torch.cov(seen), expected, atol=0.05, rtol=0)


def test_every_component_comes_with_both_signs() -> None:
    whiten = Whiten(3, 2)
    whiten.learn(torch.randn(8, 3, 8, 8))
    torch.testing.assert_close(whiten.filters[:12], -whiten.filters[12:])


def test_filters_are_kept_and_not_learned() -> None:
    model = build("airbench-nano")
    assert "whiten.filters" in model.state_dict()
    assert "whiten.filters" not in dict(model.named_parameters())


def test_a_convolution_begins_as_the_identity_as_far_as_it_can() -> None:
    group = Group(8, 16, residual=False, momentum=0.4)
    x = torch.randn(2, 8, 6, 6)
    torch.testing.assert_close(group.first(x)[:, :8], x)


def test_a_picture_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="a picture of 6 pixels does not halve 3 times; give size 9 or more"):
        Airbench(Config(size=6))
    assert Airbench(Config(size=9)).eval()(torch.randn(1, 3, 9, 9)).shape == (1, 10)
