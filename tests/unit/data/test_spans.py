"""Passages for BERT's training: what follows follows, what does not is from elsewhere, and hidden words are known."""

import numpy as np
import pytest

from regard.chance import Chance
from regard.data import Documents, divide_span, mask_words

# Document d has the tokens 100 d, 100 d + 1, … in sentences of 4.
DOCUMENTS = Documents.of([[list(range(100 * d + 4 * s, 100 * d + 4 * s + 4)) for s in range(6)] for d in range(1, 5)])


def test_spans_fill_the_room_with_neighbouring_sentences_of_one_document() -> None:
    spans = DOCUMENTS.spans(12)
    for document, first, end in spans.tolist():
        ids = DOCUMENTS.between(first, end)
        assert 2 <= end - first <= 3
        assert {i // 100 for i in ids} == {document + 1}
        assert ids == list(range(ids[0], ids[0] + len(ids)))
    assert len(spans) == 8


def test_a_passage_that_follows_goes_on_and_another_is_from_elsewhere() -> None:
    spans, seen = DOCUMENTS.spans(12), set[int]()
    for row in range(200):
        before, after, other = divide_span(DOCUMENTS, spans, row % 8, 12, "next", Chance(0, "test", row))
        seen.add(other)
        assert before
        assert after
        if other:
            assert before[0] // 100 != after[0] // 100
        else:
            assert after[0] == before[-1] + 1
    assert seen == {0, 1}


def test_in_the_wrong_order_the_same_words_change_places() -> None:
    spans = DOCUMENTS.spans(12)
    for row in range(50):
        before, after, other = divide_span(DOCUMENTS, spans, row % 8, 12, "order", Chance(1, "test", row))
        assert (before[0] > after[0]) == bool(other)
        _, _, never = divide_span(DOCUMENTS, spans, row % 8, 12, "none", Chance(1, "test", row))
        assert never == 0


def test_what_is_too_long_is_cut_at_its_far_ends() -> None:
    before, after, _ = divide_span(DOCUMENTS, DOCUMENTS.spans(24), 0, 5, "none", Chance(0, "test"))
    assert len(before) + len(after) == 5
    assert after[0] == before[-1] + 1


def test_of_ten_hidden_words_eight_are_masked_and_specials_never() -> None:
    ids = [1, *range(10, 1010), 2]
    read, wanted = mask_words(ids, 2000, 4, 0.15, frozenset({0, 1, 2, 3, 4}), Chance(0, "mask"))
    hidden = np.asarray(wanted) >= 0
    assert hidden.sum() == 150
    assert not hidden[0]
    assert not hidden[-1]
    assert [word for word, hide in zip(ids, hidden, strict=True) if hide] == [w for w in wanted if w >= 0]
    masked = sum(word == 4 for word in read)
    kept = sum(word == old for word, old, hide in zip(read, ids, hidden, strict=True) if hide)
    assert 105 <= masked <= 135
    assert 5 <= kept <= 28
    assert all(word == old for word, old, hide in zip(read, ids, hidden, strict=True) if not hide)


def test_documents_of_single_sentences_have_nothing_that_follows() -> None:
    with pytest.raises(ValueError, match="two sentences or more"):
        Documents.of([[[1, 2]], [[3]]])
