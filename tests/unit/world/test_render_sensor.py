"""Other senses: a range finder, warmth, and clouds of points."""

from dataclasses import replace

import numpy as np
import pytest

from regard.world.build import scenes
from regard.world.cloud import points
from regard.world.picture import render
from regard.world.scene import COLOURS, FOCAL, Scene, Thing
from regard.world.sensor import infrared, range_finder

PICTURE = render(scenes(seed=41, things=5)[0], 96)
DISC = Thing("disc", "red", 0.19, "plain", 0.5, 0.5, 0.0, 1.0)


def test_echoes_fail_mostly_at_borders() -> None:
    lost = range_finder(PICTURE) == 0
    assert lost[PICTURE.edges].mean() > 0.5
    assert lost[~PICTURE.edges].mean() < 0.03


def test_the_error_grows_with_the_distance() -> None:
    echo = range_finder(PICTURE)
    error = np.abs(echo - PICTURE.depth)
    heard = echo > 0
    assert error[heard & (PICTURE.depth < 1.6)].mean() < 0.1 * error[heard & (PICTURE.depth == 6.0)].mean()
    assert np.median(error[heard] / PICTURE.depth[heard]) < 0.05


def test_readings_come_in_steps() -> None:
    echo = range_finder(PICTURE)
    sky = echo[(PICTURE.depth == 6.0) & (echo > 0)]
    assert len(np.unique(sky)) < 10


def test_each_reading_has_its_own_noise() -> None:
    assert (range_finder(PICTURE, 1) == range_finder(PICTURE, 1)).all()
    assert (range_finder(PICTURE, 1) != range_finder(PICTURE, 2)).any()


def test_warmth_does_not_depend_on_colour() -> None:
    seen = [infrared(render(Scene((replace(DISC, colour=colour),)))) for colour in COLOURS]
    assert all((each == seen[0]).all() for each in seen)


def test_warmth_tells_fills_apart() -> None:
    warm = []
    for fill in ("plain", "striped", "dotted"):
        picture = render(Scene((replace(DISC, fill=fill),)))
        warm.append(infrared(picture)[picture.visible[0] & ~picture.edges].mean())
        assert infrared(picture)[picture.backdrop].mean() < 0.15
    assert warm[0] > warm[1] + 0.1 > warm[2] + 0.2


def test_points_lie_where_the_picture_says() -> None:
    cloud = points(PICTURE, 500, seed=3)
    x, y, z = cloud.xyz.T
    column, row = (np.rint((p / z * FOCAL + 0.5) * 96 - 0.5).astype(int) for p in (x, y))
    assert (PICTURE.depth[row, column] == z).all()
    assert (PICTURE.rgb[row, column] == cloud.rgb).all()
    assert (PICTURE.instance[row, column] == cloud.instance).all()
    assert len(set(zip(row.tolist(), column.tolist(), strict=True))) == 500


def test_more_points_than_pixels_are_refused() -> None:
    with pytest.raises(ValueError, match="10000 points cannot be taken from 9216 pixels; ask for 1 to 9216"):
        points(PICTURE, 10_000)
