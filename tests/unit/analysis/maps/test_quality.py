"""A map that keeps neighbours is trusted, and one that makes them up is not."""

import numpy as np
import pytest

from regard.analysis.maps import agreement, quality


def cloud(count: int = 200, width: int = 5) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, width))


def test_points_themselves_are_the_best_map() -> None:
    found = quality(cloud(), cloud() * 3 + 7)
    assert (found.preservation, found.trustworthiness) == (1, 1)
    assert (found.neighbours, found.asked) == (10, 200)


def test_shuffled_places_are_worth_what_chance_is() -> None:
    found = quality(cloud(), np.random.default_rng(1).permutation(cloud()))
    assert found.preservation == pytest.approx(10 / 199, abs=0.02)
    assert found.trustworthiness == pytest.approx(0.5, abs=0.03)


def test_points_far_from_the_origin_are_told_apart_too() -> None:
    assert quality(cloud() + 1e6, cloud()).preservation > 0.99


def test_of_a_large_set_a_sample_is_asked() -> None:
    flat = cloud()[:, :2]
    whole, some = quality(cloud(), flat), quality(cloud(), flat, sample=100)
    assert some.asked == 100
    assert some.trustworthiness == pytest.approx(whole.trustworthiness, abs=0.03)


def test_a_small_set_has_fewer_neighbours() -> None:
    assert quality(cloud(5), cloud(5)).neighbours == 2
    with pytest.raises(ValueError, match="2 points have no neighbours to mistake; give 3 or more"):
        quality(cloud(2), cloud(2))
    with pytest.raises(ValueError, match="4 places are not those of 5 points"):
        quality(cloud(5), cloud(4))
    with pytest.raises(ValueError, match="0 neighbours cannot be compared"):
        quality(cloud(5), cloud(5), 0)


def test_neighbours_of_one_kind_agree() -> None:
    labels = np.arange(60) % 3
    apart = cloud(60, 2) + 100 * labels[:, None]
    assert agreement(apart, labels, 5) == 1
    assert agreement(cloud(60, 2), labels, 5) < 0.6
    with pytest.raises(ValueError, match="60 labels are not those of 50 places"):
        agreement(apart[:50], labels)
