"""ConvNeXt: published sizes, and cells that mix by convolution alone."""

from dataclasses import replace

import pytest
import torch

from regard.models import build
from regard.models.convnext import PRESETS, Config, ConvNeXt

NANO = PRESETS["convnext-nano"]


@pytest.mark.parametrize(
    ("preset", "millions"),  # §3 and table 1 of the paper
    [("convnext-tiny", 28.6), ("convnext-small", 50.2), ("convnext-base", 88.6), ("convnext-large", 197.8)],
)
def test_a_published_size_has_as_many_parameters_as_published(preset: str, millions: float) -> None:
    with torch.device("meta"):
        found = sum(each.numel() for each in build(preset).parameters()) / 1e6
    assert found == pytest.approx(millions, rel=0.005)


@torch.no_grad()
def test_a_map_has_as_many_cells_as_the_model_says() -> None:
    model = ConvNeXt(NANO).eval()
    image = torch.randn(2, 3, 32, 48)
    assert model.stem(image).shape[1:3] == model.grid(32, 48) == (8, 12)
    assert model.features(image).shape == (2, 32 // model.stride, 48 // model.stride, 32)


@torch.no_grad()
def test_a_cell_is_touched_by_those_within_reach_of_the_kernel() -> None:
    model = ConvNeXt(Config(widths=(8,), depths=(1,), classes=0, layer_scale=1.0)).eval()
    image = torch.randn(1, 3, 64, 64)
    before = model.features(image)
    image[0, :, 32:36, 32:36] += 1.0  # the cell at row and column 8
    changed = (model.features(image) != before).any(dim=-1)[0].nonzero()
    assert changed.min(dim=0).values.tolist() == [5, 5]
    assert changed.max(dim=0).values.tolist() == [11, 11]


@torch.no_grad()
def test_blocks_begin_close_to_the_identity() -> None:
    model = ConvNeXt(NANO).eval()
    x = torch.randn(2, 8, 8, 16)
    torch.testing.assert_close(model.stages[0](x), x, atol=1e-4, rtol=0)


def test_depths_that_do_not_go_with_the_widths_are_refused() -> None:
    with pytest.raises(ValueError, match="are not those of the same stages"):
        replace(NANO, depths=(1,))
    with pytest.raises(ValueError, match="a kernel of 4 has no middle; give an odd one"):
        replace(NANO, kernel=4)


def test_stochastic_depth_grows_from_block_to_block() -> None:
    model = ConvNeXt(replace(NANO, drop_path=0.2))
    rates = [block.join.drop_path for stage in model.stages for block in stage.blocks]
    assert rates == pytest.approx([0.0, 0.1, 0.2])
