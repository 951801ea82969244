"""LeViT: sizes, attention that shrinks, two classifiers, and batch norms that vanish."""

from typing import Any

import pytest
import torch
from torch import nn

from regard.attention import record
from regard.layers.folding import fold
from regard.models import build
from regard.models.levit import Config, LeViT

SMALL: dict[str, Any] = dict(size=80, widths=(16, 24), depths=(1, 1), heads=(2, 2), head_width=8, classes=5)


def levit(**changes: Any) -> LeViT:
    model = LeViT(Config(**(SMALL | changes)))
    for module in model.modules():  # branches start at nothing
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
            nn.init.normal_(module.weight)
            nn.init.normal_(module.running_mean)
            nn.init.uniform_(module.running_var, 0.5, 2.0)
    return model.eval()


@pytest.mark.parametrize(
    ("preset", "millions"),
    [("levit-128s", 7.8), ("levit-128", 9.2), ("levit-192", 10.9), ("levit-256", 18.9), ("levit-384", 39.1)],
)
def test_published_sizes_have_the_published_number_of_parameters(preset: str, millions: float) -> None:
    with torch.device("meta"):
        model = build(preset)
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(millions, rel=0.01)


@torch.no_grad()
def test_every_other_cell_asks_all_of_them_between_stages() -> None:
    model = levit()
    with record(model) as trace:
        model(torch.randn(2, 3, 80, 80))
    maps = {name: trace.map(name).shape for name in trace}
    assert maps == {
        "stages.0.0.attn.attn": (2, 2, 25, 25),
        "shrinks.0.attn.attn": (2, 2, 9, 25),
        "stages.1.0.attn.attn": (2, 2, 9, 9),
    }
    assert model.features(torch.randn(1, 3, 80, 80)).shape == (1, 3, 3, 24)


@torch.no_grad()
def test_a_picture_in_a_mirror_is_looked_at_in_a_mirror_where_only_distances_count() -> None:
    attn, x = levit().stages[0][0].attn, torch.randn(2, 5, 5, 16)
    nn.init.normal_(attn.attn.bias.table)
    for sides in ([1], [2], [1, 2]):
        torch.testing.assert_close(attn(x.flip(sides)), attn(x).flip(sides), atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_two_classifiers_are_averaged_and_told_apart_for_a_teacher() -> None:
    model, image = levit(), torch.randn(2, 3, 80, 80)
    own, taught = model.answers(image)
    assert not own.allclose(taught)
    torch.testing.assert_close(model(image), (own + taught) / 2)
    alone = levit(distilled=False)
    assert len(alone.answers(image)) == 1
    assert alone(image).equal(alone.answers(image)[0])
    pooled = levit(classes=0)
    assert pooled.answers(image) == []
    torch.testing.assert_close(pooled(image), pooled.features(image).mean(dim=(1, 2)))


@torch.no_grad()
def test_a_folded_model_says_and_looks_the_same() -> None:
    # In float64, where a mistake would stay and rounding, which attention may enlarge, is next to nothing.
    model, image = levit().double(), torch.randn(2, 3, 80, 80, dtype=torch.float64)
    folded = fold(model)
    with record(model) as before, record(folded) as after:
        torch.testing.assert_close(folded(image), model(image), atol=1e-10, rtol=1e-9)
    for name in before:
        torch.testing.assert_close(after.weights(name), before.weights(name), atol=1e-10, rtol=1e-9)
    assert sum(p.numel() for p in folded.parameters()) < sum(p.numel() for p in model.parameters())


def test_pictures_of_another_size_and_wrong_configs_are_told() -> None:
    words = "a picture of 80×96 has a map of 5×6, and distances are known on 5×5; scale it to 80×80"
    with pytest.raises(ValueError, match=words):
        levit()(torch.randn(1, 3, 80, 96))
    with pytest.raises(ValueError, match="2 widths, 1 depths and 2 heads are not those of the same stages"):
        levit(depths=(1,))
    with pytest.raises(ValueError, match="width 20 does not halve 3 times, as the stem asks; make it a multiple of 8"):
        levit(widths=(20, 24))
