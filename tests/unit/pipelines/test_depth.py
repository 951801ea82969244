"""Depth of pictures, by a fresh model whose depths mean nothing but must fit."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from regard.data.stereo import world_eyes
from regard.hub import save
from regard.models import build
from regard.models.family import family
from regard.pipelines import depth
from regard.pipelines.depth import Depth
from regard.vision import Processor, Size

METRES = 0.09375


def seer(**card: object) -> Depth:
    torch.manual_seed(0)
    model = build("monodepth-nano", size=32, columns=32).eval()
    return Depth.of(model, name="mine", card={"task": "depth", **card})


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8))


def test_depth_comes_in_the_size_of_the_picture_and_is_metres_divided_by_disparity() -> None:
    found = seer(metres=METRES)([noise(50, 30), noise(20, 40)])
    assert [each.depth.shape for each in found] == [(30, 50), (40, 20)]
    for each in found:
        np.testing.assert_allclose(each.depth * each.disparity, METRES, rtol=1e-5)
        assert each.metric
        assert each.picture().size == each.depth.shape[::-1]
        near, far = float(each.depth.min()), float(each.depth.max())
        assert each.label.startswith(f"{near:.2f} to {far:.2f} m, half of it within ")


@pytest.mark.parametrize("metres", [None, 0, -1, "far"])
def test_who_does_not_know_the_metres_claims_none(metres: object) -> None:
    (found,) = seer(metres=metres)(noise(16, 16))
    assert not found.metric
    assert "of an unknown unit" in found.label


def test_many_pictures_are_answered_as_each_alone() -> None:
    one = seer()
    pictures = [noise(16, 16, seed) for seed in range(40)]
    told: list[float] = []
    together = one(pictures, progress=told.append)
    assert told == [32, 40]
    for picture, found in zip(pictures[::13], together[::13], strict=True):
        np.testing.assert_allclose(one(picture)[0].disparity, found.disparity, atol=1e-6)


def test_the_right_eye_checks_the_depth() -> None:
    one = seer()
    (same,) = one("world:7", right=one.open("world:7"))
    assert same.checked is not None
    assert same.checked.before < 1e-6 < same.checked.after  # any disparity makes it worse
    (pair,) = one("world:7", right="world:7")
    assert pair.checked is not None
    assert pair.checked.before > 0.01  # what the right eye sees of the scene is something else
    assert one("world:7")[0].checked is None


def test_true_disparities_make_the_eyes_alike() -> None:
    eyes = world_eyes("test")[7]
    assert eyes.disparity is not None
    share = torch.from_numpy(eyes.disparity / 64)
    checked = depth._check(eyes.left, eyes.right, share)
    assert checked.after < 0.5 * checked.before


def test_pictures_of_two_sizes_are_no_pair() -> None:
    with pytest.raises(
        ValueError, match="the pair: the left picture has 20×16 pixels and the right one 16×16; two eyes see pictures"
    ):
        seer()(noise(20, 16), right=noise(16, 16))
    with pytest.raises(ValueError, match="1 right pictures do not go with 2 left ones; give one each"):
        seer()([noise(16, 16), noise(16, 16)], right=[noise(16, 16)])
    with pytest.raises(ValueError, match="pair 9999 is not among these 1000"):
        seer()("world:7", right="world:9999")


def test_scores_stand_beside_what_needs_no_picture() -> None:
    found = seer().evaluate("world", limit=6)
    assert found.count == 6
    named = {"abs rel", "rmse", "delta"}
    assert set(found.scores) == {f"{name}{way}" for name in named for way in ("", "/constant", "/usual")}
    assert found.scores["abs rel/usual"].value < found.scores["abs rel/constant"].value < found.scores["abs rel"].value


def test_data_without_truth_cannot_be_scored(tmp_path: Path) -> None:
    for side in ("left", "right"):
        for split in ("train", "test"):
            (tmp_path / split / side).mkdir(parents=True)
            noise(16, 16).save(tmp_path / split / side / "a.png")
    with pytest.raises(ValueError, match="has no true disparities, so that nothing can be scored"):
        seer().evaluate(str(tmp_path))


def test_a_reading_shows_the_picture_and_looks_nowhere() -> None:
    reading = seer(metres=METRES).attend("world:7")
    assert reading.maps == ()
    assert reading.output.depth.shape == (64, 64)
    assert reading.caption == reading.output.label
    assert len(reading.axes["picture"]) == 64  # cells of the map in the middle


def test_a_saved_model_says_the_same(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = build("monodepth-nano").eval()
    processor = Processor(size=Size(height=16, width=24))
    card = {"task": "depth", "metres": METRES}
    save(tmp_path / "mine", model, family=family("monodepth"), card=card, processor=processor)
    found = regard.load(tmp_path / "mine")
    assert isinstance(found, Depth)
    assert found.metres == METRES
    assert found.shares([noise(48, 32)]).shape == (1, 16, 24)


def test_a_model_that_says_no_depth_is_refused() -> None:
    with pytest.raises(ValueError, match="mine is a ViT, which says no depth; choose another model"):
        Depth.of(build("vit-nano").eval(), name="mine", card={"task": "depth"})
