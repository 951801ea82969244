"""Convolutions around a Transformer that denoises."""

import pytest
import torch

from regard.layers.pyramid import AdaptiveConv, Pyramid


def test_a_block_begins_as_its_shortcut_and_then_minds_what_it_is_told() -> None:
    torch.manual_seed(0)
    block, x, moment = AdaptiveConv(8, 12), torch.randn(2, 8, 6, 6), torch.randn(2, 12)
    assert block(x, moment).equal(x)
    torch.nn.init.normal_(block.tell.weight)
    assert not torch.allclose(block(x, moment), block(x, moment + 1))


def test_maps_halve_and_what_is_fine_reaches_the_picture_by_the_skip_alone() -> None:
    torch.manual_seed(0)
    pyramid, moment = Pyramid(3, 8, 3, 12), torch.randn(1, 12)
    torch.nn.init.normal_(pyramid.last.weight)
    image = torch.randn(1, 3, 16, 16)
    maps = pyramid.before(image, moment)
    assert [tuple(each.shape[1:]) for each in maps] == [(8, 16, 16), (16, 8, 8), (32, 4, 4)]
    nothing = torch.zeros_like(maps[-1])
    said = pyramid.behind(nothing, maps, moment)
    assert said.shape == image.shape
    without = pyramid.behind(nothing, [torch.zeros_like(maps[0]), *maps[1:]], moment)
    assert not torch.allclose(said, without)


def test_channels_that_make_no_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="12 fine channels do not split into 8 groups; give a multiple of 8"):
        Pyramid(3, 12, 2, 16)
