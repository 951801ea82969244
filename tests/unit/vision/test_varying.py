"""Pictures varied by chance: the same for the same chance, and only in the ways that are promised."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from PIL import Image

from regard.chance import Chance
from regard.vision import (
    colour_jitter,
    cutmix,
    erase,
    flip,
    from_array,
    mix,
    mixup,
    multi_crop,
    one_hot,
    pad_and_crop,
    rand_augment,
    random_resized_crop,
    repeated,
    three_augment,
    to_array,
)
from regard.vision.crops import crop_box
from regard.vision.dice import beta, normal, uniforms
from regard.vision.randaugment import STEPS

MADE = np.random.default_rng(0)
BATCH = MADE.integers(0, 256, (64, 12, 10, 3), np.uint8)
y, x = np.mgrid[:48, :64]
PICTURE = from_array((np.stack([x * 3, y * 4, x + y], -1) + MADE.integers(0, 40, (48, 64, 3))).astype(np.uint8))

ONE: dict[str, Callable[[Image.Image, Chance], Image.Image]] = {
    "crop": lambda picture, chance: random_resized_crop(picture, 32, chance),
    "randaugment": lambda picture, chance: rand_augment(picture, chance, count=3),
    "three": lambda picture, chance: three_augment(picture, chance),
    "jitter": lambda picture, chance: colour_jitter(picture, chance, brightness=0.4, contrast=0.4, hue=0.2),
}
MANY: dict[str, Callable[[np.ndarray, Chance], np.ndarray]] = {
    "flip": lambda batch, chance: flip(batch, chance),
    "pad and crop": lambda batch, chance: pad_and_crop(batch, chance, 3),
    "erase": lambda batch, chance: erase(batch, chance, 0.7),
}


@pytest.mark.parametrize("name", ONE)
def test_the_same_chance_varies_a_picture_the_same_way(name: str) -> None:
    found = [to_array(ONE[name](PICTURE, Chance(0, "vary", i))) for i in (1, 1, 2, 3, 4)]
    assert np.array_equal(found[0], found[1])
    assert any(not np.array_equal(found[0], each) for each in found[2:])
    assert all(each.dtype == np.uint8 and each.shape[2] == 3 for each in found)


@pytest.mark.parametrize("name", MANY)
def test_the_same_chance_varies_a_batch_the_same_way_and_leaves_the_data_alone(name: str) -> None:
    before = BATCH.copy()
    found = [MANY[name](BATCH, Chance(0, "vary", i)) for i in (1, 1, 2)]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
    assert np.array_equal(BATCH, before)


def test_about_half_of_a_batch_is_mirrored_and_the_rest_is_as_it_was() -> None:
    found = flip(BATCH, Chance(0, "flip"))
    mirrored = [np.array_equal(each, was[:, ::-1]) for each, was in zip(found, BATCH, strict=True)]
    kept = [np.array_equal(each, was) for each, was in zip(found, BATCH, strict=True)]
    assert all(a != b for a, b in zip(mirrored, kept, strict=True))
    assert 16 < sum(mirrored) < 48


def test_a_moved_picture_is_a_part_of_the_padded_one() -> None:
    padded = np.pad(BATCH, ((0, 0), (2, 2), (2, 2), (0, 0)))
    for each, around in zip(pad_and_crop(BATCH, Chance(0, "move"), 2), padded, strict=True):
        places = [(i, j) for i in range(5) for j in range(5) if np.array_equal(each, around[i : i + 12, j : j + 10])]
        assert len(places) == 1
    assert pad_and_crop(BATCH, Chance(0, "move"), 2, mode="reflect").min(axis=(1, 2, 3)).sum() >= 0


def test_what_is_erased_is_one_rectangle_within_bounds() -> None:
    found = erase(np.zeros_like(BATCH), Chance(0, "erase"), 1.0, colour=(9, 9, 9), area=(0.1, 0.4))
    for each in found:
        rows, columns = np.flatnonzero(each.any((1, 2))), np.flatnonzero(each.any((0, 2)))
        assert (each[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] == 9).all()
        assert 0.05 < (each[..., 0] == 9).mean() < 0.5
    noise = erase(np.zeros((400, 32, 32, 3), np.uint8), Chance(0, "erase"), 0.25)
    assert 60 < noise.any((1, 2, 3)).sum() < 140
    assert 120 < noise[noise > 0].mean() < 136


def test_a_crop_is_a_part_of_the_picture_of_the_asked_size_and_shape() -> None:
    for i in range(200):
        left, top, right, bottom = crop_box(64, 48, Chance(0, "crop", i), scale=(0.2, 0.5))
        assert 0 <= left < right <= 64
        assert 0 <= top < bottom <= 48
        assert 0.18 < (right - left) * (bottom - top) / (64 * 48) < 0.53
        assert 0.65 < (right - left) / (bottom - top) < 1.5
    assert crop_box(1000, 10, Chance(0, "crop"), scale=(0.9, 1.0)) == (493, 0, 506, 10)  # the middle, where none fits


@pytest.mark.parametrize("name", STEPS)
def test_an_operation_of_no_strength_changes_little_and_a_strong_one_more(name: str) -> None:
    def far(share: float) -> float:
        return float(np.abs(to_array(STEPS[name](PICTURE, share)).astype(int) - to_array(PICTURE)).mean())

    if name == "identity":
        assert far(1.0) == 0
    elif name in ("autocontrast", "equalize"):
        assert far(0.1) == far(0.9)
    else:
        assert far(0.0) < 1.0
        assert far(0.2) < far(0.9)


def test_there_are_the_fourteen_operations_of_the_paper() -> None:
    assert len(STEPS) == 14
    with pytest.raises(ValueError, match=r"magnitude 30\.0 is out of bounds; give 0 to 10"):
        rand_augment(PICTURE, Chance(0, "a"), magnitude=30.0)
    assert rand_augment(PICTURE, Chance(0, "a"), probability=0.0) is PICTURE


def test_dino_sees_two_large_crops_and_some_small_ones() -> None:
    large, small = multi_crop(PICTURE, Chance(0, "dino"), size=32, small=16, few=5)
    assert [each.size for each in large] == [(32, 32)] * 2
    assert [each.size for each in small] == [(16, 16)] * 5


def test_mixup_shares_pictures_and_targets_alike() -> None:
    images, targets = torch.randn(6, 3, 8, 8), one_hot(torch.arange(6), 6)
    mixed, shares = mixup(images, targets, Chance(0, "mix"))
    weight = shares[0, 0]
    assert 0 < weight < 1
    assert torch.allclose(shares.sum(1), torch.ones(6))
    assert torch.allclose(mixed, weight * images + (1 - weight) * images.flip(0), atol=1e-5)


def test_the_target_of_cutmix_is_what_is_seen_of_each_picture() -> None:
    for i in range(30):
        images = torch.arange(4.0)[:, None, None, None].expand(4, 3, 16, 12)
        mixed, shares = cutmix(images, one_hot(torch.arange(4), 4), Chance(0, "cut", i))
        for row in range(4):
            for shown in range(4):
                assert (mixed[row, 0] == shown).float().mean().item() == pytest.approx(
                    shares[row, shown].item(), abs=1e-5
                )


def test_a_batch_is_mixed_by_one_of_two_ways_or_not_at_all() -> None:
    images, targets = torch.randn(4, 3, 8, 8), one_hot(torch.arange(4), 4)
    assert mix(images, targets, Chance(0, "a"), probability=0.0)[0] is images
    assert mix(images, targets, Chance(0, "a"), mixup_alpha=0.0, cutmix_alpha=0.0)[0] is images
    ways = set()
    for i in range(20):
        mixed, _ = mix(images, targets, Chance(0, "ways", i))
        ways.add("cut" if ((mixed == images) | (mixed == images.flip(0))).all() else "mixed")
    assert ways == {"cut", "mixed"}


def test_smoothing_gives_a_share_to_every_class() -> None:
    assert one_hot(torch.tensor([1]), 4, 0.2).tolist() == [pytest.approx([0.05, 0.85, 0.05, 0.05])]


def test_repeated_rows_come_so_many_times_in_as_large_a_batch() -> None:
    assert repeated(np.asarray([5, 3, 9, 1, 7]), 3).tolist() == [5, 5, 5, 3, 3]
    assert repeated(np.asarray([5, 3]), 1).tolist() == [5, 3]
    with pytest.raises(ValueError, match="rows cannot come 0 times"):
        repeated(np.asarray([5]), 0)


@pytest.mark.parametrize("alpha", [0.2, 0.8, 1.0, 2.0, 8.0])
def test_the_dice_follow_their_laws(alpha: float) -> None:
    chance = Chance(0, "beta")
    drawn = np.asarray([beta(chance, alpha) for _ in range(4000)])
    assert drawn.mean() == pytest.approx(0.5, abs=0.03)
    assert drawn.var() == pytest.approx(1 / (4 * (2 * alpha + 1)), rel=0.1)
    with pytest.raises(ValueError, match=r"alpha 0\.0 is out of bounds"):
        beta(chance, 0.0)
    normals = np.asarray([normal(chance) for _ in range(4000)])
    assert (normals.mean(), normals.std()) == (pytest.approx(0, abs=0.05), pytest.approx(1, abs=0.05))
    assert uniforms(chance, 4000).mean() == pytest.approx(0.5, abs=0.03)
