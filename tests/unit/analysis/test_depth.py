"""How far off a depth is, and what can be said without a picture."""

import numpy as np
import pytest

from regard.analysis.depth import constant, errors, scores, usual
from regard.data.stereo import world_eyes

TRUTH = world_eyes("test").arrays(64, 64, 12).truth[:, 0]


def test_the_truth_is_off_by_nothing_and_twice_as_far_by_all() -> None:
    exact, double = errors(TRUTH, TRUTH), errors(TRUTH / 2, TRUTH)
    assert (exact["abs rel"] == 0).all()
    assert (exact["delta"] == 1).all()
    assert double["abs rel"] == pytest.approx(1.0)
    assert (double["delta"] == 0).all()


def test_errors_by_hand() -> None:
    truth = np.array([[[0.1, 0.2, 0.0]]], np.float32)  # at 10 and 5 metres, and somewhere
    off = errors(np.array([[[0.125, 0.1, 0.9]]], np.float32), truth)
    assert off["abs rel"][0] == pytest.approx((2 / 10 + 5 / 5) / 2)
    assert off["rmse"][0] == pytest.approx(np.sqrt((2**2 + 5**2) / 2))
    assert errors(truth / 1.24, truth)["delta"][0] == 1
    assert errors(truth / 1.26, truth)["delta"][0] == 0
    assert errors(truth / 2, truth, metres=0.5)["rmse"][0] == pytest.approx(0.5 * errors(truth / 2, truth)["rmse"][0])


def test_a_picture_without_truth_is_left_out() -> None:
    truth = TRUTH[:2].copy()
    truth[1] = 0
    assert len(errors(TRUTH[:2], truth)["abs rel"]) == 1


def test_no_other_constant_is_better() -> None:
    best = errors(constant(TRUTH), TRUTH)["abs rel"].mean()
    for share in np.linspace(TRUTH.min(), TRUTH.max(), 30):
        assert best <= errors(np.full_like(TRUTH, share), TRUTH)["abs rel"].mean() + 1e-6


def test_what_is_usual_at_a_pixel_is_better_than_a_constant() -> None:
    mapped = errors(usual(TRUTH), TRUTH)["abs rel"].mean()
    assert mapped < 0.9 * errors(constant(TRUTH), TRUTH)["abs rel"].mean()
    assert (usual(TRUTH)[0] == usual(TRUTH)[1]).all()
    assert np.isin(usual(TRUTH)[0][10, 10], TRUTH[:, 10, 10])


def test_unknown_pixels_do_not_count_for_what_is_usual() -> None:
    holed = TRUTH.copy()
    holed[:, :32] = 0
    assert constant(holed)[0, 0, 0] == constant(TRUTH[:, 32:])[0, 0, 0]


def test_scores_have_intervals_and_say_which_way_is_better() -> None:
    found = scores(errors(usual(TRUTH), TRUTH))
    assert [found[name].higher_is_better for name in ("abs rel", "rmse", "delta")] == [False, False, True]
    for score in found.values():
        assert score.interval is not None
        assert score.interval[0] < score.value < score.interval[1]
    assert 1 < found["delta"].value < 100


@pytest.mark.usefixtures("as_users_meet_it")
def test_depths_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match=r"depths of \(12, 64, 63\) cannot be compared with \(12, 64, 64\); give as"):
        errors(TRUTH[..., :-1], TRUTH)
