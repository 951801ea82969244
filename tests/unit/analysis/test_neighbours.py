"""Nearest neighbours say what scikit-learn's say, however many are asked at once."""

import numpy as np
import pytest

from regard.analysis import neighbours
from regard.analysis.neighbours import COUNT, WARMTH, nearest_classes

DICE = np.random.default_rng(0)
CLASSES = DICE.integers(0, 5, 200)
KNOWN = DICE.normal(size=(5, 12))[CLASSES] + 1.5 * DICE.normal(size=(200, 12))
ASKED = KNOWN[:60] + 4 * DICE.normal(size=(60, 12))


@pytest.mark.parametrize("count", [1, COUNT, 37])
def test_votes_are_those_of_scikit_learn(count: int) -> None:
    learn = pytest.importorskip("sklearn.neighbors")

    def weights(distances: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.exp((1 - distances) / WARMTH)
        return found

    other = learn.KNeighborsClassifier(count, metric="cosine", weights=weights).fit(KNOWN, CLASSES)
    said = nearest_classes(KNOWN, CLASSES, ASKED, count=count)
    np.testing.assert_array_equal(said, other.predict(ASKED))
    assert 0.3 < (said == CLASSES[:60]).mean() < 1


def test_it_does_not_matter_how_many_are_compared_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = nearest_classes(KNOWN, CLASSES, ASKED)
    monkeypatch.setattr(neighbours, "TOGETHER", 7)
    np.testing.assert_array_equal(nearest_classes(KNOWN, CLASSES, ASKED), whole)


def test_a_vector_is_its_own_nearest_whatever_its_length() -> None:
    np.testing.assert_array_equal(nearest_classes(KNOWN, CLASSES, 7 * KNOWN, count=1), CLASSES)


def test_fewer_are_known_than_are_to_vote() -> None:
    assert nearest_classes(KNOWN[:3], np.asarray([2, 4, 2]), KNOWN[:1] * 0).tolist() == [2]


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_says_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="200 vectors with 3 classes say nothing"):
        nearest_classes(KNOWN, CLASSES[:3], ASKED)
    with pytest.raises(ValueError, match="0 vectors with 0 classes say nothing"):
        nearest_classes(KNOWN[:0], CLASSES[:0], ASKED)
