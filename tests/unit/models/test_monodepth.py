"""MonoDepth says disparities of both eyes at several sizes, within a bound."""

import pytest
import torch

from regard.models import build
from regard.models.monodepth import PRESETS, Config


def test_disparities_come_in_the_size_of_the_picture_and_in_halves_of_it() -> None:
    said = build("monodepth-nano", scales=2)(torch.randn(2, 3, 16, 24))
    assert [tuple(each.shape) for each in said.scales] == [(2, 2, 16, 24), (2, 2, 8, 12)]
    assert said.left.equal(said.scales[0][:, 0])
    assert said.right.equal(said.scales[0][:, 1])


def test_a_picture_of_any_size_will_do() -> None:
    said = build("monodepth-nano")(torch.randn(1, 3, 13, 21))
    assert [tuple(each.shape[-2:]) for each in said.scales] == [(13, 21), (7, 11)]


@pytest.mark.parametrize("most", [0.1, 0.3])
def test_no_disparity_is_beyond_the_bound(most: float) -> None:
    model = build("monodepth-nano", most=most)
    for head in model.to_disparity.values():
        torch.nn.init.constant_(head.bias, 50.0)
    said = model(torch.randn(1, 3, 16, 16))
    assert said.left.min() > 0.99 * most
    assert said.left.max() <= most
    assert said.logits.min() > 40  # which have no bound


def test_a_coarser_size_has_its_say_in_the_finer_one() -> None:
    model, image = build("monodepth-nano"), torch.randn(1, 3, 16, 16)
    before = model(image)
    torch.nn.init.constant_(model.to_disparity["1"].bias, 3.0)
    after = model(image)
    assert after.scales[1].mean() > before.scales[1].mean() + 0.05
    assert not after.left.isclose(before.left).all()


def test_what_lies_far_from_a_pixel_matters_to_it() -> None:
    model, image = build("monodepth-world"), torch.randn(1, 3, 64, 64, requires_grad=True)
    model(image).left[0, 32, 32].backward()
    felt = image.grad[0].abs().sum(dim=0) > 0
    assert felt[0, 32]
    assert felt[63, 63]


def test_the_papers_model_has_the_papers_size() -> None:
    with torch.device("meta"):
        count = sum(each.numel() for each in build("monodepth-vgg").parameters())
    assert 31.5e6 < count < 31.7e6  # its table 1 says 31 million


def test_settings_that_fit_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="2 widths, 1 kernels and 2 decoder_widths are not those of the same stages"):
        Config(widths=(8, 16), kernels=(3,), decoder_widths=(8, 8))
    with pytest.raises(ValueError, match="5 scales are not among the 2 of the decoder; give 1 to 2"):
        Config(widths=(8, 16), kernels=(3, 3), decoder_widths=(8, 8), scales=5)
    with pytest.raises(ValueError, match=r"a disparity of up to 0.0 of the width is none; give more than 0"):
        Config(most=0.0)
    assert PRESETS["monodepth-vgg"] == Config()
