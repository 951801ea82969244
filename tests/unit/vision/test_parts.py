"""Crops of many pictures at once: how much they show, what becomes of their colours, and windows from two heights."""

import colorsys

import numpy as np
import pytest
import torch

from regard.chance import Chance
from regard.vision.parts import part_crops, recolour, windows

RAMP = np.broadcast_to(np.linspace(0, 255, 64).round().astype(np.uint8)[None, None, :, None], (40, 64, 64, 3))
SCENES = np.random.default_rng(0).integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)


def chance() -> Chance:
    return Chance(0, "parts")


def test_crops_are_the_same_for_the_same_chance() -> None:
    first, second = (part_crops(SCENES, chance(), size=8, count=3, scale=(0.2, 1.0)) for _ in range(2))
    assert first.shape == (6, 3, 3, 8, 8)
    assert first.equal(second)
    assert not first[:, 0].equal(first[:, 1])


def test_a_crop_shows_as_much_of_a_picture_as_its_scale_says() -> None:
    """On a ramp from left to right, the range of a crop is its width."""
    crops = part_crops(RAMP, chance(), size=64, count=4, scale=(0.25, 0.25), ratio=(1.0, 1.0))
    widths = crops.amax(dim=(2, 3, 4)) - crops.amin(dim=(2, 3, 4))
    torch.testing.assert_close(widths, torch.full_like(widths, 0.5), atol=0.02, rtol=0)
    left = crops[..., 0, 0, 0] < crops[..., 0, 0, -1]
    assert 0.3 < left.float().mean() < 0.7  # the others are in a mirror


def test_the_whole_picture_is_a_crop_too() -> None:
    crops = part_crops(SCENES, chance(), size=8, count=2, scale=(1.0, 1.0), ratio=(1.0, 1.0))
    image = torch.from_numpy(SCENES.transpose(0, 3, 1, 2).copy()).float() / 255
    for i in range(6):
        for crop in crops[i]:
            assert torch.allclose(crop, image[i], atol=1e-5) or torch.allclose(crop, image[i].flip(-1), atol=1e-5)


def test_without_strength_colours_stay() -> None:
    image = torch.rand(3, 3, 8, 8)
    assert recolour(image, chance(), 0.0) is image


def test_colours_change_within_bounds_and_grey_stays_grey() -> None:
    image = torch.rand(50, 3, 8, 8)
    found = recolour(image, chance(), 1.0)
    assert found.shape == image.shape
    assert found.min() >= 0
    assert found.max() <= 1
    assert (found - image).abs().mean() > 0.05
    grey = recolour(image[:, :1].expand(-1, 3, -1, -1).contiguous(), chance(), 1.0, blurred=0.0)
    torch.testing.assert_close(grey[:, 0], grey[:, 2], atol=2e-3, rtol=0)


def test_about_a_fifth_becomes_grey_and_hues_turn_by_a_tenth_at_most() -> None:
    image = torch.tensor([0.6, 0.3, 0.3])[:, None, None].expand(300, 3, 4, 4).contiguous()
    found = recolour(image, chance(), 1.0, blurred=0.0)[:, :, 0, 0]
    greys = (found.amax(dim=1) - found.amin(dim=1)) < 1e-2
    assert 0.12 < greys.float().mean() < 0.28
    hues = [colorsys.rgb_to_hsv(*each)[0] for each in found[~greys].tolist()]
    assert max(min(hue, 1 - hue) for hue in hues) < 0.14


def test_what_is_out_of_focus_has_softer_edges_and_the_same_light() -> None:
    image = (torch.rand(4, 3, 112, 112) > 0.5).float() * 0.2 + 0.4
    sharp, soft = (recolour(image, chance(), 1.0, blurred=share) for share in (0.0, 1.0))
    assert soft.diff(dim=-1).abs().mean() < 0.8 * sharp.diff(dim=-1).abs().mean()
    torch.testing.assert_close(soft.mean(dim=(2, 3)), sharp.mean(dim=(2, 3)), atol=0.02, rtol=0)


def test_solarized_pictures_have_no_bright_half() -> None:
    image = torch.rand(20, 3, 8, 8)
    assert recolour(image, chance(), 1.0, blurred=0.0, solarized=1.0).max() <= 0.5


def test_windows_are_parts_of_the_picture_from_their_height() -> None:
    image, distance = windows(SCENES, chance(), size=4, scales=(1, 2))
    true = torch.from_numpy(SCENES.transpose(0, 3, 1, 2).copy()).float() / 255
    assert set(distance.tolist()) == {0.5, 1.0}
    for shown, whole, far in zip(image, true, distance.tolist(), strict=True):
        if far == 1:
            torch.testing.assert_close(shown, torch.nn.functional.avg_pool2d(whole, 2))
        else:
            places = [whole[:, i : i + 4, j : j + 4] for i in range(5) for j in range(5)]
            assert any(shown.equal(place) for place in places)


def test_windows_of_pictures_that_are_too_small_are_refused() -> None:
    with pytest.raises(
        ValueError, match="pictures of 8 pixels have no windows of 8 at scales 1, 2; give pictures of 16"
    ):
        windows(SCENES, chance(), size=8, scales=(1, 2))
