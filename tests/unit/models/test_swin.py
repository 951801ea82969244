"""Swin, both versions: sizes, windows, what is near to what, and pictures of any size."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention import Partitioned, Shifted, Window, record
from regard.layers.blocks import Block
from regard.models import build
from regard.models.swin import Config, NormedBranchBlock, Swin

SMALL: dict[str, Any] = dict(size=32, window=4, widths=(16, 32), depths=(2, 2), heads=(2, 4), classes=5, drop_path=0.0)
both = pytest.mark.parametrize("version", [1, 2])


def swin(version: Any = 1, **changes: Any) -> Swin:
    model = Swin(Config(**({"version": version} | SMALL | changes))).eval()
    for module in model.modules():  # the second version's branches start at nothing
        if isinstance(module, NormedBranchBlock):
            for norm in (module.attn_norm, module.mlp_norm):
                nn.init.normal_(norm.weight)
    return model


def reach(model: Swin, row: int, column: int, side: int = 32) -> Tensor:
    """Which cells of 4×4 pixels one cell of the features depends on."""
    image = torch.randn(1, 3, side, side, requires_grad=True)
    model.features(image)[0, row, column].square().sum().backward()
    assert image.grad is not None
    return image.grad[0].abs().sum(dim=0).unfold(0, 4, 4).unfold(1, 4, 4).sum(dim=(2, 3)) > 0


@pytest.mark.parametrize(
    ("preset", "millions"),
    [
        ("swin-tiny", 28.3),
        ("swin-small", 49.6),
        ("swin-base", 87.8),
        ("swin-large", 196.5),
        ("swin-v2-tiny", 28.3),
        ("swin-v2-small", 49.7),
        ("swin-v2-base", 87.9),
        ("swin-v2-large", 196.7),
    ],
)
def test_published_sizes_have_the_published_number_of_parameters(preset: str, millions: float) -> None:
    with torch.device("meta"):
        model = build(preset)
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(millions, rel=0.005)


@both
def test_a_block_sees_its_window_and_the_shifted_one_after_it_those_around(version: int) -> None:
    one, two = (swin(version, widths=(16,), depths=(depth,), heads=(2,)) for depth in (1, 2))
    seen = reach(one, 1, 2)
    assert seen[:4, :4].all()
    assert seen.sum() == 16
    # The second block's windows begin two cells into the first one's.
    assert reach(two, 3, 3).all()
    assert reach(two, 0, 0).sum() == 16


@both
@torch.no_grad()
def test_a_picture_that_moves_by_a_window_moves_what_is_seen_in_windows(version: int) -> None:
    model, image = swin(version, widths=(16,), depths=(1,), heads=(2,)), torch.randn(2, 3, 32, 32)
    moved = model.features(image.roll((16, -16), dims=(2, 3)))
    torch.testing.assert_close(moved, model.features(image).roll((4, -4), dims=(1, 2)), atol=1e-5, rtol=1e-4)


@both
@torch.no_grad()
@pytest.mark.parametrize(("height", "width"), [(32, 32), (64, 48), (30, 45), (8, 8), (3, 70)])
def test_pictures_of_any_size_are_seen_and_no_padding_is_looked_at(version: int, height: int, width: int) -> None:
    model = swin(version)
    with record(model) as trace:
        logits = model(torch.randn(2, 3, height, width))
    assert logits.shape == (2, 5)
    rows, columns = model.grid(height, width)
    for name in trace:
        seen = trace.map(name)
        cells = rows * columns if name.startswith("stages.0") else -(-rows // 2) * -(-columns // 2)
        assert seen.shape[-2:] == (cells, cells)
        torch.testing.assert_close(seen.sum(dim=-1), torch.ones(seen.shape[:-1]))


@both
def test_no_window_is_larger_than_the_map_and_then_none_is_shifted(version: int) -> None:
    model = swin(version, window=6)
    maps = [module.partition for module in model.modules() if isinstance(module, Partitioned)]
    assert [each.factors(8, 8)["p"] for each in maps] == [6, 6, 4, 4]
    assert isinstance(maps[1], Shifted)
    assert maps[1].shifts(8, 8) == (3, 3)
    assert maps[3].shifts(4, 4) == (0, 0)
    # The first version shifts where a larger picture gives it the room.
    assert maps[3].shifts(8, 8) == ((2, 2) if version == 1 else (0, 0))
    assert type(maps[0]) is Window


@torch.no_grad()
def test_the_second_version_starts_as_its_stem_and_merges() -> None:
    model = Swin(Config(version=2, **SMALL)).eval()
    x = model.norm_in(model.stem(torch.randn(2, 3, 32, 32)))
    assert model.stages[0](x).equal(x)


def test_the_second_versions_keys_have_no_constant_and_scores_no_more_than_a_hundred() -> None:
    model = swin(2)
    for module in model.modules():
        if isinstance(module, Partitioned):
            assert module.attn.k.bias is None
            assert module.attn.q.bias is not None
            nn.init.constant_(module.attn.q_norm.log_scale, 99.0)
    with record(model) as trace, torch.no_grad():
        model(100 * torch.randn(2, 3, 32, 32))
    for name in trace:
        (look,) = trace[name]
        assert look.score(look.q, look.k).abs().max() <= 100.01


@torch.no_grad()
@both
def test_without_classes_the_mean_of_the_features_is_given(version: int) -> None:
    model, image = swin(version, classes=0), torch.randn(2, 3, 32, 32)
    assert model.features(image).shape == (2, 4, 4, 32)
    torch.testing.assert_close(model(image), model.features(image).mean(dim=(1, 2)))


def test_later_blocks_are_dropped_more_often() -> None:
    model = Swin(Config(**(SMALL | {"drop_path": 0.3})))
    rates = [module.mlp_join.drop_path for module in model.modules() if isinstance(module, Block)]
    assert rates == pytest.approx([0.0, 0.1, 0.2, 0.3])


@both
def test_a_wrong_config_is_told(version: int) -> None:
    with pytest.raises(ValueError, match="2 widths, 2 depths and 1 heads are not those of the same"):
        swin(version, heads=(2,))
    with pytest.raises(ValueError, match="width 16 does not split into 3 heads"):
        swin(version, heads=(3, 4))
