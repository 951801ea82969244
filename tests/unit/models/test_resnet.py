"""ResNet: published sizes, small pictures, and what the improved recipes add."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from regard.attention import Layout, record
from regard.layers.convolution import FrozenNorm, SqueezeExcitation, freeze_norms
from regard.layers.deformable import DeformableConv
from regard.models import build
from regard.models.resnet import PRESETS, Config, ResNet

SMALL = Config(size=32, stem_width=8, widths=(16, 32), depths=(1, 2), classes=5)


@pytest.mark.parametrize(
    ("preset", "millions"),
    # Published: by torchvision for the first five, by Bello 2021 for ResNet-RS 50, by He 2016 (table 6) for CIFAR.
    [
        ("resnet-18", 11.69),
        ("resnet-34", 21.80),
        ("resnet-50", 25.56),
        ("resnet-101", 44.55),
        ("resnet-152", 60.19),
        ("resnet-50-improved", 35.7),
        ("resnet-20-cifar", 0.27),
        ("resnet-56-cifar", 0.86),
    ],
)
def test_a_published_size_has_as_many_parameters_as_published(preset: str, millions: float) -> None:
    with torch.device("meta"):
        found = sum(each.numel() for each in build(preset).parameters()) / 1e6
    assert found == pytest.approx(millions, rel=0.015)


@pytest.mark.parametrize("stem", ["plain", "deep", "cifar", "fast"])
@pytest.mark.parametrize("size", [(32, 32), (33, 47)])
@torch.no_grad()
def test_a_map_has_as_many_cells_as_the_model_says(stem: str, size: tuple[int, int]) -> None:
    model = ResNet(replace(SMALL, stem=stem)).eval()
    image = torch.randn(2, 3, *size)
    assert model.stem(image).shape[2:] == model.grid(*size)
    step = model.stride
    assert model.features(image).shape == (2, -(-size[0] // step), -(-size[1] // step), 32)
    assert model(image).shape == (2, 5)


@torch.no_grad()
def test_without_classes_it_gives_the_vector_that_a_classifier_would_read() -> None:
    whole = ResNet(SMALL).eval()
    bare = ResNet(replace(SMALL, classes=0)).eval()
    bare.load_state_dict({name: x for name, x in whole.state_dict().items() if not name.startswith("head")})
    image = torch.randn(2, 3, 32, 32)
    torch.testing.assert_close(whole.head(bare(image)), whole(image))


@torch.no_grad()
def test_attention_after_a_stage_changes_nothing_until_its_gate_opens() -> None:
    model = ResNet(replace(SMALL, attend=(1,))).eval()
    plain = ResNet(SMALL).eval()
    plain.load_state_dict({name: x for name, x in model.state_dict().items() if name in plain.state_dict()})
    image = torch.randn(2, 3, 32, 32)
    assert model(image).equal(plain(image))
    with record(model) as trace:
        model(image)
    (name,) = trace.names
    assert trace.weights(name).shape == (2, 1, 64, 64)  # every cell of 8 by 8 looks at every other
    assert trace[name][0].layout == Layout(8, 8)
    nn.init.ones_(model.stages[0][1].gate)
    assert not torch.allclose(model(image), plain(image))


@torch.no_grad()
def test_deformable_stages_start_as_plain_ones_and_say_where_they_look() -> None:
    model = ResNet(replace(SMALL, deformable=(2,), zero_init=False)).eval()
    plain = ResNet(replace(SMALL, zero_init=False)).eval()
    plain.load_state_dict({name: x for name, x in model.state_dict().items() if name in plain.state_dict()})
    image = torch.randn(2, 3, 32, 32)
    torch.testing.assert_close(model(image), plain(image), atol=1e-4, rtol=1e-4)
    found = [each for each in model.modules() if isinstance(each, DeformableConv)]
    assert len(found) == 2
    assert found[1].places(torch.randn(1, 8, 4, 4)).shape == (1, 4, 4, 9, 2)


def test_the_parts_of_the_improved_recipe_are_there_when_asked_for() -> None:
    improved = ResNet(replace(SMALL, stem="deep", pooled=True, squeeze=0.25, drop_path=0.2))
    kinds = [type(each) for each in improved.modules()]
    assert kinds.count(SqueezeExcitation) == 3
    assert kinds.count(nn.AvgPool2d) == 1  # the first stage keeps its size
    rates = [block.join.drop_path for stage in improved.stages for block in stage.children()]
    assert rates == pytest.approx([0.0, 0.1, 0.2])
    assert SqueezeExcitation not in [type(each) for each in ResNet(SMALL).modules()]


def test_stochastic_depth_leaves_some_branches_out_in_training_alone() -> None:
    model = ResNet(replace(SMALL, drop_path=0.5, zero_init=False))
    image = torch.randn(1, 3, 32, 32).expand(4, -1, -1, -1)
    maps = model.features(image)
    assert any(not torch.allclose(maps[0], other) for other in maps[1:])
    maps = model.eval().features(image)
    torch.testing.assert_close(maps[0].expand_as(maps), maps)


@torch.no_grad()
def test_frozen_norms_answer_as_those_they_replace_and_learn_nothing() -> None:
    model = ResNet(SMALL)
    model(torch.randn(4, 3, 32, 32))
    image = torch.randn(2, 3, 32, 32)
    expected = model.eval()(image)
    freeze_norms(model)
    assert not any(isinstance(each, nn.BatchNorm2d) for each in model.modules())
    torch.testing.assert_close(model(image), expected, atol=1e-5, rtol=1e-4)
    before = {name: x.clone() for name, x in model.state_dict().items()}
    model.train()(torch.randn(4, 3, 32, 32))
    assert all(x.equal(before[name]) for name, x in model.state_dict().items())
    frozen = next(each for each in model.modules() if isinstance(each, FrozenNorm))
    assert not list(frozen.parameters())


def test_stages_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match=r"attend=\(3,\) names stages that are not there; they are 1 to 2"):
        replace(SMALL, attend=(3,))
    with pytest.raises(ValueError, match="do not describe the same stages; give a width and a depth"):
        replace(SMALL, depths=(1,))


def test_it_learns_to_tell_pictures_apart() -> None:
    torch.manual_seed(0)
    model = ResNet(PRESETS["resnet-nano"])
    image, label = torch.randn(10, 3, 32, 32), torch.arange(10) % 5
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(image), label).backward()
        optimizer.step()
    assert (model(image).argmax(-1) == label).all()
