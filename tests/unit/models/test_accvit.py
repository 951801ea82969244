"""ACC-ViT: sizes, dilations of attention side by side, and the gate between them."""

from typing import Any

import pytest
import torch
from torch import nn

from regard.attention import record
from regard.models import build
from regard.models.accvit import ACCViT, AtrousAttention, Config

SMALL: dict[str, Any] = dict(
    size=32, stem=8, widths=(16, 32), depths=(1, 1), head_width=8, window=2, classes=5, drop_path=0.0
)


def accvit(**changes: Any) -> ACCViT:
    return ACCViT(Config(**(SMALL | changes))).eval()


def test_the_tiny_one_has_the_published_number_of_parameters() -> None:
    """By choice of the convolutions' inner width, so it is no evidence that the parts are theirs."""
    with torch.device("meta"):
        model = build("accvit-tiny")
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(28.4, rel=0.02)


def test_dilations_double_until_a_window_spans_the_map() -> None:
    assert [Config().rates(stage) for stage in range(4)] == [(1, 2, 4, 8), (1, 2, 4), (1, 2), (1,)]
    assert [Config(size=384).rates(stage) for stage in range(4)] == [(1, 2, 4, 8), (1, 2, 4), (1, 2), (1,)]


@torch.no_grad()
def test_each_branch_looks_as_far_apart_as_its_dilation() -> None:
    model = accvit()
    with record(model) as trace:
        model(torch.randn(1, 3, 32, 32))
    for branch, rate in enumerate((1, 2, 4)):
        seen = trace.map(f"blocks.0.attend.attn.branches.{branch}.attn")[0, 0, 0].view(8, 8) > 0
        assert {(int(row), int(column)) for row, column in seen.nonzero()} == {
            (row, column) for row in (0, rate) for column in (0, rate)
        }


@torch.no_grad()
def test_the_gate_shares_a_token_out_among_the_dilations() -> None:
    attn, x = AtrousAttention(16, 2, 2, (1, 2, 4), 0.0).eval(), torch.randn(2, 8, 8, 16)
    told = [branch(x) for branch in attn.branches]
    assert attn.gate is not None
    nn.init.zeros_(attn.gate.weight)
    for chosen in range(3):
        attn.gate.bias.copy_(torch.tensor([1e4 if i == chosen else 0.0 for i in range(3)]))
        torch.testing.assert_close(attn(x), told[chosen])
    nn.init.zeros_(attn.gate.bias)
    torch.testing.assert_close(attn(x), torch.stack(told).mean(dim=0))
    assert AtrousAttention(16, 2, 2, (1,), 0.0).gate is None


@torch.no_grad()
@pytest.mark.parametrize(("height", "width"), [(32, 32), (64, 48), (37, 41), (8, 9)])
def test_pictures_of_any_size_are_seen_and_no_padding_is_looked_at(height: int, width: int) -> None:
    model = accvit()
    with record(model) as trace:
        assert model(torch.randn(2, 3, height, width)).shape == (2, 5)
    rows, columns = model.grid(height, width)
    for branch in range(3):
        seen = trace.map(f"blocks.0.attend.attn.branches.{branch}.attn")
        assert seen.shape == (2, 2, rows * columns, rows * columns)
        torch.testing.assert_close(seen.sum(dim=-1), torch.ones(seen.shape[:-1]))


@torch.no_grad()
def test_without_classes_the_mean_of_the_features_is_given() -> None:
    model, image = accvit(classes=0), torch.randn(2, 3, 32, 32)
    torch.testing.assert_close(model(image), model.features(image).mean(dim=(1, 2)))


def test_a_wrong_config_is_told() -> None:
    with pytest.raises(ValueError, match="2 widths and 1 depths are not those of the same stages"):
        accvit(depths=(1,))
    with pytest.raises(ValueError, match="width 20 does not split into heads of 8; make it a multiple"):
        accvit(widths=(16, 20))
