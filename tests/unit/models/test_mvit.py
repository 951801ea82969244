"""MViTv2: sizes, maps that attention makes smaller, and pictures of one size."""

from typing import Any

import pytest
import torch

from regard.attention import record
from regard.models import build
from regard.models.mvit import Config, MViT

SMALL: dict[str, Any] = dict(
    size=32, widths=(16, 32), depths=(1, 2), heads=(1, 2), key_stride=4, classes=5, drop_path=0.0
)


def mvit(**changes: Any) -> MViT:
    return MViT(Config(**(SMALL | changes))).eval()


@pytest.mark.parametrize(("preset", "millions"), [("mvit-tiny", 24.2), ("mvit-small", 34.9), ("mvit-base", 51.5)])
def test_published_sizes_have_the_published_number_of_parameters(preset: str, millions: float) -> None:
    with torch.device("meta"):
        model = build(preset)
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(millions, rel=0.005)


@torch.no_grad()
def test_keys_lie_on_smaller_maps_and_the_first_block_of_a_stage_has_fewer_queries() -> None:
    model = mvit()
    with record(model) as trace:
        model(torch.randn(2, 3, 32, 32))
    assert [trace.map(name).shape for name in trace] == [(2, 1, 64, 4), (2, 2, 16, 16), (2, 2, 16, 4)]
    for name in trace:
        torch.testing.assert_close(trace.map(name).sum(dim=-1), torch.ones(trace.map(name).shape[:-1]))


def test_the_published_maps_are_those_of_the_paper() -> None:
    with torch.device("meta"):
        model = build("mvit-tiny")
    biases = [block.attn.attn.bias for block in model.blocks]
    sides = [(bias.queries[0], bias.keys[0]) for bias in biases]
    assert sides == [(56, 14), (28, 28), (28, 14), (14, 28), *[(14, 14)] * 4, (7, 14), (7, 7)]


# Keys 4 cells apart are made of rows 0, 1 and 3, 4, 5 of the 8, whose patches reach 3 pixels around every fourth: the
# pixels 0 to 7 and 9 to 23 of the 32 of a side.
@pytest.mark.parametrize(("key_stride", "pixels"), [(1, 32), (2, 32), (4, 23)])
def test_every_cell_sees_the_whole_picture_unless_keys_are_farther_apart_than_they_are_wide(
    key_stride: int, pixels: int
) -> None:
    image = torch.randn(1, 3, 32, 32, requires_grad=True)
    model = mvit(widths=(16,), depths=(1,), heads=(1,), key_stride=key_stride)
    model.features(image)[0, 0, 0].square().sum().backward()
    assert image.grad is not None
    assert image.grad.abs().sum(dim=1).count_nonzero() == pixels**2


@torch.no_grad()
def test_odd_maps_are_rounded_up() -> None:
    model = mvit(size=36, depths=(1, 1), key_stride=2)
    assert model.grid(36, 36) == (9, 9)
    assert model.features(torch.randn(2, 3, 36, 36)).shape == (2, 5, 5, 32)


@torch.no_grad()
def test_without_classes_the_mean_of_the_features_is_given() -> None:
    model, image = mvit(classes=0), torch.randn(2, 3, 32, 32)
    torch.testing.assert_close(model(image), model.features(image).mean(dim=(1, 2)))


def test_pictures_of_another_size_and_wrong_configs_are_told() -> None:
    words = "a picture of 32×64 has 8×16 patches, and positions are known for 8×8; scale it to 32×32"
    with pytest.raises(ValueError, match=words):
        mvit()(torch.randn(1, 3, 32, 64))
    with pytest.raises(ValueError, match="2 widths, 1 depths and 2 heads are not those of the same stages"):
        mvit(depths=(1,))
    with pytest.raises(ValueError, match="width 32 does not split into 3 heads"):
        mvit(heads=(1, 3))
