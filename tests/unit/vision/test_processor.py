"""What is done to a picture before a model sees it, as a value that is written and read."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from regard.vision import PictureError, Processor, Size

GREY = Image.new("L", (40, 30), 255)


def test_a_picture_of_any_mode_has_three_channels() -> None:
    processor = Processor(size=Size(height=8, width=8))
    assert processor(GREY).shape == (1, 3, 8, 8)
    assert processor([GREY, Image.new("RGBA", (9, 9))]).unique().tolist() == [1.0]  # white, and nothing over white


def test_what_is_written_is_read_again() -> None:
    processor = Processor(
        image_processor_type="BitImageProcessor",
        size=Size(shortest_edge=256),
        do_center_crop=True,
        crop_size=(224, 192),
        image_mean=(0.1, 0.2, 0.3),
        do_pad=True,
        pad_size=(300, 310),
        rescale_offset=True,
    )
    assert Processor.from_json(processor.to_json()) == processor


def test_an_offset_makes_pixels_begin_at_minus_one() -> None:
    processor = Processor(rescale_factor=1 / 127.5, rescale_offset=True, do_normalize=False, do_resize=False)
    pixels = np.asarray([[[0, 255, 127]]], np.uint8)
    assert processor(pixels).flatten().tolist() == pytest.approx([-1.0, 1.0, -0.00392], abs=1e-4)


def test_pictures_of_several_sizes_are_no_batch_without_padding() -> None:
    processor = Processor(do_resize=False)
    with pytest.raises(
        ValueError, match=r"pictures of 30 × 40, 5 × 5 are no batch; give them one by one, or .* do_pad"
    ):
        processor([GREY, Image.new("RGB", (5, 5))])
    padded = replace(processor, do_pad=True).pad([GREY, Image.new("RGB", (5, 5))])
    assert padded.image.shape == (2, 3, 30, 40)
    assert padded.visible.sum((1, 2)).tolist() == [1200, 25]
    assert not padded.image[1][:, ~padded.visible[1]].any()
    with pytest.raises(ValueError, match=r"30 × 40 does not fit pad_size 20 × 50"):
        replace(processor, do_pad=True, pad_size=(20, 50))(GREY)


def test_a_narrow_picture_does_not_become_a_giant() -> None:
    processor = Processor(size=Size(shortest_edge=224), do_center_crop=True, crop_size=(224, 224))
    assert processor(Image.new("RGB", (4, 900))).shape == (1, 3, 224, 224)
    with pytest.raises(PictureError, match=r"of 20,000 × 1 would be resized to 4,480,000 × 224, which is m"):
        processor(Image.new("RGB", (1, 20_000)))


def test_a_batch_is_what_its_pictures_are_alone() -> None:
    some = [Image.effect_noise((30, 20), 90), Image.effect_noise((50, 60), 90)]
    processor = Processor(size=Size(height=16, width=16))
    assert torch.equal(processor(some), torch.cat([processor(each) for each in some]))


@pytest.mark.parametrize("change", [{}, {"rescale_offset": True}, {"include_top": True}, {"do_normalize": False}])
def test_pixels_that_were_cut_before_become_the_same_numbers(change: dict[str, Any]) -> None:
    one = Processor(size=Size(height=8, width=8), image_mean=(0.4, 0.5, 0.6), image_std=(0.2, 0.3, 0.4), **change)
    pixels = np.random.default_rng(0).integers(0, 256, (3, 8, 8, 3), np.uint8)
    assert torch.allclose(one.numbers(pixels), one(list(pixels)), atol=1e-5)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"do_resise": True}, r"a processor has no 'do_resise'; try do_resize"),
        ({"do_flip_channel_order": True}, r"a processor has no 'do_flip_channel_order'"),
        (
            {"image_processor_type": "MagicImageProcessor"},
            r"'MagicImageProcessor' is not known; choose ViTImageProcessor",
        ),
        ({"image_processor_type": 7}, r"'7' is not known"),
        ({"size": {"height": 224}}, r"a size of height is not clear; give height and width, shortest_edge"),
        ({"size": {"heigth": 224}}, r"a size has no heigth"),
        ({"size": {"shortest_edge": -1}}, r"a shortest_edge of -1 is no side of a picture; give 1 to 16384"),
        ({"size": 10**9}, r"a height of 1000000000 is no side"),
        ({"size": "large"}, r"'large' is no size"),
        ({"crop_size": {"shortest_edge": 3}}, r"crop_size .* is not clear; give height and width"),
        ({"resample": 9}, r"resample 9 is no filter of Pillow"),
        ({"crop_pct": 0.0}, r"crop_pct 0.0 is no share"),
        ({"image_mean": [0.5, 0.5]}, r"image_mean \[0.5, 0.5\] is not clear; give three"),
        ({"image_std": [0.5, 0.0, 0.5]}, r"would divide by 0"),
        ({"rescale_factor": "1/255"}, r"rescale_factor has '1/255'; give a number"),
        ({"rescale_factor": float("nan")}, r"rescale_factor has nan"),
        ({"do_resize": 1}, r"do_resize is 1; give true or false"),
        ({"data_format": "channels_last"}, r"only 'channels_first' can be had"),
        ({"do_center_crop": True}, r"do_center_crop needs a crop_size"),
    ],
)
def test_what_a_file_says_is_honoured_or_refused_by_name(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Processor.from_json({"image_processor_type": "ViTImageProcessor"} | change)


@pytest.mark.usefixtures("as_users_meet_it")
def test_no_pictures_and_no_pixels_are_refused() -> None:
    with pytest.raises(ValueError, match="no pictures make no batch"):
        Processor()([])
    with pytest.raises(ValueError, match=r"float64 of shape \(4, 4, 3\) is no picture; give uint8"):
        Processor()(np.zeros((4, 4, 3)))
