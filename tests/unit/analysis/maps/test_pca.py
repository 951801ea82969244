"""PCA finds the directions along which points differ most, however it is computed."""

import numpy as np
import pytest
import torch

from regard.analysis.maps import pca
from regard.analysis.maps.map import as_points
from regard.analysis.maps.pca import principal_axes


def stretched(count: int = 300, width: int = 20) -> np.ndarray:
    """A cloud that is longest along its first number, shorter along the second, and so on."""
    chance = np.random.default_rng(0)
    return (chance.normal(size=(count, width)) * (10.0 / (1 + np.arange(width)))).astype(np.float32)


def test_the_longest_direction_of_a_cloud_comes_first() -> None:
    points = stretched()
    found = pca(points, 3)
    assert found.method == "PCA"
    for axis in range(3):
        assert abs(np.corrcoef(found.places[:, axis], points[:, axis])[0, 1]) > 0.95
    assert found.facts["variance"] == sorted(found.facts["variance"], reverse=True)
    assert 0 < sum(found.facts["variance"]) < 1
    assert "of the variance on 3 axes" in found.caption


def test_all_axes_together_hold_all_the_variance() -> None:
    assert sum(pca(stretched(width=5), 5).facts["variance"]) == pytest.approx(1)


def test_points_of_more_numbers_than_points_are_no_other_case() -> None:
    wide = stretched(12, 40)
    axes, distances = principal_axes(wide, 11), np.linalg.norm(wide[0] - wide[1])
    places = axes.project(wide)
    assert np.linalg.norm(places[0] - places[1]) == pytest.approx(distances, rel=1e-5)
    assert float(axes.shares.sum()) == pytest.approx(1)


def test_random_probes_find_the_same_axes() -> None:
    points = stretched(400, 60)
    exact, probed = (pca(points, 3, how=how) for how in ("exact", "randomised"))
    assert probed.method == "randomised PCA"
    np.testing.assert_allclose(probed.places, exact.places, atol=1e-2)
    assert probed.facts["variance"] == pytest.approx(exact.facts["variance"], rel=1e-4)


def test_points_that_are_all_the_same_have_no_variance() -> None:
    found = pca(np.ones((4, 3)))
    assert found.facts["variance"] == [0, 0]
    assert np.allclose(found.places, 0)


def test_tensors_and_arrays_that_may_not_be_written_are_points_too() -> None:
    points = stretched(30, 4)
    locked = points.copy()
    locked.setflags(write=False)
    same = pca(points).places
    np.testing.assert_array_equal(pca(locked).places, same)
    np.testing.assert_array_equal(pca(torch.from_numpy(points)).places, same)
    assert as_points(np.arange(6).reshape(3, 2)).dtype == np.float32


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (np.zeros((1, 3)), "1 point cannot be told apart on a map; give 2 or more"),
        (np.zeros((0, 3)), "0 points cannot be told apart"),
        (np.zeros(3), r"shape \(3,\) is no table of points"),
        (np.array([[0.0, 1], [1, 2], [np.nan, 3]]), r"point 2 \(counted from 0\) holds NaN or infinity"),
        (np.array([["a"], ["b"]]), "give real numbers"),
        (np.zeros((5, 1)), "5 points of 1 numbers have no 2 axes; ask for 1 to 1 of them"),
    ],
)
@pytest.mark.usefixtures("as_users_meet_it")
def test_what_cannot_be_mapped_is_said_in_a_sentence(points: np.ndarray, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pca(points)
