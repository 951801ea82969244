"""TinyViT: sizes, windows whose padding is looked at, and a convolution that joins what windows divide."""

from typing import Any

import pytest
import torch
from torch import nn

from regard.attention import record
from regard.layers.folding import fold
from regard.models import build
from regard.models.tinyvit import Config, Padded, TinyViT

SMALL: dict[str, Any] = dict(
    size=40, widths=(8, 16, 24), depths=(1, 1, 1), heads=(2, 3), windows=(3, 2), strides=(2, 1), classes=5
)


def tinyvit(**changes: Any) -> TinyViT:
    torch.manual_seed(0)
    model = TinyViT(Config(**(SMALL | changes)))
    for module in model.modules():  # branches start at nothing
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.weight)
            nn.init.normal_(module.running_mean)
            nn.init.uniform_(module.running_var, 0.5, 2.0)
    return model.eval()


@pytest.mark.parametrize(("preset", "millions"), [("tinyvit-5m", 5.4), ("tinyvit-11m", 11.0), ("tinyvit-21m", 21.2)])
def test_published_sizes_have_the_published_number_of_parameters(preset: str, millions: float) -> None:
    with torch.device("meta"):
        model = build(preset)
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(millions, rel=0.01)


@torch.no_grad()
def test_the_last_map_is_halved_as_often_as_strides_say() -> None:
    image = torch.randn(1, 3, 40, 40)
    assert tinyvit().features(image).shape == (1, 5, 5, 24)
    assert tinyvit(strides=(2, 2)).features(image).shape == (1, 3, 3, 24)
    with torch.device("meta"):
        mobile: Any = build("tinyvit-mobile").eval()
        assert mobile.features(torch.empty(1, 3, 1024, 1024)).shape == (1, 64, 64, 320)


@torch.no_grad()
def test_padding_of_a_window_is_looked_at_and_is_what_the_norm_makes_of_zeros() -> None:
    attn: Any = tinyvit().stages[1][0].attn
    nn.init.normal_(attn.norm.bias)
    nn.init.normal_(attn.attn.bias.table)
    x = torch.randn(2, 4, 4, 16)  # windows of 3: the last ones hold one row or column and two of padding
    with record(attn) as trace:
        found = attn(x)
    padded = torch.zeros(2, 6, 6, 16)
    padded[:, :4, :4] = x
    torch.testing.assert_close(attn(padded)[:, :4, :4], found)
    whole = trace.map("attn").sum(dim=-1).view(2, 2, 4, 4)
    torch.testing.assert_close(whole[..., :3, :3], torch.ones(2, 2, 3, 3))
    assert whole[..., 3, :].max() < 0.9  # the rest went to the padding


def test_everybody_sees_everybody_in_a_padded_window() -> None:
    assert Padded(3).visible(4, 4, torch.device("cpu")) is None
    with pytest.raises(ValueError, match="a window of 0 tokens holds nothing"):
        Padded(0)


@torch.no_grad()
def test_what_happens_in_one_window_is_told_to_the_next_by_a_convolution() -> None:
    block: Any = tinyvit(windows=(2, 2)).stages[1][0]
    x = torch.randn(1, 4, 4, 16)
    other = x.clone()
    other[0, 0, 0] += torch.randn(16)  # a constant would be lost in the norm
    apart = (block.attn(x) - block.attn(other)).abs().sum(dim=-1)[0] > 1e-6
    assert apart.nonzero().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    joined = (block(x) - block(other)).abs().sum(dim=-1)[0] > 1e-6
    assert joined[:3, :3].all()
    assert not joined[3].any()


@torch.no_grad()
def test_batch_norms_become_part_of_the_convolutions() -> None:
    model, image = tinyvit(), torch.randn(2, 3, 40, 40)
    folded = fold(model)
    assert not any(isinstance(module, nn.BatchNorm2d) for module in folded.modules())
    torch.testing.assert_close(folded(image), model(image), atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"heads": (2,), "windows": (3,), "strides": (2,)},
            "1 heads do not go with 3 widths; give one number of heads",
        ),
        ({"heads": (3, 3)}, "width 16 does not split into 3 heads; make it a multiple of them"),
        ({"windows": (3,)}, "are not those of the same stages"),
    ],
)
def test_stages_that_do_not_fit_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Config(**(SMALL | changes))
