"""Tests of vectors: made vectors answer what they were made for, and the rule about the words of a question counts."""

from pathlib import Path

import numpy as np
import pytest
from tests.unit.words.made import made

from regard.data import DataError
from regard.data.sets import wordtests
from regard.data.sets.wordtests import Alike, Analogy, read_own
from regard.words import Vectors, benchmarks

ROYAL = Analogy("family", "man", "king", "woman", "queen")


def test_the_rule_about_the_words_of_a_question_decides() -> None:
    found = benchmarks.analogies(made(), [ROYAL, ROYAL._replace(fourth="dinner"), ROYAL._replace(first="nobody")])
    assert found.known.tolist() == [True, True, False]
    assert found.sections == ("family", "family")
    assert found.without_inputs.tolist() == [True, False]
    assert found.with_inputs.tolist() == [False, False]
    assert found.repeated.tolist() == [True, True]
    assert found.answers == ("queen", "queen")


def test_case_does_not_count_and_all_spellings_of_a_question_are_left_out() -> None:
    vectors = made(King=(1.0, 1.0, 0.3, 0.0, 0.0, 0.0))  # nearer to the sum than the queen
    found = benchmarks.analogies(vectors, [Analogy("x", "MAN", "King", "Woman", "QUEEN")])
    assert found.without_inputs.tolist() == [True]
    assert found.repeated.tolist() == [True]


def test_many_words_are_compared_with_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(0)
    words = [f"w{i}" for i in range(100)]
    vectors = Vectors(words, chance.standard_normal((100, 5)).astype(np.float32))
    questions = [Analogy("x", *(words[i] for i in chance.choice(100, 4, replace=False))) for _ in range(150)]
    whole = benchmarks.analogies(vectors, questions)
    monkeypatch.setattr(benchmarks, "COLUMNS", 13)
    told: list[float] = []
    parts = benchmarks.analogies(vectors, questions, progress=told.append)
    assert parts.answers == whole.answers
    assert parts.repeated.tolist() == whole.repeated.tolist()
    assert told == sorted(told)
    assert 0 < told[0] < told[-1] <= 1


def test_where_all_words_are_left_out_nothing_is_right() -> None:
    few = made().first(3)
    found = benchmarks.analogies(few, [Analogy("x", "the", "man", "woman", "the")])
    assert (found.without_inputs.tolist(), found.answers) == ([False], ("",))


def test_pairs_are_cosines_of_those_that_are_known() -> None:
    questions = [Alike("king", "QUEEN", 8.0), Alike("king", "nobody", 1.0), Alike("lunch", "lunch", 10.0)]
    found = benchmarks.pairs(made(), questions)
    assert found.known.tolist() == [True, False, True]
    unit, rows = made().unit, made().rows(["king", "queen"])
    assert found.cosines == pytest.approx([float(unit[rows[0]] @ unit[rows[1]]), 1.0], abs=1e-6)
    assert found.scores.tolist() == [8.0, 10.0]


@pytest.mark.usefixtures("published")
def test_the_published_tests_have_the_questions_that_are_counted() -> None:
    for split, count in wordtests.DATASET.splits.items():
        assert len(wordtests.read(split)) == count
    questions = wordtests.read("analogies")
    assert questions[0] == Analogy("capital-common-countries", "Athens", "Greece", "Baghdad", "Iraq")
    assert len({question[0] for question in questions}) == 14
    assert wordtests.read("simlex")[0] == Alike("old", "new", 1.58)


def test_questions_of_ones_own_are_analogies_or_pairs(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text(": family\nman king woman queen\n\n: rest\na b c d\n")
    assert read_own(path) == [ROYAL, Analogy("rest", "a", "b", "c", "d")]
    path.write_text("man king woman queen\n")
    assert read_own(path) == [ROYAL._replace(section="all")]
    path.write_text("Word 1,Word 2,Human (mean)\nlove,sex,6.77\n")
    assert read_own(path) == [Alike("love", "sex", 6.77)]
    for text, why in (
        ("", "asks nothing"),
        (": family\na b c\n", "line 2 has 3 words, and an analogy has 4"),
        (": family\n", "has sections and no analogies"),
        ("a\tb\t1\nc\td\n", "line 2 is no pair of words with a number"),
        ("a b\n", "has no pair of words with a number"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match=why):
            read_own(path)
