"""Word vectors as gensim has them: files both ways, neighbours by both rules, and all scores."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard
from regard.data import get
from regard.data.sets import wordtests
from regard.words import Vectors, files, near, odd, read_vectors, solve, write_vectors

gensim = pytest.importorskip("gensim.models")

pytestmark = pytest.mark.usefixtures("published")
WIDTH = 16


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    """Two thirds of the words of the tests, some in two spellings, and others; each is somewhat near the one before."""
    beside = Path(__file__).parents[2] / "../shared/data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_DATA", str(beside.resolve()))
        asked = dict.fromkeys(word for question in wordtests.read("analogies") for word in question[1:])
        asked |= dict.fromkeys(
            str(word) for split in ("wordsim", "simlex") for row in wordtests.read(split) for word in row[:2]
        )
    words = [word for i, word in enumerate(asked) if i % 3]
    words += [word.lower() for word in words[:40]] + [f"wört{i}" for i in range(300)]
    words = list(dict.fromkeys(words))
    chance = np.random.default_rng(0)
    matrix = chance.standard_normal((len(words), WIDTH))
    matrix[1:] += 0.7 * matrix[:-1]
    return Vectors(words, matrix.astype(np.float32), "parity")


@pytest.fixture(scope="module")
def theirs(vectors: Vectors) -> Any:
    found = gensim.KeyedVectors(WIDTH)
    found.add_vectors(list(vectors.words), vectors.matrix)
    return found


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # gensim leaves a GloVe file open
@pytest.mark.parametrize("kind", ["word2vec", "word2vec-binary", "glove"])
def test_files_go_both_ways(vectors: Vectors, theirs: Any, tmp_path: Path, kind: files.Format) -> None:
    binary, header = kind == "word2vec-binary", kind != "glove"
    path = tmp_path / ("a.bin" if binary else "a.txt")
    write_vectors(path, vectors, kind)
    read = gensim.KeyedVectors.load_word2vec_format(path, binary=binary, no_header=not header)
    assert read.index_to_key == list(vectors.words)
    np.testing.assert_array_equal(read.vectors, vectors.matrix)
    theirs.save_word2vec_format(str(path), binary=binary, write_header=header)
    ours = read_vectors(path)
    assert list(ours.words) == theirs.index_to_key
    np.testing.assert_allclose(ours.matrix, theirs.vectors, rtol=0 if binary else 1e-6)


def test_neighbours_without_the_words_asked_with_are_theirs(vectors: Vectors, theirs: Any) -> None:
    first, second, third = vectors.words[:9:4]
    ours = solve(vectors, f"{first} - {second} + 2*{third}", count=20).without_inputs
    wanted = theirs.most_similar(positive=[first, (third, 2.0)], negative=[second], topn=20)
    assert [each.word for each in ours] == [word for word, _ in wanted]
    np.testing.assert_allclose([each.score for each in ours], [score for _, score in wanted], atol=1e-6)
    alone = near(vectors, first, count=5).without_inputs
    assert [each.word for each in alone] == [word for word, _ in theirs.most_similar(first, topn=5)]


def test_neighbours_with_them_are_those_of_the_sum(vectors: Vectors, theirs: Any) -> None:
    first, second, third = vectors.words[:9:4]
    ours = solve(vectors, f"{first} - {second} + {third}", count=20).with_inputs
    unit = [theirs.get_vector(word, norm=True) for word in (first, second, third)]
    wanted = theirs.similar_by_vector(unit[0] - unit[1] + unit[2], topn=20)
    assert [each.word for each in ours] == [word for word, _ in wanted]
    np.testing.assert_allclose([each.score for each in ours], [score for _, score in wanted], atol=1e-6)


def test_the_odd_one_is_theirs(vectors: Vectors, theirs: Any) -> None:
    for start in range(0, 40, 4):
        some = list(vectors.words[start : start + 4])
        assert odd(vectors, some).word == theirs.doesnt_match(some)


@pytest.mark.parametrize("restrict_vocab", [30_000, 400])
def test_analogies_are_theirs_section_by_section(
    vectors: Vectors, theirs: Any, tmp_path: Path, restrict_vocab: int
) -> None:
    write_vectors(tmp_path / "parity.bin", vectors, "word2vec-binary")
    words: Any = regard.load(tmp_path / "parity.bin")
    scores = words.evaluate("analogies", restrict_vocab=restrict_vocab).scores
    path = get(wordtests.DATASET, ["questions-words.txt.gz"])[0]
    total, sections = theirs.evaluate_word_analogies(str(path), restrict_vocab=restrict_vocab, case_insensitive=True)
    assert scores["accuracy"].value == pytest.approx(100 * total)
    assert 0 < total < 1
    for section in sections[:-1]:
        right, count = len(section["correct"]), len(section["correct"]) + len(section["incorrect"])
        if count:
            ours = scores[f"accuracy/{section['section']}"]
            assert (ours.value, ours.count) == (pytest.approx(100 * right / count), count)
        else:
            assert scores[f"coverage/{section['section']}"].value == 0


@pytest.mark.parametrize("split", ["wordsim", "simlex"])
def test_pairs_of_words_are_ranked_as_they_rank_them(vectors: Vectors, theirs: Any, tmp_path: Path, split: str) -> None:
    write_vectors(tmp_path / "parity.bin", vectors, "word2vec-binary")
    scores = regard.load(tmp_path / "parity.bin").evaluate(split).scores
    path = get(wordtests.DATASET, [wordtests.FILES[split].name])[0]
    pearson, spearman, unknown = theirs.evaluate_word_pairs(str(path))
    assert scores["spearman"].value == pytest.approx(100 * spearman.statistic, abs=1e-3)
    assert scores["pearson"].value == pytest.approx(100 * pearson.statistic, abs=1e-3)
    assert scores["coverage"].value == pytest.approx(100 - unknown)
