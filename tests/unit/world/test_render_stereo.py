"""Two eyes see one world."""

from dataclasses import replace

import numpy as np
import pytest

from regard.world.build import DEPTHS, scenes
from regard.world.scene import Light, Scene, Thing
from regard.world.stereo import Stereo, stereo, warp


def clear(pair: Stereo) -> np.ndarray:
    """Pixels that both eyes see, and where no border crosses those they are blended from."""
    size, rows = pair.left.size, np.arange(pair.left.size)[:, None]
    first = np.floor(np.arange(size) - pair.disparity).astype(int)
    last = np.ceil(np.arange(size) - pair.disparity).astype(int)
    crossed = pair.left.edges.copy()
    for column in (first, last):
        crossed |= pair.right.edges[rows, np.clip(column, 0, size - 1)]
    return ~(crossed | pair.occluded)


@pytest.mark.parametrize("size", [64, 128])
def test_the_right_eye_warped_is_the_left_eye(size: int) -> None:
    for scene in scenes(seed=31)[:12]:
        pair = stereo(scene, size)
        difference = np.abs(warp(pair.right.rgb, pair.disparity).astype(int) - pair.left.rgb)
        assert difference[clear(pair)].max() == 0
        assert clear(pair).mean() > 0.6


@pytest.mark.parametrize(("strength", "levels"), [(0.0, 3), (0.7, 16)])
def test_between_whole_pixels_blending_softens_shadows_and_little_else(strength: float, levels: int) -> None:
    for scene in scenes(seed=31)[:12]:
        pair = stereo(replace(scene, light=Light(strength=strength)), 80)
        difference = np.abs(warp(pair.right.rgb, pair.disparity).astype(int) - pair.left.rgb)
        paper = difference[clear(pair) & pair.left.backdrop]
        assert np.quantile(paper, 0.95) <= 1
        assert paper.max() <= levels


def test_disparities_are_whole_pixels_at_64() -> None:
    for scene in scenes(seed=31)[:6]:
        disparity = stereo(scene, 64).disparity
        assert (disparity == np.rint(disparity)).all()
        assert disparity.min() >= 1
        assert disparity.max() <= 10


def test_near_things_move_farther() -> None:
    things = tuple(Thing("disc", "red", 0.08, "plain", 0.7, 0.2 + 0.3 * i, 0.0, DEPTHS[3 * i]) for i in range(3))
    pair = stereo(Scene(things))
    moved = (pair.left.whole_boxes - pair.right.whole_boxes)[:, 0]
    assert moved.tolist() == [4, 7, 10]


def test_with_both_eyes_in_one_place_nothing_moves() -> None:
    pair = stereo(scenes(seed=1)[0], baseline=0.0)
    assert (pair.left.rgb == pair.right.rgb).all()
    assert not pair.occluded.any()


def test_what_a_near_thing_hides_from_the_right_eye_is_occluded() -> None:
    pair = stereo(Scene((Thing("square", "red", 0.18, "plain", 0.5, 0.3, 0.0, 0.6),)))
    row = pair.left.instance[19]
    first = int(np.argmax(row == 0))
    # The sky moves by 1 pixel and the square by 10: nine columns of sky to its left are covered.
    assert pair.occluded[19, first - 8 : first].all()
    assert not pair.occluded[19, : first - 10][1:].any()
    assert not pair.occluded[pair.left.instance == 0].any()


def test_swapped_eyes_are_refused() -> None:
    with pytest.raises(ValueError, match="swaps the eyes; give 0 or more"):
        stereo(scenes()[0], baseline=-0.1)
