"""Clouds of strangers are opened within bounds and never executed; what is no cloud is refused in a sentence."""

import io
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.chance import Chance
from regard.vision.cloud import CloudError, Few, open_cloud, vary

POINTS = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32) * [1, 2, 3] + [5, 0, 0]


def npy(array: np.ndarray, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def xyz(points: np.ndarray) -> bytes:
    return "\n".join(["# x y z", *(f"{x:.6f} {y:.6f}, {z:.6f} 255 0 0" for x, y, z in points)]).encode()


def test_a_cloud_is_the_same_in_every_format_and_stands_around_its_middle(tmp_path: Path) -> None:
    colours = np.concatenate([POINTS, np.ones((50, 3))], axis=1)
    ways = [npy(POINTS), npy(np.asfortranarray(POINTS)), npy(colours), npz(points=POINTS), npz(anything=POINTS)]
    ways += [npz(points=POINTS, normals=POINTS), xyz(POINTS)]
    (tmp_path / "chair.npz").write_bytes(npz(points=POINTS))
    expected = open_cloud(POINTS)
    for each in (*ways, tmp_path / "chair.npz", str(tmp_path / "chair.npz")):
        np.testing.assert_allclose(open_cloud(each), expected, atol=1e-5)
    assert expected.dtype == np.float32
    np.testing.assert_allclose(expected.mean(axis=0), 0, atol=1e-6)
    assert np.linalg.norm(expected, axis=1).max() == pytest.approx(1)


def test_whole_numbers_are_points_too() -> None:
    assert open_cloud(npy(np.arange(12, dtype=np.int16).reshape(4, 3) ** 2)).shape == (4, 3)


class Hostile:
    """Whoever unpickles this writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_in_a_file_is_never_executed(tmp_path: Path) -> None:
    trap = np.array([Hostile(tmp_path / "executed")] * 4, dtype=object)
    alone = npy(trap, allow_pickle=True)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("points.npy", alone)
    for data in (alone, packed.getvalue(), pickle.dumps(trap)):
        with pytest.raises(CloudError):
            open_cloud(data)
    assert not (tmp_path / "executed").exists()


def header(shape: str, descr: str = "<f4") -> bytes:
    said = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(said)) + said


@pytest.mark.usefixtures("as_users_meet_it")
@pytest.mark.parametrize(
    ("given", "why"),
    [
        (POINTS[:3], "has 3 points; give 4 to 1,000,000"),
        (np.full((9, 3), 2.0), "has all its points at one place, so that it has no shape"),
        (np.where(np.arange(150).reshape(50, 3) == 21, np.nan, POINTS), "is NaN or infinite, number 7; leave such"),
        (np.where(np.arange(150).reshape(50, 3) == 21, np.inf, POINTS), "is NaN or infinite, number 7; leave such"),
        (POINTS[:, :2], "shape (50, 2); give numbers of (points, 3)"),
        (npy(POINTS.reshape(-1)), "shape (150,); give numbers of (points, 3)"),
        (npy(np.array([["a"] * 3] * 5)), "give numbers of (points, 3)"),
        (npy(POINTS)[:200], "is cut short or damaged"),
        (npz(points=POINTS)[:200], "is cut short or damaged"),
        (header("(1000000000000, 3)"), "is cut short or damaged (it claims float32 of shape (1000000000000, 3))"),
        (header("(50, 3"), "is cut short or damaged"),
        (npz(a=POINTS, b=POINTS), "has arrays called a, b; call the points 'points'"),
        (b"1 2 3\n4 5\n", "line 2, is no x, y and z; give three numbers a line"),
        (b"a chair", "line 1, is no x, y and z"),
        (b"", "has 0 bytes; give 1 to 67,108,864"),
    ],
    ids=str,
)
def test_what_is_no_cloud_is_refused_in_a_sentence(given: Any, why: str) -> None:
    with pytest.raises(CloudError) as caught:
        open_cloud(given, name="chair")
    assert str(caught.value).startswith("chair")
    assert why in str(caught.value)


def test_an_archive_that_unpacks_to_too_much_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("points.npy", bytes(65 * 2**20))
    with pytest.raises(CloudError, match="unpacks to more than 67,108,864 bytes; take fewer points"):
        open_cloud(buffer.getvalue())


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CloudError, match=r"none\.npz is not there; give a file that ends in \.npz, \.npy, \.xyz"):
        open_cloud(tmp_path / "none.npz")


def test_a_model_sees_as_many_points_as_it_wants_the_same_every_time() -> None:
    few, cloud = Few(20), open_cloud(POINTS)
    np.testing.assert_array_equal(few.fit(cloud), few.fit(cloud))
    assert len(np.unique(few.fit(cloud), axis=0)) == 20
    again = Few(120).fit(cloud)
    assert again.shape == (120, 3)
    np.testing.assert_array_equal(again[50:100], cloud)


def test_a_varied_cloud_is_turned_about_the_upright_axis_alone() -> None:
    cloud = open_cloud(POINTS)[None]
    still = vary(cloud, Chance(0, "a", 0), 50, turn=180.0, scale=0.0, jitter=0.0)
    np.testing.assert_allclose(np.sort(still[0, :, 2]), np.sort(cloud[0, :, 2]), atol=1e-6)
    before, after = (np.sort(np.linalg.norm(each[0], axis=1)) for each in (cloud, still))
    np.testing.assert_allclose(after, before, atol=1e-6)
    assert not np.allclose(np.sort(still[0, :, 0]), np.sort(cloud[0, :, 0]), atol=1e-3)


def test_other_points_are_met_each_time_and_the_same_by_the_same_chance() -> None:
    cloud = open_cloud(POINTS)[None].repeat(2, axis=0)
    first, again, other = (vary(cloud, Chance(0, "vary", number), 10) for number in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert first.shape == (2, 10, 3)
    assert not np.allclose(first, other)
    assert not np.allclose(first[0], first[1])
