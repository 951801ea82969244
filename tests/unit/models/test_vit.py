"""What a ViT and a DeiT promise beyond what every family does."""

from typing import get_args

import pytest
import torch

from regard.attention import record
from regard.layers.position import LearnedCells, WaveCells
from regard.models import build
from regard.models.vit import Position


def parameters(model: torch.nn.Module) -> float:
    return sum(each.numel() for each in model.parameters()) / 1e6


@pytest.mark.parametrize(
    ("preset", "millions"),
    [("vit-base", 86.6), ("vit-large", 304.3), ("vit-tiny", 5.7), ("vit-small", 22.1), ("deit-small", 22.4)],
)
def test_published_sizes_have_the_published_number_of_parameters(preset: str, millions: float) -> None:
    with torch.device("meta"):
        assert parameters(build(preset)) == pytest.approx(millions, rel=0.005)


@torch.no_grad()
@pytest.mark.parametrize("inject", ["once", "every", "shared"])
@pytest.mark.parametrize("position", get_args(Position))
def test_without_positions_and_only_then_the_order_of_patches_does_not_matter(position: str, inject: str) -> None:
    torch.manual_seed(0)
    model = build("vit-nano", position=position, inject=inject).eval()
    for name, parameter in model.named_parameters():
        if "table" in name:  # positions that are learned are small at first
            parameter.normal_()
    image = torch.randn(1, 3, 16, 16)
    swapped = torch.cat((image[..., 8:], image[..., :8]), dim=-1)  # whole patches change places
    same = torch.allclose(model(image), model(swapped), atol=1e-5)
    assert same == (position == "none")


@torch.no_grad()
@pytest.mark.parametrize("position", [each for each in get_args(Position) if each != "relative"])
def test_a_picture_of_another_size_is_read(position: str) -> None:
    model = build("vit-nano", position=position).eval()
    assert model(torch.randn(2, 3, 24, 32)).shape == (2, 5)
    assert model.features(torch.randn(2, 3, 24, 32)).shape == (2, 6, 8, 32)


def test_relative_positions_are_those_of_the_trained_size() -> None:
    with pytest.raises(ValueError, match="a bias for windows of 4×4 needs 16 queries and keys, got 48"):
        build("vit-nano", position="relative")(torch.randn(1, 3, 24, 32))


@torch.no_grad()
@pytest.mark.parametrize(("pool", "leading"), [("cls", 3), ("mean", 2), ("both", 3)])
def test_leading_tokens_have_names_and_no_place(pool: str, leading: int) -> None:
    model = build("vit-nano", pool=pool).eval()
    assert len(model.leading) == leading
    with record(model) as trace:
        model(torch.randn(1, 3, 16, 16))
    assert trace.weights("blocks.0.attn").shape[-1] == leading + 16


@torch.no_grad()
def test_a_convolution_stem_stands_for_patches_and_sees_beyond_them() -> None:
    model = build("vit-nano", stem="conv").eval()
    image = torch.zeros(1, 3, 16, 16)
    image[0, :, 3, 3] = 100.0  # the last pixel of the first patch
    seen = (model.stem(image) - model.stem(torch.zeros_like(image))).abs().sum(-1)[0]
    assert seen[1, 1] > 0
    patches = build("vit-nano").eval()
    assert (patches.stem(image) - patches.stem(torch.zeros_like(image))).abs().sum(-1)[0, 1, 1] == 0
    with pytest.raises(ValueError, match="make no patches of 6; give 4 or 8"):
        build("vit-nano", stem="conv", patch=6)


def test_positions_of_cells_have_one_vector_for_each_and_zeros_for_tokens_without_place() -> None:
    assert LearnedCells(2, 3, 8, leading=1)(2, 3).shape == (7, 8)
    assert LearnedCells(2, 3, 8, leading=1, full=False)(4, 3).shape == (13, 8)
    waves = WaveCells(8, leading=2)(3, 3)
    assert not waves[:2].any()
    assert len(waves.unique(dim=0)) == 1 + 9
    by_halves = LearnedCells(2, 3, 8, full=False)(2, 3).view(2, 3, 8)
    assert by_halves[0, :, :4].equal(by_halves[0, :1, :4].expand(3, 4))
    assert by_halves[:, 1, 4:].equal(by_halves[:1, 1, 4:].expand(2, 4))


@torch.no_grad()
def test_the_answer_of_a_deit_is_the_mean_of_its_two_classifiers() -> None:
    model, image = build("deit-nano").eval(), torch.randn(2, 3, 16, 16)
    answers = model.answer(image)
    torch.testing.assert_close(model(image), (answers.label + answers.teacher) / 2)
    assert not answers.label.allclose(answers.teacher)
    assert model.leading == ("[CLS]", "[DISTILL]")
    with pytest.raises(ValueError, match="distilled='none' has one answer; build it with 'averaged'"):
        build("deit-nano", distilled="none").answer(image)


def test_without_classes_a_vit_gives_what_a_classifier_would_read() -> None:
    model = build("vit-nano", classes=0).eval()
    image = torch.randn(2, 3, 16, 16)
    torch.testing.assert_close(model(image), model.read(image)[:, 0])
