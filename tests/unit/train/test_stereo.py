"""What two eyes teach: the true disparities of the world are what the loss asks for."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.data.stereo import world_eyes
from regard.train.stereo import (
    Weights,
    appearance,
    dissimilarity,
    roughness,
    stereo_loss,
    supervised_loss,
    warp,
)
from regard.world import scenes, stereo
from regard.world import warp as exact_warp


def floats(pixels: np.ndarray) -> Tensor:
    return torch.from_numpy(pixels.astype(np.float32) / 255).movedim(-1, -3)


LEFT, RIGHT, TRUTH = world_eyes("val").arrays(64, 64, 6)
PAIR = floats(LEFT), floats(RIGHT)
REAL = torch.from_numpy(TRUTH)


def test_warping_is_that_of_the_world() -> None:
    pair = stereo(scenes(seed=71)[0])
    share = torch.from_numpy(pair.disparity / 64)
    ours = warp(floats(pair.right.rgb)[None], -share[None])[0]
    theirs = floats(exact_warp(pair.right.rgb, pair.disparity))
    torch.testing.assert_close(ours, theirs, atol=1 / 255, rtol=0)


def test_warping_is_what_torch_samples_between_pixels() -> None:
    image, shift = torch.rand(2, 3, 5, 9), torch.rand(2, 5, 9) - 0.5
    y, x = torch.meshgrid(torch.linspace(-1, 1, 5), torch.linspace(-1, 1, 9), indexing="ij")
    grid = torch.stack((x + shift * 9 * 2 / 8, y.expand(2, -1, -1)), dim=-1)
    theirs = F.grid_sample(image, grid, padding_mode="border", align_corners=True)
    torch.testing.assert_close(warp(image, shift), theirs, atol=1e-5, rtol=1e-4)


def test_disparities_learn_from_what_is_warped() -> None:
    image = torch.rand(1, 1, 1, 16, dtype=torch.float64)
    shift = (torch.rand(1, 1, 16, dtype=torch.float64) * 0.2 - 0.1).requires_grad_()
    assert torch.autograd.gradcheck(lambda shift: warp(image, shift), shift)


def test_pictures_that_are_the_same_are_alike_and_others_are_not() -> None:
    one, other = torch.rand(2, 3, 12, 12), torch.rand(2, 3, 12, 12)
    assert dissimilarity(one, one).max() < 1e-6
    assert (appearance(one, one) < 1e-6).all()
    assert (appearance(one, other) > 0.3).all()
    assert (
        dissimilarity(one, 1 - one) > dissimilarity(one, other).mean()
    ).float().mean() > 0.8  # turned round is worse
    assert appearance(one, other, 0.0).allclose((one - other).abs().mean(dim=(1, 2, 3)))


def test_roughness_costs_less_where_the_picture_changes() -> None:
    step = torch.zeros(1, 8, 8)
    step[..., 4:] = 0.1
    plain, edge = torch.zeros(1, 3, 8, 8), torch.zeros(1, 3, 8, 8)
    edge[..., 4:] = 1.0
    assert roughness(torch.full((1, 8, 8), 0.2), plain) == 0
    assert roughness(step, plain).item() == pytest.approx(0.1 / 7)
    assert roughness(step, edge).item() == pytest.approx(0.1 / 7 * np.exp(-1))
    assert roughness(step.mT, edge).item() == pytest.approx(0.1 / 7)


@pytest.mark.parametrize("change", ["half", "more", "none", "swapped", "flat"])
def test_no_other_disparities_are_better_than_the_true_ones(change: str) -> None:
    wrong = {
        "half": REAL / 2,
        "more": REAL + 2 / 64,
        "none": torch.zeros_like(REAL),
        "swapped": REAL.flip(1),
        "flat": REAL.mean(dim=(2, 3), keepdim=True).expand_as(REAL),
    }[change]
    true, false = stereo_loss([REAL], PAIR), stereo_loss([wrong], PAIR)
    assert (true.appearance < 0.7 * false.appearance).all()
    assert (true.total < false.total).all()


def test_eyes_that_contradict_each_other_cost() -> None:
    flat = torch.full((6, 2, 64, 64), 0.1)
    assert stereo_loss([flat], PAIR).apart.max() < 1e-6
    flat[:, 1] = 0.05
    assert stereo_loss([flat], PAIR).apart.tolist() == pytest.approx([0.1] * 6)


def test_terms_are_weighed_and_sizes_are_summed() -> None:
    half = F.interpolate(REAL, scale_factor=0.5)
    fine, coarse, both = (stereo_loss(scales, PAIR) for scales in ([REAL], [half], [REAL, half]))
    torch.testing.assert_close(both.appearance, fine.appearance + coarse.appearance)
    torch.testing.assert_close(both.rough, fine.rough + coarse.rough / 2)
    heavy = stereo_loss([REAL], PAIR, Weights(smooth=0.5, agree=2.0))
    torch.testing.assert_close(heavy.total, fine.appearance + 0.5 * fine.rough + 2 * fine.apart)


def test_gradient_descent_on_two_eyes_alone_finds_the_disparity() -> None:
    """One number for a picture in which everything moves by 6 pixels."""
    # Waves that are longer than what they move by, so that the way is felt from afar.
    wide = (torch.arange(54) / 4.5 + torch.rand(1, 3, 8, 1) * 6).sin() / 2 + 0.5
    left, right = wide[..., :48], wide[..., 6:]
    guess = torch.tensor(2.0 / 48, requires_grad=True)
    optimizer = torch.optim.Adam([guess], lr=5e-3)
    for _ in range(60):
        optimizer.zero_grad()
        stereo_loss([guess.expand(1, 2, 8, 48)], (left, right)).total.sum().backward()
        optimizer.step()
    assert guess.item() * 48 == pytest.approx(6.0, abs=0.4)


def test_supervision_asks_for_what_is_known_alone() -> None:
    truth = torch.zeros(1, 2, 4, 4)
    truth[0, 0, 0, 0] = 0.2
    said = torch.full((1, 2, 4, 4), 0.05)
    assert supervised_loss([said], truth).item() == pytest.approx(0.15)
    assert supervised_loss([said], torch.zeros_like(truth)).item() == 0
    assert supervised_loss([REAL, F.interpolate(REAL, scale_factor=0.5)], REAL).max() == 0


@pytest.mark.usefixtures("as_users_meet_it")
def test_two_sizes_are_no_pair() -> None:
    with pytest.raises(ValueError, match="pictures of 8×8 and 8×9 are no pair; give two of one size"):
        stereo_loss([torch.zeros(1, 2, 8, 8)], (torch.zeros(1, 3, 8, 8), torch.zeros(1, 3, 8, 9)))
