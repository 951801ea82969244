"""What sensors beside the camera see, and the camera's boxes there."""

import numpy as np
import pytest

from regard.data.annotated import Objects
from regard.data.painted import world_detections
from regard.data.rigged import as_bytes, depths, sensed_detections, taught_detections
from regard.world import render, scenes
from regard.world.rig import CAMERA, Mount


def whole(split: str, count: int) -> list[Objects]:
    """The true boxes of the camera."""
    known = world_detections(split)
    return [known.objects(i) for i in range(count)]


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    left, top = np.maximum(one[:2], other[:2])
    right, bottom = np.minimum(one[2:], other[2:])
    inner = max(right - left, 0) * max(bottom - top, 0)
    areas = [(each[2] - each[0]) * (each[3] - each[1]) for each in (one, other)]
    return float(inner / (sum(areas) - inner))


@pytest.mark.parametrize("sensor", ["range", "infrared"])
def test_another_sensor_sees_the_same_scenes_in_grey_and_from_elsewhere(sensor: str) -> None:
    known, camera = sensed_detections(sensor, "test", count=3), world_detections("test")
    assert len(known) == 3
    for i in range(3):
        seen = np.asarray(known.picture(i))
        assert (seen[..., 0] == seen[..., 1]).all()
        assert np.ptp(seen) > 50
        assert known.objects(i).targets.tolist() == camera.objects(i).targets.tolist()
        assert (known.objects(i).boxes[:, 0] < camera.objects(i).boxes[:, 0]).any()  # seen from the right of it


def test_a_sensor_where_the_camera_is_sees_its_boxes() -> None:
    here, camera = sensed_detections("camera", "test", CAMERA, 3), world_detections("test")
    for i in range(3):
        assert (np.asarray(here.picture(i)) == np.asarray(camera.picture(i))).all()
        assert (here.objects(i).boxes == camera.objects(i).boxes).all()


def test_boxes_that_are_carried_fit_and_those_that_stay_do_not() -> None:
    found = whole("test", 12)
    truth = sensed_detections("infrared", "test", count=12)
    carried, stayed = (taught_detections("infrared", "test", found, project=each) for each in (True, False))
    fits = list[list[float]]()
    for known in (carried, stayed):
        pairs = [
            max(overlap(box, real) for real in truth.objects(i).boxes)
            for i in range(12)
            for box in known.objects(i).boxes
        ]
        fits.append(pairs)
    assert np.median(fits[0]) > 0.9
    assert np.median(fits[1]) < 0.6


def test_what_leaves_the_sight_of_a_sensor_is_not_taught() -> None:
    found = whole("test", 6)
    far = taught_detections("infrared", "test", found, Mount(5.0))
    assert sum(len(far.objects(i).targets) for i in range(6)) == 0
    nothing = [Objects(np.zeros((0, 4), np.float32), np.zeros(0, np.int64), np.zeros(0, bool), ())]
    assert len(taught_detections("range", "test", nothing).objects(0).boxes) == 0


def test_the_depth_of_a_box_is_that_of_its_thing() -> None:
    picture = render(scenes(split="test", things=1)[0], 96)
    (box,) = picture.boxes.astype(np.float32)
    (own,) = np.unique(picture.depth[picture.visible[0]])
    assert depths(picture, box[None])[0] == pytest.approx(own, rel=0.01)


def test_no_echo_is_black_and_near_is_bright() -> None:
    picture = render(scenes(split="test")[0], 64)
    said = as_bytes(picture, "range", 0)[..., 0]
    near, far = picture.depth == picture.depth.min(), picture.depth == picture.depth.max()
    assert np.median(said[near]) > np.median(said[far])
    assert (said == 0).any()
