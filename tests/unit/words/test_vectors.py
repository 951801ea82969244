"""Words and their vectors: looked up, brought to length 1, and taken from a model."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.unit.words.made import MADE, made
from torch import nn

from regard.hub import Checkpoint
from regard.text import Tokenizer
from regard.words import Vectors


def test_a_word_is_looked_up() -> None:
    vectors = made()
    assert (len(vectors), vectors.width) == (10, 6)
    assert "king" in vectors
    assert "King" not in vectors
    np.testing.assert_array_equal(vectors["king"], np.float32(MADE["king"]))
    assert vectors.rows(["woman", "the"]).tolist() == [2, 0]
    assert repr(vectors) == "Vectors('made': 10 words, 6 numbers each)"


def test_unit_vectors_have_length_one_and_nothing_stays_nothing() -> None:
    vectors = made(void=(0, 0, 0, 0, 0, 0))
    lengths = np.linalg.norm(vectors.unit, axis=1)
    np.testing.assert_allclose(lengths[:-1], 1, rtol=1e-6)
    assert lengths[-1] == 0
    assert vectors.unit is vectors.unit


def test_the_first_words_are_the_most_frequent() -> None:
    few = made().first(3)
    assert list(few.words) == ["the", "man", "woman"]
    assert few.matrix.shape == (3, 6)
    assert len(made().first(99)) == 10
    with pytest.raises(ValueError, match="the first 0 words are none; give 1 or more"):
        made().first(0)
    with pytest.raises(ValueError, match="2 words do not go with a matrix of shape"):
        Vectors(["a", "b"], np.zeros((3, 2), np.float32))


def checkpoint(vocab: int | None = None) -> Checkpoint:
    tokenizer = Tokenizer.train(["king queen king"], kind="words", vocab=10)
    model = nn.Module()
    model.embed = nn.Embedding(vocab or tokenizer.vocab, 3)
    return Checkpoint(model, None, tokenizer, {}, Path(), "small")


def test_the_vectors_of_a_model_are_those_of_its_words() -> None:
    one = checkpoint()
    vectors = Vectors.of(one)
    assert list(vectors.words) == ["king", "queen"]  # without <pad>, <start>, <stop> and <unknown>
    torch.testing.assert_close(torch.from_numpy(vectors["queen"]), one.model.state_dict()["embed.weight"][5])
    with pytest.raises(ValueError, match="small has 6 words and 7 vectors"):
        Vectors.of(checkpoint(7))
    with pytest.raises(ValueError, match=r"small has no embed\.weight"):
        Vectors.of(Checkpoint(nn.Identity(), None, one.tokenizer, {}, Path(), "small"))
