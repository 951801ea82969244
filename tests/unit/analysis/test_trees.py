"""Trees compared: by hand, and as evalb would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.analysis.trees import parseval, phrases
from regard.world.language import parse, trees

RIGHT = parse("(S (NP (PRP she)) (VP (VBZ sees) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (NNS eyes))))) (. .))")
HIGH = parse("(S (NP (PRP she)) (VP (VBZ sees) (NP (DT a) (NN man)) (PP (IN with) (NP (NNS eyes)))) (. .))")


def test_a_phrase_hung_on_the_wrong_place_costs_the_phrase_it_belongs_to() -> None:
    score = parseval([HIGH], [RIGHT])
    # Right: S, NP she, VP, NP a man with eyes, NP a man, PP, NP eyes. Found are all but the fourth, and no other.
    assert score.precision == 100
    assert score.recall == pytest.approx(100 * 6 / 7)
    assert score.f1 == pytest.approx(100 * 12 / 13)
    assert (score.exact, score.tags, score.count) == (0, 100, 1)


def test_a_wrong_label_costs_twice_and_a_wrong_tag_costs_no_phrase() -> None:
    found = parse("(S (XP (NN she)) (VP (VBZ sees) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (NNS eyes))))) (. .))")
    score = parseval([found], [RIGHT])
    assert score.precision == score.recall == pytest.approx(100 * 6 / 7)
    assert score.tags == pytest.approx(100 * 6 / 7)


def test_where_punctuation_hangs_does_not_matter_nor_does_the_root() -> None:
    low = parse("(TOP (S (NP (PRP she)) (VP (VBZ sleeps) (. .))))")
    high = parse("(S (NP (PRP she)) (VP (VBZ sleeps)) (. .))")
    assert parseval([low], [high]).exact == 100


def test_the_corpus_is_counted_as_a_whole() -> None:
    small = parse("(S (NP (PRP she)) (VP (VBZ sleeps)))")
    wrong = parse("(S (XX (PRP she)) (XX (VBZ sleeps)))")
    score = parseval([RIGHT, wrong], [RIGHT, small])
    assert score.recall == pytest.approx(100 * 8 / 10)
    assert score.exact == 50


def test_a_phrase_found_twice_is_right_once() -> None:
    assert phrases(parse("(S (NP (NP (NN a) (NN b))))")) == {("S", 0, 2): 1, ("NP", 0, 2): 2}
    once, twice = parse("(S (NP (NN a)) (NN b))"), parse("(S (NP (NP (NN a))) (NN b))")
    score = parseval([twice], [once])
    assert score.precision == pytest.approx(100 * 2 / 3)
    assert score.recall == 100


@given(index=st.integers(0, 1000))
def test_every_tree_is_right_about_itself(index: int) -> None:
    tree = trees()[index].tree
    score = parseval([tree], [tree])
    assert score.f1 == score.exact == score.tags == 100


def test_trees_over_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match="trees 0 stand over different words, 'a' and 'b'"):
        parseval([parse("(S (NN a))")], [parse("(S (NN b))")])
    with pytest.raises(ValueError, match="0 trees cannot be compared with 0"):
        parseval([], [])
