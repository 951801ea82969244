"""What is measured by classes and by ranks agrees with the libraries that everybody cites."""

import numpy as np
import pytest

from regard.analysis.confusion import Confusion
from regard.analysis.scores import f1, matthews, pearson, spearman

DICE = np.random.default_rng(0)
RIGHT: list[str] = DICE.choice(["a", "b", "c"], 200, p=[0.6, 0.3, 0.1]).tolist()
FOUND: list[str] = np.where(DICE.random(200) < 0.6, RIGHT, DICE.choice(["a", "b", "c"], 200)).tolist()
X, Y = DICE.normal(size=(2, 100)).round(1)


def test_f1_and_matthews_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    assert f1(FOUND, RIGHT).value == pytest.approx(100 * metrics.f1_score(RIGHT, FOUND, average="macro"))
    assert f1(FOUND, RIGHT, label="b").value == pytest.approx(
        100 * metrics.f1_score(RIGHT, FOUND, labels=["b"], average="macro")
    )
    assert matthews(FOUND, RIGHT).value == pytest.approx(100 * metrics.matthews_corrcoef(RIGHT, FOUND))
    counted = Confusion.of(FOUND, RIGHT)
    assert np.array_equal(counted.counts, metrics.confusion_matrix(RIGHT, FOUND))
    assert counted.precision("c") == pytest.approx(metrics.precision_score(RIGHT, FOUND, labels=["c"], average="macro"))


def test_correlations_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    assert spearman(X.tolist(), (X + Y).tolist()).value == pytest.approx(100 * stats.spearmanr(X, X + Y).statistic)
    assert pearson(X.tolist(), (X + Y).tolist()).value == pytest.approx(100 * stats.pearsonr(X, X + Y).statistic)


def test_an_interval_holds_its_score_and_the_same_seed_gives_it_again() -> None:
    for score in (f1(FOUND, RIGHT), matthews(FOUND, RIGHT), spearman(X.tolist(), (X + Y).tolist())):
        assert score.interval is not None
        assert score.interval[0] < score.value < score.interval[1]
    assert f1(FOUND, RIGHT) == f1(FOUND, RIGHT)
    assert f1(FOUND, RIGHT).interval != f1(FOUND, RIGHT, seed=1).interval


def test_answers_that_never_change_correlate_with_nothing() -> None:
    assert matthews(["a"] * 4, ["a", "b", "a", "b"]).value == 0
    assert spearman([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]).value == 0
    with pytest.raises(ValueError, match="1 numbers do not correlate with 1; give equally many, 2 or more"):
        pearson([1.0], [1.0])
    with pytest.raises(ValueError, match="1 answers and 2 labels cannot be compared"):
        Confusion.of(["a"], ["a", "b"])


def test_a_matrix_is_printed_with_what_has_a_label_in_its_row() -> None:
    assert Confusion.of(["no", "no", "yes"], ["no", "yes", "yes"]).table() == [
        "label  no  yes",
        "no      1    0",
        "yes     1    1",
    ]


def test_of_many_classes_the_most_frequent_mistakes_are_told() -> None:
    right = [*["cup"] * 5, *["ring"] * 4, "star"]
    found = [*["ring"] * 3, "cup", "star", *["cup"] * 2, *["ring"] * 2, "star"]
    assert [line.strip() for line in Confusion.of(found, right).mistakes(2)] == [
        "3  cup taken for ring",
        "2  ring taken for cup",
    ]
