"""Optical flow is where things have taken what is seen."""

from dataclasses import replace

import numpy as np
import pytest

from regard.world import Light, Scene, Thing, bring_back, clip, flow, parts, render
from regard.world.frame import onto

DISC = Thing("disc", "red", 0.19, "striped", 0.5, 0.5, 0.0, 1.0)
DARK = Light(strength=0.0)  # without shadows, which do not move as things do
FILMS = [clip(7, index, frames=4) for index in range(4)]


def unlit(scene: Scene) -> Scene:
    return replace(scene, light=DARK)


def clear(before: Scene, after: Scene, size: int = 64) -> np.ndarray:
    """Pixels that both frames show, and whose border crosses none of the pixels they are blended from."""
    found, first, second = flow(before, after, size), render(before, size), render(after, size)
    there = np.arange(size)[:, None, None] * [0, 1] + np.arange(size)[None, :, None] * [1, 0] + found.moved
    crossed = first.edges | found.occluded
    for x in (np.floor, np.ceil):
        for y in (np.floor, np.ceil):
            column, row = (np.clip(f(there[..., i]).astype(int), 0, size - 1) for i, f in ((0, x), (1, y)))
            crossed |= second.edges[row, column] | (second.instance[row, column] != first.instance)
    return ~crossed


@pytest.mark.parametrize(("across", "down"), [(3, 0), (-2, 5), (0, -7)])
def test_what_moves_by_whole_pixels_is_brought_back_exactly(across: int, down: int) -> None:
    before = Scene((DISC,), light=DARK)
    after = Scene((replace(DISC, x=0.5 + across / 64, y=0.5 + down / 64),), light=DARK)
    found = flow(before, after)
    seen = render(before).instance == 0
    assert (found.moved[seen] == (across, down)).all()
    assert (found.moved[~seen] == 0).all()
    difference = np.abs(bring_back(render(after).rgb, found.moved).astype(int) - render(before).rgb)
    assert difference[clear(before, after)].max() <= 1


@pytest.mark.parametrize("film", range(4))
@pytest.mark.parametrize("backwards", [False, True])
def test_a_frame_warped_by_its_flow_is_the_other_frame_where_both_show_it(film: int, backwards: bool) -> None:
    before, after = map(unlit, FILMS[film].frames[:2][:: -1 if backwards else 1])
    found, seen = flow(before, after, 128), clear(before, after, 128)
    difference = np.abs(bring_back(render(after, 128).rgb, found.moved).astype(int) - render(before, 128).rgb).mean(-1)
    still = np.abs(render(after, 128).rgb.astype(int) - render(before, 128).rgb).mean(-1)
    moving = seen & (np.abs(found.moved).max(axis=-1) > 1)
    assert seen.mean() > 0.8
    assert difference[seen & ~moving].max() <= 1  # the backdrop, to the last bit but one
    assert np.median(difference[moving]) <= 4
    assert difference[moving].mean() < 0.5 * max(still[moving].mean(), 8)


def test_a_place_on_a_thing_stays_on_it() -> None:
    for film in FILMS:
        before, after = film.frames[1:3]
        moved = film.flow(1).moved.astype(np.float64)
        instance = render(before).instance
        for index, (start, end) in enumerate(zip(before.things, after.things, strict=True)):
            row, column = np.nonzero(instance == index)
            u, v = onto(start, (column + 0.5) / 64, (row + 0.5) / 64)
            there = onto(end, *((place + 0.5 + moved[row, column, i]) / 64 for i, place in enumerate((column, row))))
            assert np.allclose((u, v), there, atol=1e-5)


def test_a_part_goes_where_its_thing_goes() -> None:
    before, after = Scene((replace(DISC, kind="star"),)), Scene((replace(DISC, kind="star", x=0.6, y=0.4, angle=30.0),))
    found, first, second = flow(before, after, 128), parts(render(before, 128)), parts(render(after, 128))
    for one, other in zip(first.visible, second.visible, strict=True):
        row, column = np.nonzero(one)
        there = np.stack([column, row], axis=1) + np.rint(found.moved[row, column]).astype(int)
        assert other[there[:, 1], there[:, 0]].mean() > 0.8


def test_there_and_back_is_nowhere() -> None:
    before, after = FILMS[0].frames[0], FILMS[0].frames[3]
    there, return_ = flow(before, after), flow(after, before)
    seen = clear(before, after)
    row, column = np.nonzero(seen)
    place = np.stack([column, row], axis=1) + np.rint(there.moved[seen]).astype(int)
    home = there.moved[seen] + return_.moved[place[:, 1], place[:, 0]]
    assert np.abs(home).max() < 0.2  # a turning thing moves by a little more half a pixel on


def test_what_a_nearer_thing_comes_to_cover_is_occluded() -> None:
    near, far = replace(DISC, kind="square", x=0.3, depth=0.8), replace(DISC, colour="blue", x=0.7, depth=1.2)
    before, after = Scene((near, far)), Scene((replace(near, x=0.5), far))
    hidden = flow(before, after).occluded
    picture, later = render(before), render(after)
    assert not hidden[picture.instance == 0].any()
    covered = (later.instance == 0) & (picture.instance != 0) & ~later.edges
    assert covered.sum() > 100
    assert hidden[covered].all()
    assert not hidden[(later.instance == picture.instance) & (later.instance != 0) & ~later.edges].any()


def test_of_two_things_at_one_depth_the_later_one_covers_the_other() -> None:
    one, other = replace(DISC, x=0.3), replace(DISC, colour="blue", x=0.7)
    before, after = Scene((one, other)), Scene((one, replace(other, x=0.4)))
    gone = flow(before, after).occluded
    assert gone[render(before).instance == 0].any()
    assert not gone[render(before).instance == 1].any()


def test_what_leaves_the_picture_is_occluded() -> None:
    before, after = Scene((DISC,)), Scene((replace(DISC, x=0.95),))
    found, seen = flow(before, after), render(before).instance == 0
    beyond = (np.arange(64) + 0.5 + found.moved[..., 0]) >= 64
    assert beyond.any()
    assert (found.occluded == (beyond | (found.occluded & ~seen))).all()


def test_what_is_no_clip_has_no_flow() -> None:
    with pytest.raises(ValueError, match="1 and 2 things are not two frames of one clip: things keep their kind"):
        flow(Scene((DISC,)), Scene((DISC, DISC)))
    with pytest.raises(IndexError, match="frame 3 of 4 has no next one; give 0 to 2"):
        FILMS[0].flow(3)
