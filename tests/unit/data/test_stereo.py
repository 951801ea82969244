"""Pictures of two eyes: the world's, Middlebury's, and one's own."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from regard.data import DataError
from regard.data.eyes import Eyes, check
from regard.data.stereo import eye_pairs, read_disparity, world_eyes
from regard.world import warp


def save(folder: Path, name: str, left: np.ndarray, right: np.ndarray) -> None:
    for side, pixels in (("left", left), ("right", right)):
        (folder / side).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / side / f"{name}.png")


def noise(seed: int, height: int = 12, width: int = 20) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)


def unlike(eyes: Eyes) -> tuple[float, float]:
    """How far the eyes are apart where the truth is known, as they are and warped by it."""
    left, right = np.asarray(eyes.left).astype(int), np.asarray(eyes.right)
    assert eyes.disparity is not None
    known = eyes.disparity > 0
    before, after = (float(np.abs(left - each)[known].mean()) for each in (right, warp(right, eyes.disparity)))
    return before, after


def test_the_world_drawn_at_once_is_the_world_drawn_one_by_one() -> None:
    pairs = world_eyes("test")
    left, right, truth = pairs.arrays(64, 64, 3)
    for i in range(3):
        one = pairs[i]
        assert (left[i] == np.asarray(one.left)).all()
        assert (right[i] == np.asarray(one.right)).all()
        assert np.allclose(truth[i, 0] * 64, one.disparity)
        assert np.allclose(truth[i, 1] * 64, one.other)
    assert pairs.metres == pytest.approx(0.09375)
    assert pairs.metres / truth.max() == pytest.approx(0.6, abs=0.01)  # the nearest thing there is


def test_what_is_scored_was_never_learnt() -> None:
    seen = {split: world_eyes(split).names[:3] for split in ("train", "val", "test")}
    assert len(set(sum(seen.values(), ()))) == 9
    first = {split: np.asarray(world_eyes(split).picture(0)).tobytes() for split in seen}
    assert len(set(first.values())) == 3


@pytest.mark.usefixtures("published")
def test_middlebury_warped_by_its_truth_is_the_left_eye() -> None:
    named = [name for split in ("train", "test") for name in eye_pairs("stereo", split).names]
    assert sorted(named) == ["cloth3", "cones", "reindeer", "teddy", "tsukuba", "venus", "wood2"]
    for split in ("train", "test"):
        for eyes in eye_pairs("stereo", split):
            before, after = unlike(eyes)
            assert after < 0.6 * before
    left, _, truth = eye_pairs("stereo", "test").arrays(48, 64)
    assert left.shape == (2, 48, 64, 3)
    assert 0.02 < truth[0, 0].max() < truth[1, 0].max() < 0.16


@pytest.mark.usefixtures("published")
def test_the_right_eyes_truth_is_that_of_the_right_eye() -> None:
    cones = eye_pairs("stereo", "train")[2]
    assert cones.other is not None
    mine, theirs = (Image.fromarray(np.asarray(each)[:, ::-1]) for each in (cones.right, cones.left))
    swapped = Eyes(mine, theirs, cones.other[:, ::-1])  # in a mirror the right eye is the left one
    before, after = unlike(swapped)
    assert after < 0.6 * before


def test_the_motorcycle_comes_with_scikit_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skimage.data", None)
    with pytest.raises(DataError, match="the motorcycle comes with scikit-image, which is not installed; pip install"):
        eye_pairs("stereo", "motorcycle")[0]
    fake = ModuleType("skimage.data")
    disparity = np.full((12, 20), 3.0)
    disparity[0, 0], disparity[1, 1] = np.nan, np.inf
    fake.stereo_motorcycle = lambda: (noise(0), noise(1), disparity)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "skimage", ModuleType("skimage"))
    monkeypatch.setitem(sys.modules, "skimage.data", fake)
    (eyes,) = eye_pairs("stereo", "motorcycle")
    assert eyes.disparity is not None
    assert (eyes.disparity == 0).sum() == 2
    assert eyes.disparity[5, 5] == 3


def test_the_real_motorcycle_warped_is_the_left_eye() -> None:
    pytest.importorskip("skimage.data", reason="scikit-image is not installed")
    before, after = unlike(eye_pairs("stereo", "motorcycle")[0])
    assert after < 0.6 * before


def test_pictures_of_two_sizes_are_no_pair(tmp_path: Path) -> None:
    save(tmp_path / "train", "a", noise(0), noise(1, width=22))
    pairs = eye_pairs(tmp_path, "train")
    with pytest.raises(
        DataError,
        match=r"a.png: the left picture has 20×12 pixels and the right one 22×12; two eyes see pictures of one",
    ):
        pairs[0]
    with pytest.raises(DataError, match=r"the pictures have 20×12 pixels and the disparities 5×4; give one for each"):
        check(Eyes(Image.new("RGB", (20, 12)), Image.new("RGB", (20, 12)), np.zeros((4, 5), np.float32)), "mine")


def test_a_folder_is_divided_by_names_or_by_folders(tmp_path: Path) -> None:
    for i in range(60):
        save(tmp_path / "all", f"{i}", noise(i), noise(i))
    parts = {split: set(eye_pairs(tmp_path / "all", split).names) for split in ("train", "val", "test")}
    assert set.union(*parts.values()) == {f"{i}.png" for i in range(60)}
    assert sum(map(len, parts.values())) == 60
    assert len(parts["train"]) > 40
    save(tmp_path / "own/train", "a", noise(0), noise(1))
    save(tmp_path / "own/test", "b", noise(2), noise(3))
    assert eye_pairs(tmp_path / "own", "test").names == ("b.png",)
    assert (np.asarray(eye_pairs(tmp_path / "own", "test")[0].right) == noise(3)).all()


def test_disparities_of_ones_own_are_arrays_or_pngs_of_sixteen_bits(tmp_path: Path) -> None:
    save(tmp_path / "train", "a", noise(0), noise(1))
    (tmp_path / "train/disparity").mkdir()
    truth = np.tile(np.arange(20, dtype=np.float32), (12, 1))
    truth[0, 0] = np.nan
    np.save(tmp_path / "train/disparity/a.npy", truth)
    found = eye_pairs(tmp_path, "train")[0].disparity
    assert found is not None
    assert found[0, 0] == 0
    assert (found[1] == truth[1]).all()
    Image.fromarray((np.nan_to_num(truth) * 256).astype(np.uint16)).save(tmp_path / "kitti.png")
    assert (read_disparity(tmp_path / "kitti.png")[1] == truth[1]).all()
    assert eye_pairs(tmp_path, "train").arrays(6, 10).truth[0, 0, 3].tolist() == pytest.approx(truth[7, 1::2] / 20)


def test_what_is_no_disparity_is_refused(tmp_path: Path) -> None:
    Image.new("L", (4, 4)).save(tmp_path / "grey.png")
    with pytest.raises(DataError, match=r"grey.png has 8 bits or colours, and nobody says what they mean; save dispar"):
        read_disparity(tmp_path / "grey.png")
    (tmp_path / "bad.npy").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"bad.npy holds no disparities"):
        read_disparity(tmp_path / "bad.npy")
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(DataError, match=r"objects.npy holds no disparities"):
        read_disparity(tmp_path / "objects.npy")
    np.save(tmp_path / "line.npy", np.zeros(4))
    with pytest.raises(DataError, match=r"line.npy has 1 dimensions; save an array of rows and columns"):
        read_disparity(tmp_path / "line.npy")


def test_errors_say_what_would_be_possible(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="digits has images, not pictures of two eyes; choose world, stereo"):
        eye_pairs("digits")
    with pytest.raises(ValueError, match="stereo has no split 'middle'; it has train, val, test, motorcycle"):
        eye_pairs("stereo", "middle")
    with pytest.raises(DataError, match="no pictures of two eyes are called 'nowhere' and no folder lies there"):
        eye_pairs("nowhere")
    with pytest.raises(DataError, match="has no folders left and right; put the pictures of each eye into one of them"):
        eye_pairs(tmp_path)
    save(tmp_path, "a", noise(0), noise(1))
    (tmp_path / "right/a.png").unlink()
    with pytest.raises(DataError, match=r"a.png has no right picture; put a.png into"):
        [eye_pairs(tmp_path, split) for split in ("train", "val", "test")]
    with pytest.raises(IndexError, match="pair 1000 is not among these 1000"):
        world_eyes("test")[1000]
