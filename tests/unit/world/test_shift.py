"""Named shifts: each changes the picture, and says what becomes of the masks."""

import numpy as np
import pytest

from regard.world.build import scenes
from regard.world.picture import render
from regard.world.scene import FILLS, MOST, PALETTES
from regard.world.shift import FOLLOW, MORE, SAME, SHIFTS, shifted

PICTURES = [render(scene) for scene in scenes(seed=51, things=(2, 5))[:4]]


def test_all_the_shifts_are_in_the_table() -> None:
    assert list(SHIFTS) == [
        *("sketch", "inverted", "noise", "blur", "textures", "backgrounds", "rotated", "tiny", "crowded")
    ]
    assert {shift.masks for shift in SHIFTS.values()} == {SAME, FOLLOW, MORE}


@pytest.mark.parametrize("name", SHIFTS)
def test_every_shift_changes_the_picture_and_keeps_what_it_says_of_the_masks(name: str) -> None:
    for before in PICTURES:
        after = shifted(before, name, seed=1)
        assert after.rgb.shape == before.rgb.shape
        assert (after.rgb != before.rgb).mean() > 0.02
        kept = len(before.scene.things)
        masks = SHIFTS[name].masks
        if masks == SAME:
            assert (after.instance == before.instance).all()
            assert (after.whole == before.whole).all()
            assert (after.depth == before.depth).all()
        elif masks == FOLLOW:
            assert (after.instance != before.instance).any()
            for thing, old in zip(after.scene.things, before.scene.things, strict=True):
                assert (thing.kind, thing.colour, thing.fill) == (old.kind, old.colour, old.fill)
        else:
            assert len(after.whole) == MOST
            assert (after.whole[:kept] == before.whole).all()
            assert (after.visible[:kept] == before.visible).all()
        assert (after.visible.sum(axis=0) + after.backdrop == 1).all()


@pytest.mark.parametrize("name", SHIFTS)
def test_a_shift_is_the_same_for_the_same_seed(name: str) -> None:
    assert (shifted(PICTURES[0], name, 4).rgb == shifted(PICTURES[0], name, 4).rgb).all()


@pytest.mark.parametrize("name", ["noise", "rotated", "crowded"])
def test_another_seed_shifts_otherwise(name: str) -> None:
    assert (shifted(PICTURES[0], name, 4).rgb != shifted(PICTURES[0], name, 5).rgb).any()


def test_a_sketch_knows_no_colour() -> None:
    drawn = shifted(PICTURES[0], "sketch").rgb
    assert (drawn == drawn[..., :1]).all()
    assert drawn.max() == 255
    assert (drawn[~PICTURES[0].edges] > 200).mean() > 0.9


def test_inverting_twice_changes_nothing() -> None:
    assert (shifted(shifted(PICTURES[0], "inverted"), "inverted").rgb == PICTURES[0].rgb).all()


def test_blur_removes_detail() -> None:
    sharp, soft = PICTURES[0].rgb.astype(int), shifted(PICTURES[0], "blur").rgb.astype(int)
    assert np.abs(np.diff(soft, axis=1)).max() < 0.6 * np.abs(np.diff(sharp, axis=1)).max()
    assert abs(sharp.mean() - soft.mean()) < 2


def test_new_textures_and_backgrounds_are_in_no_split() -> None:
    assert all(t.fill not in FILLS for t in shifted(PICTURES[0], "textures").scene.things)
    assert shifted(PICTURES[0], "backgrounds").scene.backdrop.palette not in PALETTES


def test_tiny_things_are_a_quarter_of_the_area() -> None:
    large = render(PICTURES[0].scene, 128)
    ratio = shifted(large, "tiny").whole.sum(axis=(1, 2)) / large.whole.sum(axis=(1, 2))
    assert ratio == pytest.approx(np.full(len(ratio), 0.25), abs=0.06)


def test_turned_things_stay_in_the_picture() -> None:
    for before in PICTURES:
        for seed in range(4):
            assert shifted(before, "rotated", seed).whole.any(axis=(1, 2)).all()


def test_an_unknown_shift_is_told_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no shift is called 'fog'; choose sketch, inverted"):
        shifted(PICTURES[0], "fog")
