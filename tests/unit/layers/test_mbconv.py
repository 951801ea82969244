"""Inverted residuals: what they keep, how far they see, and what they refuse."""

import pytest
import torch
from torch import Tensor, nn

from regard.layers.convolution import SqueezeExcitation
from regard.layers.mbconv import Depthwise, MBConv


def reach(layer: nn.Module, x: Tensor) -> list[tuple[int, int]]:
    """The cells of a map that the middle of the outcome depends on."""
    x = x.requires_grad_()
    y = layer(x)
    y[..., y.shape[-2] // 2, y.shape[-1] // 2].sum().backward()
    assert x.grad is not None
    return [(int(row), int(column)) for row, column in x.grad.abs().sum(dim=(0, 1)).nonzero()]


@pytest.mark.parametrize("side", [7, 8])
@pytest.mark.parametrize("dilations", [(1,), (1, 2, 3)])
def test_a_stride_halves_branch_and_shortcut_alike(side: int, dilations: tuple[int, ...]) -> None:
    conv = MBConv(4, 8, stride=2, expansion=6, dilations=dilations)
    assert conv(torch.randn(2, 4, side, side)).shape == (2, 8, -(-side // 2), -(-side // 2))
    assert MBConv(4, 4)(torch.randn(2, 4, side, side)).shape == (2, 4, side, side)


def test_dilations_see_farther_with_as_many_weights() -> None:
    near, far = Depthwise(6), Depthwise(6, dilations=(1, 2, 3))
    assert sum(p.numel() for p in near.parameters()) == sum(p.numel() for p in far.parameters())
    assert len(reach(near, torch.randn(1, 6, 9, 9))) == 9
    seen = reach(far, torch.randn(1, 6, 9, 9))
    assert {(4 + d * row, 4 + d * column) for d in (1, 2, 3) for row in (-1, 0, 1) for column in (-1, 0, 1)} == {*seen}


def test_squeeze_excitation_scales_channels_by_their_means_wherever_these_come_from() -> None:
    gate, x = SqueezeExcitation(4, 2), torch.randn(2, 4, 5, 5)
    shuffled = x.flatten(2)[:, :, torch.randperm(25)].view_as(x)
    ratio, other = gate(x) / x, gate(shuffled) / shuffled
    torch.testing.assert_close(ratio[:, :, 0, 0], other[:, :, 3, 3])
    assert ((ratio > 0) & (ratio < 1)).all()


def test_a_whole_map_that_skips_its_branch_is_its_shortcut() -> None:
    conv, x = MBConv(4, 4, drop_path=0.999999), torch.randn(2, 4, 6, 6)
    assert conv.train()(x).equal(x)
    assert not conv.eval()(x).equal(x)


def test_channels_that_do_not_split_among_dilations_are_refused() -> None:
    with pytest.raises(ValueError, match="8 channels do not split evenly among 3 dilations; try 6 or 9"):
        Depthwise(8, dilations=(1, 2, 3))
