"""A deformable convolution starts as a convolution, and reads where its offsets say."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim, export

from regard.layers.deformable import DeformableConv


@pytest.mark.parametrize("modulated", [False, True])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "dilation"), [(3, 1, 1, 1), (3, 2, 1, 1), (1, 1, 0, 1), (5, 2, 2, 1), (3, 1, 2, 2)]
)
@pytest.mark.parametrize("size", [(8, 11), (7, 7)])
def test_without_offsets_it_is_a_convolution(
    modulated: bool, kernel: int, stride: int, padding: int, dilation: int, size: tuple[int, int]
) -> None:
    conv = DeformableConv(4, 6, kernel, stride=stride, padding=padding, dilation=dilation, modulated=modulated)
    x = torch.randn(2, 4, *size, dtype=torch.float64)
    plain = F.conv2d(x, conv.double().weight, conv.bias, stride=stride, padding=padding, dilation=dilation)
    torch.testing.assert_close(conv(x), plain, atol=1e-12, rtol=1e-12)


def test_a_map_of_one_row_is_read_too() -> None:
    conv, x = DeformableConv(2, 3, 3, padding=1), torch.randn(1, 2, 1, 5)
    torch.testing.assert_close(conv(x), F.conv2d(x, conv.weight, conv.bias, padding=1))


@pytest.mark.parametrize(("down", "across"), [(1, 0), (0, -2), (2, 1)])
def test_offsets_that_are_all_the_same_shift_the_convolution(down: int, across: int) -> None:
    conv, x = DeformableConv(3, 5, 3, padding=1, modulated=False), torch.randn(2, 3, 9, 8)
    assert conv.offset.bias is not None
    with torch.no_grad():
        conv.offset.bias.view(-1, 2).copy_(torch.tensor([down, across]))
    shifted = F.conv2d(F.pad(x, (3, 3, 3, 3)), conv.weight, conv.bias)[..., 2 + down :, 2 + across :][..., :9, :8]
    torch.testing.assert_close(conv(x), shifted, atol=1e-5, rtol=1e-5)


def test_half_a_step_reads_the_mean_of_two_neighbours() -> None:
    conv, x = DeformableConv(1, 1, 1, bias=False, modulated=False), torch.randn(1, 1, 4, 6)
    nn.init.ones_(conv.weight)
    assert conv.offset.bias is not None
    with torch.no_grad():
        conv.offset.bias.copy_(torch.tensor([0.0, 0.5]))
    torch.testing.assert_close(conv(x)[..., :-1], (x[..., :-1] + x[..., 1:]) / 2, atol=1e-6, rtol=1e-5)


def test_places_are_those_of_the_kernel_until_something_is_learnt() -> None:
    conv, x = DeformableConv(2, 2, 3, stride=2, padding=1), torch.randn(1, 2, 6, 6)
    places = conv.places(x)
    assert places.shape == (1, 3, 3, 9, 2)
    assert places[0, 1, 2].tolist() == [[r, c] for r in (1.0, 2.0, 3.0) for c in (3.0, 4.0, 5.0)]
    nn.init.normal_(conv.offset.weight)
    assert not torch.equal(conv.places(x), places)


def test_what_a_tap_sees_is_weighed() -> None:
    conv, x = DeformableConv(2, 2, 3, padding=1, bias=False), torch.randn(1, 2, 6, 6)
    assert conv.strength is not None
    assert conv.strength.bias is not None
    before = conv(x)
    nn.init.constant_(conv.strength.bias, -100.0)
    assert conv(x).abs().max() < 1e-6
    nn.init.constant_(conv.strength.bias, 100.0)
    torch.testing.assert_close(conv(x), 2 * before)


@pytest.mark.usefixtures("as_users_meet_it")  # the checks of shapes would be traced too
def test_a_graph_of_it_takes_maps_of_any_size() -> None:
    conv = DeformableConv(2, 3, 3, stride=2, padding=1).eval()
    nn.init.normal_(conv.offset.weight)
    free = {0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO}
    program = export(conv, (torch.randn(2, 2, 6, 8),), dynamic_shapes=(free,))
    x = torch.randn(3, 2, 9, 13)
    torch.testing.assert_close(program.module()(x), conv(x))


def test_offsets_learn_where_to_look() -> None:
    """The target is the picture moved by a column; only the offsets may learn."""
    torch.manual_seed(1)
    conv = DeformableConv(1, 1, 1, bias=False, modulated=False)
    nn.init.ones_(conv.weight)
    # A smooth picture, whose slopes say from afar which way to go.
    x = F.interpolate(torch.randn(4, 1, 5, 5), size=(24, 24), mode="bicubic")
    wanted = x.roll(-1, dims=-1)[..., 2:-2, 2:-2]
    assert conv.offset.bias is not None
    optimizer = torch.optim.Adam([conv.offset.bias], lr=0.05)
    for _ in range(80):
        optimizer.zero_grad()
        (conv(x)[..., 2:-2, 2:-2] - wanted).square().mean().backward()
        optimizer.step()
    torch.testing.assert_close(conv.offset.bias.detach(), torch.tensor([0.0, 1.0]), atol=0.05, rtol=0)
