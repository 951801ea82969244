"""Similarity: pairs are compared by the cosine of their vectors, and texts ranked by it."""

from pathlib import Path

import pytest
import torch
from tests.unit.pipelines.encoders import bert, tokenizer_of

from regard.pipelines.similar import Similar


@pytest.fixture
def similar(tmp_path: Path) -> Similar:
    return Similar.of(bert("none"), tokenizer_of(tmp_path))


def test_a_pair_is_as_similar_as_its_vectors(similar: Similar) -> None:
    one, same = similar([("the dog", "the cat"), "karel runs\tkarel runs"])
    first, second = similar.vectors(["the dog", "the cat"])
    assert one.score == pytest.approx(float(first @ second), abs=1e-6)
    assert same.score == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(ValueError, match="it is one text, and two are compared; give both, with a tab"):
        similar(["the dog"])


def test_the_nearest_text_comes_first(similar: Similar) -> None:
    texts = ["who ?", "the dog runs", "karel and mario", "the cat"]
    hits = similar.rank("the dog runs", texts)
    assert (hits[0].text, hits[0].index) == ("the dog runs", 1)
    assert sorted(hit.index for hit in hits) == [0, 1, 2, 3]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert similar.rank("the dog runs", texts, top=2) == hits[:2]


def test_a_query_and_what_is_looked_through_have_their_own_prompts(tmp_path: Path) -> None:
    card = {"prompts": {"query": "who ", "passage": "the "}, "similarity": "dot", "after_pooling": []}
    similar = Similar.of(bert("none"), tokenizer_of(tmp_path), card=card)
    plain = Similar.of(bert("none"), tokenizer_of(tmp_path), card={"after_pooling": []})
    (hit,) = similar.rank("runs", ["dog"])
    first, second = plain.vectors(["who runs", "the dog"])
    torch.testing.assert_close(torch.tensor(hit.score), first @ second, atol=1e-4, rtol=1e-5)
