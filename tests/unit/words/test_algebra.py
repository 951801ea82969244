"""Algebra with words: both rules are answered, and an expression that means nothing is told why."""

import numpy as np
import pytest
from tests.unit.words.made import made

from regard.words import near, odd, parse, solve


def test_the_nearest_word_is_one_of_the_question_unless_they_are_left_out() -> None:
    answer = solve(made(), "king - man + woman", count=3)
    assert answer.inputs == ("king", "man", "woman")
    assert answer.without_inputs[0].word == "queen"
    assert answer.with_inputs[0].word in answer.inputs
    assert not {each.word for each in answer.without_inputs} & set(answer.inputs)
    assert answer.text == f"queen without king, man, woman; {answer.with_inputs[0].word} with them"


def test_scores_are_cosines_with_the_sum_of_directions() -> None:
    vectors = made()
    king, man, woman = (vectors.unit[vectors.rows([word])[0]] for word in ("king", "man", "woman"))
    wanted = 2 * king - man + 0.5 * woman
    wanted /= np.linalg.norm(wanted)
    for each in solve(vectors, "2*king - man + 0.5 * woman").with_inputs:
        assert each.score == pytest.approx(float(wanted @ vectors.unit[vectors.rows([each.word])[0]]), abs=1e-6)


def test_how_long_a_vector_is_does_not_matter() -> None:
    longer = made(king=(20.0, 20.0, 0.0, 4.0, 0.0, 0.0))
    assert [each.word for each in solve(longer, "king - man").with_inputs] == [
        each.word for each in solve(made(), "king - man").with_inputs
    ]


@pytest.mark.parametrize(
    ("expression", "terms"),
    [
        ("king - man + woman", [("king", 1), ("man", -1), ("woman", 1)]),
        ("  king -man +woman", [("king", 1), ("man", -1), ("woman", 1)]),
        ("- man + king", [("man", -1), ("king", 1)]),
        ("king − man", [("king", 1), ("man", -1)]),
        ("mother-in-law - woman", [("mother-in-law", 1), ("woman", -1)]),
        ("2*king - 0.5*man", [("king", 2), ("man", -0.5)]),
        ("2 * king -3×man", [("king", 2), ("man", -3)]),
        ("-lrb- + king", [("-lrb-", 1), ("king", 1)]),
        ("c++ - c", [("c++", 1), ("c", -1)]),
        ("1990 + 3.5", [("1990", 1), ("3.5", 1)]),
    ],
)
def test_an_expression_is_words_with_signs_and_weights(expression: str, terms: list[tuple[str, float]]) -> None:
    assert [(term.word, term.weight) for term in parse(expression, {"-lrb-"})] == terms


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("", "no words are given; write something like king - man"),
        ("   ", "no words are given"),
        ("+", "ends with a sign; put a word behind it"),
        ("king -", "ends with a sign; put a word behind it"),
        ("king - - man", "two signs in a row; put a word between"),
        ("king man", r"no sign between 'king' and 'man'; put \+ or - there"),
        ("0*king", "weighs nothing; leave it out"),
        ("+ ".join(["king "] * 513), "513 words is too long; at most 512"),
    ],
)
def test_what_is_no_expression_is_told_why(expression: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        solve(made(), expression)


def test_an_unknown_word_is_answered_with_the_nearest_spelling() -> None:
    for given, why in (
        ("King", "no word of made is called 'King'; try king"),
        ("quen", "is called 'quen'; try queen"),
        ("king-man+woman", "put spaces around"),
        ("zzz", "it knows 10 others"),
    ):
        with pytest.raises(ValueError, match=why):
            solve(made(), given)


def test_what_leaves_nothing_has_no_neighbours() -> None:
    with pytest.raises(ValueError, match="leaves nothing, a vector of zeros"):
        solve(made(), "king - king")
    with pytest.raises(ValueError, match="the vector of 'void' is zero, which has no direction"):
        near(made(void=(0, 0, 0, 0, 0, 0)), "void")
    assert "void" not in {each.word for each in near(made(void=(0, 0, 0, 0, 0, 0)), "king", count=5).with_inputs}


def test_a_word_is_nearest_to_itself_and_its_signs_are_its_own() -> None:
    answer = near(made(), "mother-in-law", count=2)
    assert answer.with_inputs[0].word == "mother-in-law"
    assert answer.with_inputs[0].score == pytest.approx(1)
    assert answer.without_inputs[0].word == "woman"
    assert len(near(made(), "king", count=99).with_inputs) == 10


def test_one_word_has_no_other_near_it() -> None:
    answer = near(made().first(1), "the")
    assert (answer.without_inputs, len(answer.with_inputs)) == ((), 1)
    assert answer.text == "nothing without the; the with them"
    with pytest.raises(ValueError, match="0 words are no answer; ask for 1 or more"):
        near(made(), "the", count=0)


def test_the_odd_one_is_farthest_from_the_mean() -> None:
    found = odd(made(), ["breakfast", "cereal", "dinner", "lunch"])
    assert found.word == "cereal"
    assert [each.score for each in found.ranked] == sorted((each.score for each in found.ranked), reverse=True)
    with pytest.raises(ValueError, match="of 2 different words none is the odd one; give 3 or more"):
        odd(made(), ["king", "queen", "king"])
