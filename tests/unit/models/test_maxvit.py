"""MaxViT: sizes, near and far attention, and pictures of any size."""

from typing import Any

import pytest
import torch

from regard.attention import record
from regard.models import build
from regard.models.maxvit import Config, MaxViT

SMALL: dict[str, Any] = dict(
    size=32, stem=8, widths=(16, 32), depths=(1, 1), head_width=8, window=4, classes=5, drop_path=0.0
)


def maxvit(**changes: Any) -> MaxViT:
    return MaxViT(Config(**(SMALL | changes))).eval()


@pytest.mark.parametrize(
    ("preset", "millions"),
    [("maxvit-tiny", 31), ("maxvit-small", 69), ("maxvit-base", 120), ("maxvit-large", 212), ("maxvit-xlarge", 475)],
)
def test_published_sizes_have_the_published_number_of_parameters(preset: str, millions: float) -> None:
    with torch.device("meta"):
        model = build(preset)
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(millions, rel=0.01)


@torch.no_grad()
def test_a_window_is_near_and_a_grid_is_far() -> None:
    model = maxvit()
    with record(model) as trace:
        model(torch.randn(1, 3, 32, 32))
    near, far = (trace.map(f"blocks.0.{part}.attn.attn")[0, 0, 0].view(8, 8) > 0 for part in ("near", "far"))
    assert near[:4, :4].all()
    assert near.sum() == 16
    assert far[::2, ::2].all()
    assert far.sum() == 16


def test_one_block_sees_the_whole_picture() -> None:
    model = maxvit(widths=(16,), depths=(1,))
    image = torch.randn(1, 3, 32, 32, requires_grad=True)
    model.features(image)[0, 0, 0].square().sum().backward()
    assert image.grad is not None
    assert image.grad.abs().sum(dim=1).bool().all()


@torch.no_grad()
@pytest.mark.parametrize(("height", "width"), [(32, 32), (64, 32), (40, 56), (37, 41), (8, 9)])
def test_pictures_of_any_size_are_seen_and_no_padding_is_looked_at(height: int, width: int) -> None:
    model = maxvit()
    with record(model) as trace:
        assert model(torch.randn(2, 3, height, width)).shape == (2, 5)
    rows, columns = model.grid(height, width)
    assert model.features(torch.randn(1, 3, height, width)).shape[1:3] == (-(-rows // 2), -(-columns // 2))
    for name in ("blocks.0.near.attn.attn", "blocks.0.far.attn.attn"):
        seen = trace.map(name)
        assert seen.shape == (2, 2, rows * columns, rows * columns)
        torch.testing.assert_close(seen.sum(dim=-1), torch.ones(seen.shape[:-1]))


@torch.no_grad()
def test_without_classes_the_hidden_layer_is_given() -> None:
    model = maxvit(classes=0)
    vector = model(torch.randn(2, 3, 32, 32))
    assert vector.shape == (2, 32)
    assert vector.abs().max() < 1


def test_a_wrong_config_is_told() -> None:
    with pytest.raises(ValueError, match="2 widths and 1 depths are not those of the same stages"):
        maxvit(depths=(1,))
    with pytest.raises(ValueError, match="width 20 does not split into heads of 8; make it a multiple"):
        maxvit(widths=(16, 20))
