"""One word has another vector in every sentence."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.analysis.contexts import Contexts, contexts
from regard.pipelines import load

SENTENCES = ["The bank gave a loan.", "Eva sat on the bank, by the old bank.", "No such word, only banks."]


@pytest.fixture(scope="module")
def bert() -> Any:
    return load("world-bert")


def read(bert: Any, lines: list[str], words: list[str], **options: Any) -> Contexts:
    return contexts(bert.model, bert.tokenizer, lines, words, lower=True, **options)


def test_every_occurrence_has_its_vector(bert: Any) -> None:
    found = read(bert, SENTENCES, ["bank"])
    assert [(each.sentence, SENTENCES[each.sentence][each.first : each.last]) for each in found.occurrences] == [
        (0, "bank"),
        (1, "bank"),
        (1, "bank"),
    ]
    assert found.vectors.shape == (3, bert.model.config.width)
    assert len(np.unique(found.vectors.round(4), axis=0)) == 3
    assert found.layer == f"encoder.blocks.{bert.model.config.depth - 1}"


def test_equal_sentences_give_equal_vectors_and_capitals_do_not_matter(bert: Any) -> None:
    found = read(bert, ["A dog sees the cat.", "a dog sees the CAT."], ["Cat", "dog"])
    assert [each.word for each in found.occurrences] == ["dog", "cat", "dog", "cat"]
    np.testing.assert_allclose(found.vectors[0], found.vectors[2], atol=1e-5)


def test_states_are_those_of_the_model(bert: Any) -> None:
    found = read(bert, ["the dog sees the cat."], ["dog"], layer=-1)
    ((row,),) = bert.tokenizer.windows([("the dog sees the cat.",)])
    place = next(i for i, at in enumerate(row.places) if at and at[0] == 4)
    with torch.no_grad():
        states = bert.model.eval().read(torch.tensor([row.ids]))[0]
    cosine = torch.cosine_similarity(torch.from_numpy(found.vectors[0]), states[place], dim=0)
    assert float(cosine) > 0.9  # a last norm may follow the last layer


def test_an_early_layer_knows_less_of_the_sentence(bert: Any) -> None:
    first, last = (read(bert, SENTENCES, ["bank"], layer=layer) for layer in (0, -1))
    assert first.layer == "encoder.blocks.0"

    def alike(found: Contexts) -> float:
        return float(np.corrcoef(found.vectors)[0, 1])

    assert alike(first) > alike(last)


def test_what_is_not_there_is_said(bert: Any) -> None:
    with pytest.raises(ValueError, match="'king' occurs in none of the 3 sentences"):
        read(bert, SENTENCES, ["king"])
    with pytest.raises(ValueError, match="there is no layer 9; they are numbered 0 to 3"):
        read(bert, SENTENCES, ["bank"], layer=9)
    with pytest.raises(ValueError, match="no word is given"):
        read(bert, SENTENCES, [])
