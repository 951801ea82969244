"""EfficientNet-Lite: published sizes, padding as in TensorFlow, and shortcuts where shapes allow."""

import pytest
import torch
import torch.nn.functional as F

from regard.models import build
from regard.models.efficientnet import PRESETS, EfficientNet, SameConv


@pytest.mark.parametrize(
    ("preset", "millions", "size"),  # the README of tensorflow/tpu, models/official/efficientnet/lite
    [
        ("efficientnet-lite0", 4.7, 224),
        ("efficientnet-lite1", 5.4, 240),
        ("efficientnet-lite2", 6.1, 260),
        ("efficientnet-lite3", 8.2, 280),
        ("efficientnet-lite4", 13.0, 300),
    ],
)
def test_a_published_size_has_as_many_parameters_as_published(preset: str, millions: float, size: int) -> None:
    with torch.device("meta"):
        model = build(preset)
    assert sum(each.numel() for each in model.parameters()) / 1e6 == pytest.approx(millions, abs=0.05)
    assert model.config.size == size


@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [(8, 8), (7, 10), (1, 3)])
def test_a_convolution_gives_a_cell_for_each_step_and_pads_behind_first(
    kernel: int, stride: int, size: tuple[int, int]
) -> None:
    conv, x = SameConv(2, 3, kernel, stride=stride), torch.randn(1, 2, *size)
    found = conv(x)
    assert found.shape[2:] == tuple(-(-side // stride) for side in size)
    # TensorFlow's rule, written out along each side: what is missing, half of it in front, rounded down.
    fronts = [max((-(-side // stride) - 1) * stride + kernel - side, 0) // 2 for side in size]
    wide = F.pad(x, (kernel, kernel, kernel, kernel))
    rows, columns = (slice(kernel - front, None) for front in fronts)
    plain = F.conv2d(wide[:, :, rows, columns], conv.weight, stride=stride)
    torch.testing.assert_close(found, plain[:, :, : found.shape[2], : found.shape[3]])


@torch.no_grad()
def test_a_map_has_as_many_cells_as_the_model_says() -> None:
    model = EfficientNet(PRESETS["efficientnet-nano"]).eval()
    image = torch.randn(2, 3, 31, 48)
    assert model.stem(image).shape[2:] == model.grid(31, 48) == (16, 24)
    assert model.features(image).shape == (2, 4, 6, 64)
    assert model.stride == 8


def test_a_block_has_a_shortcut_where_it_keeps_the_shape() -> None:
    model = EfficientNet(PRESETS["efficientnet-nano"])
    assert [block.join is not None for block in model.blocks] == [True, False, True, False, True]
    assert [block.expand is None for block in model.blocks] == [True, False, False, False, False]


def test_lists_of_stages_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(ValueError, match=r"2 kernels, 7 strides and 7 expansions are not those of the same stages"):
        build("efficientnet-lite0", kernels=(3, 3))
