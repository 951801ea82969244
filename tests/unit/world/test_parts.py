"""Parts lie in their things, groups are made of things, and a pixel may mean any of them."""

from dataclasses import replace

import numpy as np
import pytest

from regard.world import KINDS, PARTS, Scene, Thing, group_masks, groups, meant, parts, render, scenes
from regard.world.groups import By
from regard.world.parts import part_at
from regard.world.scene import relations

CROSS = Thing("cross", "red", 0.3, "plain", 0.5, 0.5, 0.0, 1.0)
SOME = [render(scene, 64) for scene in scenes(seed=51, things=(3, 6))[:12]]


def test_the_parts_of_a_thing_tile_it() -> None:
    for picture in SOME:
        cut = parts(picture)
        for index, kind in enumerate(thing.kind for thing in picture.scene.things):
            mine = cut.thing == index
            assert tuple(name for name, own in zip(cut.names, mine, strict=True) if own) == PARTS[kind]
            for masks, thing in ((cut.whole, picture.whole), (cut.visible, picture.visible)):
                assert (masks[mine].sum(axis=0) == thing[index]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_every_part_is_a_good_piece_of_its_thing(kind: str) -> None:
    cut = parts(render(Scene((replace(CROSS, kind=kind),)), 128))
    areas = cut.whole.sum(axis=(1, 2)) / cut.whole.sum()
    assert areas.min() > 0.07
    assert np.ptp(areas[: len(areas) - (kind in ("star", "cross", "heart"))]) < 0.03  # points, arms and lobes are alike


@pytest.mark.parametrize("angle", [0.0, 20.0, 90.0, -130.0])
def test_arms_turn_with_their_cross(angle: float) -> None:
    cut = parts(render(Scene((replace(CROSS, angle=angle),)), 128))
    row, column = np.mgrid[:128, :128] + 0.5
    turn = np.deg2rad(angle)
    for arm, straight in enumerate((-90.0, 0.0, 90.0, 180.0)):
        mask = cut.whole[arm]
        away = np.array([column[mask].mean(), row[mask].mean()]) - 64
        towards = np.deg2rad(straight) + turn
        assert np.allclose(away, 0.62 * 0.3 * 128 * np.array([np.cos(towards), np.sin(towards)]), atol=0.5)
    assert not (cut.whole[4] & (np.hypot(row - 64, column - 64) > 0.46 * 0.3 * 128 + 1)).any()


def test_points_of_a_star_end_in_its_tips_and_its_middle_in_its_inner_corners() -> None:
    tips = np.deg2rad(np.arange(5) * 72.0 - 90)
    assert part_at("star", 0.9 * np.cos(tips), 0.9 * np.sin(tips)).tolist() == [0, 1, 2, 3, 4]
    inner = tips + np.deg2rad(36.0)
    assert part_at("star", 0.51 * np.cos(inner), 0.51 * np.sin(inner)).tolist() == [5] * 5


def test_a_heart_has_two_lobes_above_and_a_tip_below() -> None:
    assert part_at("heart", np.array([-0.4, 0.4, 0.0, -0.4]), np.array([-0.5, -0.5, 0.7, 0.1])).tolist() == [0, 1, 2, 2]


def test_another_eye_sees_the_same_parts_elsewhere() -> None:
    scene = Scene((replace(CROSS, size=0.2, angle=15.0),))
    left, right = parts(render(scene)), parts(render(scene, baseline=0.0625), baseline=0.0625)
    assert (np.roll(left.whole, -6, axis=2) == right.whole).all()


@pytest.mark.parametrize("by", ["together", "kind", "colour", "fill", "scale"])
def test_groups_divide_the_things_and_are_the_union_of_theirs(by: By) -> None:
    for picture in SOME:
        divided = groups(picture.scene, by)
        assert sorted(thing for group in divided for thing in group) == list(range(len(picture.scene.things)))
        for whole, masks in ((False, picture.visible), (True, picture.whole)):
            for group, mask in zip(divided, group_masks(picture, by, whole=whole), strict=True):
                assert (mask == np.logical_or.reduce([masks[thing] for thing in group])).all()
        for group in divided if by != "together" else ():
            assert len({getattr(picture.scene.things[thing], by) for thing in group}) == 1


def test_what_hangs_before_or_inside_another_belongs_to_it_also_through_a_third() -> None:
    row = tuple(replace(CROSS, kind="disc", size=0.12, x=x, depth=d) for x, d in ((0.2, 1.5), (0.36, 1.0), (0.52, 0.7)))
    alone = replace(CROSS, size=0.1, x=0.88, y=0.1, depth=0.8)
    scene = Scene((row[0], row[2], alone, row[1]))
    assert not relations(scene, 0, 1) & {"in front of", "behind"}
    assert groups(scene) == ((0, 1, 3), (2,))


def test_a_pixel_may_mean_a_part_its_thing_or_its_group() -> None:
    picture = SOME[0]
    for row, column in np.argwhere(picture.instance >= 0)[::97].tolist():
        found = meant(picture, row, column)
        assert found is not None
        assert found.part[row, column]
        assert not (found.part & ~found.thing).any()
        assert not (found.thing & ~found.group).any()
        assert (found.thing == picture.visible[picture.instance[row, column]]).all()
    empty = np.argwhere(picture.backdrop)[0].tolist()
    assert meant(picture, *empty) is None


@pytest.mark.usefixtures("as_users_meet_it")
def test_errors_say_what_would_be_possible() -> None:
    with pytest.raises(ValueError, match="things are not grouped by 'taste'; choose together, kind, colour"):
        groups(SOME[0].scene, "taste")
    with pytest.raises(IndexError, match="row 64 and column 0 are not on a picture of 64 pixels"):
        meant(SOME[0], 64, 0)
