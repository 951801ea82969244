"""What a teacher may see beside a picture is true of it."""

import numpy as np

from regard.data.painted import world_pictures
from regard.data.privileged import PLANES, largest, privileged_pictures, with_planes
from regard.world import render, scenes


def test_the_colours_are_those_of_the_pictures_and_the_planes_lie_behind() -> None:
    known, pixels = privileged_pictures("test", 64, "both", 3)
    assert pixels.shape == (3, 64, 64, 5)
    for i in range(3):
        assert (pixels[i, ..., :3] == np.asarray(world_pictures("test").picture(i))).all()
    assert len(known) == 1000
    named = world_pictures("test")
    assert all(named.labels[named.targets[i]].endswith(known.labels[known.targets[i]]) for i in range(20))


def test_a_mask_is_that_of_the_thing_after_which_the_picture_is_named() -> None:
    shown = [scene for scene in scenes(split="test", things=(2, 3))[:20] if largest(scene)][:4]
    pixels = with_planes(shown, 48, "mask")
    for scene, each in zip(shown, pixels, strict=True):
        assert ((each[..., 3] == 255) == render(scene, 48).visible[largest(scene)]).all()
        assert set(np.unique(each[..., 3])) <= {0, 255}


def test_nearer_is_brighter() -> None:
    shown = [*scenes(split="test")[:3]]
    for scene, each in zip(shown, with_planes(shown, 48, "depth"), strict=True):
        depth = render(scene, 48).depth
        np.testing.assert_allclose(each[..., 3], 255 * 0.6 / depth, atol=0.51)


def test_whoever_has_no_privilege_sees_colours_alone() -> None:
    assert with_planes([scenes()[0]], 32, "none").shape == (1, 32, 32, 3)
    assert {name: with_planes([scenes()[0]], 32, name).shape[-1] - 3 for name in PLANES} == PLANES
