"""Sensors at other viewpoints see the same things, and the projection says where."""

from dataclasses import replace

import numpy as np
import pytest

from regard.world import (
    BESIDE,
    CAMERA,
    Mount,
    Scene,
    Thing,
    carry,
    infrared,
    project,
    range_finder,
    scenes,
    sees,
    stereo,
)

SOME = list(scenes(seed=61, things=(2, 5))[:12])
FAR, FINE, LEFT = Mount(0.1, 64), Mount(0.0625, 128), Mount(-0.0625, 96)
OTHERS = [BESIDE, FAR, FINE, LEFT]


def middles(size: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(size) + 0.5, np.arange(size) + 0.5), axis=-1)


@pytest.mark.parametrize("other", OTHERS)
def test_a_projected_place_lands_on_the_same_thing(other: Mount) -> None:
    for scene in SOME:
        mine, theirs, both = CAMERA.look(scene), other.look(scene), sees(scene, CAMERA, other)
        there = project(middles(64), mine.depth.astype(float), CAMERA, other)
        row, column = (np.floor(there[both][:, i]).astype(int) for i in (1, 0))
        assert (theirs.instance[row, column] == mine.instance[both]).all()
        assert (theirs.depth[row, column] == mine.depth[both]).all()
        # What is hidden lies behind something, but for pixels that two surfaces share.
        inside = ((there >= 0) & (there < other.size)).all(axis=-1) & ~both & ~mine.edges
        row, column = (np.floor(there[inside][:, i]).astype(int) for i in (1, 0))
        behind = (theirs.depth[row, column] < mine.depth[inside]) | theirs.edges[row, column]
        assert behind.mean() > 0.98


def test_beside_the_camera_it_is_what_stereo_says() -> None:
    for scene in SOME[:4]:
        pair = stereo(scene)
        there = project(middles(64), pair.left.depth.astype(float), CAMERA, BESIDE)
        assert np.allclose(middles(64)[..., 0] - there[..., 0], pair.disparity)
        assert (there[..., 1] == middles(64)[..., 1]).all()
        assert (sees(scene, CAMERA, BESIDE) == ~pair.occluded).all()


@pytest.mark.parametrize("other", OTHERS)
def test_there_and_back_is_the_same_place(other: Mount) -> None:
    places, depth = np.random.default_rng(0).uniform(0, 64, (50, 2)), np.linspace(0.6, 6.0, 50)
    assert np.allclose(project(project(places, depth, CAMERA, other), depth, other, CAMERA), places)


@pytest.mark.parametrize("other", OTHERS)
def test_a_box_with_the_depth_of_its_thing_is_the_box_that_the_other_sensor_sees(other: Mount) -> None:
    for scene in SOME:
        depth = np.array([thing.depth for thing in scene.things])
        mine, theirs = CAMERA.look(scene), other.look(scene)
        found = carry(mine.whole_boxes.astype(float), depth, CAMERA, other)
        assert ((found >= 0) & (found <= other.size)).all()
        inside = (found[:, 0] > 0) & (found[:, 2] < other.size)  # of what leaves the picture, less is seen
        assert np.abs(found - theirs.whole_boxes)[inside].max(initial=0) <= 1.0 + other.size / 64


def test_the_nearer_the_farther_it_moves() -> None:
    there = project(np.full((3, 2), 32.0), np.array([0.6, 1.0, 6.0]), CAMERA, BESIDE)
    assert there[:, 0].tolist() == [22.0, 26.0, 31.0]
    assert project(np.full((1, 2), 32.0), np.array([0.6]), CAMERA, LEFT)[0].tolist() == [63.0, 48.0]


def test_other_senses_look_from_there_too() -> None:
    thing = Thing("disc", "red", 0.15, "plain", 0.5, 0.5, 0.0, 0.75)
    picture = FAR.look(Scene((thing,)))
    near = range_finder(picture)
    warm = infrared(picture)
    moved = project(np.array([[32.0, 32.0]]), np.array([0.75]), CAMERA, FAR)[0].astype(int)
    assert near[moved[1], moved[0]] == pytest.approx(0.75, abs=0.05)
    assert warm[moved[1], moved[0]] > 0.6
    assert np.abs(np.argwhere((near > 0.6) & (near < 0.9)).mean(axis=0) + 0.5 - moved[::-1]).max() < 1


def test_a_thing_that_hides_another_from_one_side_does_not_from_the_other() -> None:
    near = Thing("square", "red", 0.12, "plain", 0.55, 0.4, 0.0, 0.6)
    far = replace(near, kind="disc", colour="blue", size=0.08, x=0.4, depth=1.5)
    scene = Scene((near, far))
    disc = CAMERA.look(scene).instance == 1
    assert sees(scene, CAMERA, LEFT)[disc].mean() > 0.9
    assert sees(scene, CAMERA, Mount(0.1))[disc].mean() < 0.6
