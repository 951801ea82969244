"""word2vec as gensim has it: words, chances, trees and phrases are the same, and what is learnt is as good."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.chance import Chance
from regard.models.word2vec import Config, Word2Vec
from regard.train.hogwild import Hogwild, Settings
from regard.words.chances import keep, tree, urn
from regard.words.counting import vocabulary
from regard.words.phrases import find_phrases

pytest.importorskip("numba")
gensim = pytest.importorskip("gensim.models")

TOPICS, EACH = 8, 12


def sentences(count: int = 1500) -> list[list[str]]:
    """Each about one topic, whose frequent words it takes more often; and words that belong to none."""
    found = []
    for number in range(count):
        chance = Chance(0, "sentence", number)
        topic = chance.below(TOPICS)
        found.append(
            [
                f"of{chance.below(4)}"
                if chance.happens(0.4)
                else f"t{topic}w{min(chance.below(EACH), chance.below(EACH))}"
                for _ in range(10)
            ]
        )
    return found


@pytest.fixture(scope="module")
def theirs() -> Any:
    """gensim's model of the sentences, before it has learnt."""
    model = gensim.Word2Vec(vector_size=16, window=3, negative=5, sample=1e-2, min_count=20, sg=1, workers=1, epochs=5)
    model.build_vocab(sentences())
    return model


def test_words_and_counts_are_the_same(theirs: Any) -> None:
    known = vocabulary("x", sentences(), min_count=20)
    assert set(known.words) == set(theirs.wv.index_to_key)
    assert known.counts.tolist() == [theirs.wv.get_vecattr(word, "count") for word in theirs.wv.index_to_key]


def test_the_same_words_are_thinned(theirs: Any) -> None:
    known = vocabulary("x", sentences(), min_count=20)
    found = np.minimum(keep(known.counts, 1e-2), 1)
    wanted = [theirs.wv.get_vecattr(word, "sample_int") / 2**32 for word in known.words]
    np.testing.assert_allclose(found, wanted, rtol=1e-3)


def test_words_are_drawn_as_often(theirs: Any) -> None:
    found = urn(vocabulary("x", sentences(), min_count=20).counts)
    chance = np.minimum(found.chances, 1) / len(found.chances)
    for place, other in enumerate(found.others):
        chance[other] += (1 - min(float(found.chances[place]), 1)) / len(found.chances)
    wanted = np.diff(theirs.cum_table.astype(np.float64), prepend=0) / (2**31 - 1)
    np.testing.assert_allclose(chance, wanted, rtol=1e-3)


def test_a_tree_of_the_same_total_length() -> None:
    model = gensim.Word2Vec(vector_size=4, hs=1, negative=0, min_count=20)
    model.build_vocab(sentences())
    known = vocabulary("x", sentences(), min_count=20)
    length = {word: len(model.wv.get_vecattr(word, "code")) for word in known.words}
    ours = np.diff(tree(known.counts).starts)
    assert (ours * known.counts).sum() == sum(
        length[word] * int(count) for word, count in zip(known.words, known.counts, strict=True)
    )


def test_the_same_pairs_are_phrases() -> None:
    lines = sentences(600)
    total = sum(map(len, lines))
    theirs = gensim.Phrases(lines, min_count=5, threshold=1.0)
    # gensim multiplies by how many different words and pairs there are, word2phrase by all words of the text.
    for threshold in (0.5, 2.0, 5.0):
        theirs.threshold = threshold * len(theirs.vocab) / total
        wanted = {tuple(pair.split("_")) for pair in theirs.export_phrases()}
        assert wanted
        assert find_phrases(lines, min_count=5, threshold=threshold).pairs == wanted


def alike(vectors: np.ndarray, words: list[str]) -> float:
    """How many of the words of topics have their nearest neighbour in their own topic."""
    rows = [place for place, word in enumerate(words) if word.startswith("t")]
    unit = vectors[rows] / np.linalg.norm(vectors[rows], axis=1, keepdims=True)
    near = unit @ unit.T - 2 * np.eye(len(rows))
    topic = np.asarray([words[row][1] for row in rows])
    return float(np.mean(topic[near.argmax(axis=1)] == topic))


@pytest.mark.parametrize("shared", [True, False])
def test_what_is_learnt_is_as_good(theirs: Any, shared: bool) -> None:
    lines = sentences()
    known = vocabulary("x", lines, min_count=20)
    place = {word: i for i, word in enumerate(known.words)}
    ids = np.asarray([i for line in lines for i in (*(place[w] for w in line if w in place), -1)], np.int32)
    ours = Hogwild(ids, known.counts, Settings(width=16, window=3, sample=1e-2, epochs=5, shared=shared))
    for _ in range(ours.steps):
        ours.advance()
    theirs.train(lines, total_examples=len(lines), epochs=5)
    wanted = alike(theirs.wv.vectors, theirs.wv.index_to_key)
    assert alike(ours.vectors, list(known.words)) >= max(wanted - 0.05, 0.5)


def test_a_one_hot_row_times_the_first_matrix_is_the_vector_of_a_word() -> None:
    model = Word2Vec(Config(vocab=20, width=5))
    torch.nn.init.normal_(model.output.weight)
    words = torch.tensor([[3], [7]])
    hot = torch.nn.functional.one_hot(words[:, 0], 20).float()
    torch.testing.assert_close(model(words), hot @ model.embed.weight @ model.output.weight.T)


def test_cbow_reads_the_mean_of_its_words_and_without_a_second_matrix_words_are_scored_by_the_first() -> None:
    model = Word2Vec(Config(vocab=20, width=5, method="cbow", output="none"))
    assert list(model.state_dict()) == ["embed.weight"]
    words = torch.tensor([[3, 4, 5]])
    torch.testing.assert_close(model(words), model.embed.weight[3:6].mean(dim=0)[None] @ model.embed.weight.T)


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_is_no_word2vec_is_refused() -> None:
    with pytest.raises(ValueError, match="method 'glove' is not known; choose skipgram, cbow"):
        Word2Vec(Config(method="glove"))
    with pytest.raises(ValueError, match="a vocabulary of 1 has no neighbours; give 2 words or more"):
        Word2Vec(Config(vocab=1))
