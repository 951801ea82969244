"""Kneser–Ney: a distribution for any context, that prefers what is met behind many others."""

import pytest

from regard.analysis.ngram import KneserNey

ROWS = [[0, 1, 2, 3], [0, 1, 2, 4], [0, 2, 3, 3], [0, 5, 6, 3], [0, 5, 6, 3], [0, 5, 6, 1], [0, 4, 2, 1, 2, 3]]


@pytest.mark.parametrize("context", [[0], [0, 1], [0, 1, 2], [0, 5, 6], [0, 7, 7], [3, 3, 3], [0, 4, 2, 1, 2]])
def test_behind_any_context_the_probabilities_sum_to_one(context: list[int]) -> None:
    model = KneserNey(ROWS, order=4, vocab=8)
    assert sum(model.probability(word, context) for word in range(8)) == pytest.approx(1.0)


def test_a_word_met_behind_one_other_alone_is_not_expected_behind_a_strange_one() -> None:
    rows = [[0, 1, 9, 2]] * 8 + [[0, 3, 4], [0, 5, 4], [0, 6, 4], [0, 7, 4]]  # 9 is Francisco, 4 comes behind four
    model = KneserNey(rows, order=2, vocab=10)
    assert model.probability(9, [0, 8]) < model.probability(4, [0, 8])
    assert model.probability(9, [0, 1]) > 0.8


def test_a_longer_memory_is_less_surprised_by_what_it_has_seen() -> None:
    perplexities = [KneserNey(ROWS, order=order, vocab=8).perplexity(ROWS) for order in (1, 2, 3)]
    assert perplexities == sorted(perplexities, reverse=True)
    assert perplexities[-1] > 1.0


def test_a_bigram_by_hand() -> None:
    """Behind 1 stands 2 twice and 3 once: one pair seen once and one twice, so 1/3 and at most 1.95 are taken."""
    model = KneserNey([[1, 2], [1, 2], [1, 3]], order=2, vocab=4)
    alone = (1 - 0.5) / 2 + (0.5 + 0.5) / 2 * 0.25  # 2 and 3 each follow one token, and each loses half of that
    assert model.probability(2, []) == pytest.approx(alone)
    assert model.probability(2, [1]) == pytest.approx((2 - 1.95) / 3 + (1.95 + 1 / 3) / 3 * alone)


def test_rows_without_a_second_token_are_refused() -> None:
    with pytest.raises(ValueError, match="have no n-grams"):
        KneserNey([[1], []], vocab=4)
