"""Words: vectors in a file or of a model are one pipeline, which calculates, is measured, and does not look."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.unit.words.made import made

import regard
from regard.data import DataError
from regard.hub import CheckpointError, save
from regard.models import word2vec
from regard.names import Dtype
from regard.pipelines.words import Words
from regard.words import read_vectors, write_vectors
from regard.words.counting import tokenizer_of

FAMILY = ": family\nman king woman queen\nwoman queen man king\nman king woman nobody\n: gram1\nlunch man lunch king\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_vectors(tmp_path / "made.vec", made(), "word2vec")
    return tmp_path / "made.vec"


def test_a_file_of_vectors_is_opened_by_the_one_door(file: Path) -> None:
    for what in (file, str(file)):
        words: Any = regard.load(what)
        assert (words.task, words.name) == ("words", "made")
        (one,) = words("king - man + woman")
        assert one.without_inputs[0].word == "queen"
        assert words(["king", "queen"], count=1)[1].with_inputs[0].word == "queen"
    assert words.near("king", count=1).with_inputs[0].word == "king"
    assert words.odd(["breakfast", "cereal", "lunch"]).word == "cereal"
    assert words.device == torch.device("cpu")
    assert repr(words) == "Words('made': expression to words)"


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_model_in_its_folder_is_asked_in_the_same_way(tmp_path: Path, dtype: Dtype) -> None:
    vectors = made()
    tokenizer = tokenizer_of(vectors.words)
    model = word2vec.Word2Vec(word2vec.Config(tokenizer.vocab, vectors.width, output="none"))
    with torch.no_grad():
        model.embed.weight[: len(vectors)] = torch.from_numpy(vectors.matrix)
    save(tmp_path / "own", model, family=word2vec.FAMILY, card={"task": "words"}, tokenizer=tokenizer, dtype=dtype)
    words: Any = regard.load(tmp_path / "own")
    assert (words.task, words.name, list(words.vectors.words)) == ("words", "own", list(vectors.words))
    assert words("king - man + woman")[0].without_inputs[0].word == "queen"
    assert list(read_vectors(tmp_path / "own").words) == list(vectors.words)
    np.testing.assert_allclose(words.vectors.matrix, vectors.matrix, atol=1e-2 if dtype == "int8" else 0)


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_it_cannot_do_is_one_sentence(file: Path, tmp_path: Path) -> None:
    words: Any = regard.load(file)
    with pytest.raises(ValueError, match="looks up a vector for each word of 'king', and no word looks at another"):
        words.attend("king")
    with pytest.raises(ValueError, match="holds vectors of words, and nothing that does 'translate'"):
        regard.load(file, task="translate")
    with pytest.raises(TypeError, match="takes no 'topn'; here it is count"):
        words("king", topn=3)
    with pytest.raises(CheckpointError, match="there is no file"):
        regard.load(tmp_path / "none.vec")
    with pytest.raises(AttributeError, match=r"write regard\.load\(file\)"):
        _ = regard.KeyedVectors


def test_analogies_are_scored_by_section_and_by_both_rules(file: Path, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text(FAMILY)
    words = regard.load(file)
    told: list[float] = []
    found = words.evaluate(str(tmp_path / "own.txt"), progress=told.append)
    scores = found.scores
    assert (found.count, found.data, found.settings["restrict_vocab"]) == (4, "own.txt", 10)
    assert scores["coverage"].value == pytest.approx(75)
    assert scores["coverage/family"].value == pytest.approx(200 / 3)
    assert (scores["accuracy/family"].value, scores["accuracy/family"].count) == (100, 2)
    assert scores["accuracy_with_inputs/family"].value == 0
    assert scores["answers_an_input"].value > 50
    assert {"accuracy/semantic", "accuracy/syntactic", "accuracy/gram1"} <= scores.keys()
    low, high = scores["accuracy"].interval or (0, 0)
    assert low <= scores["accuracy"].value <= high
    assert found.outputs[0] == "queen"
    assert told[-1] <= 1


def test_pairs_are_ranked_as_people_do(file: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("king\tqueen\t8\nlunch\tdinner\t9\nking\tlunch\t1\nking\tnobody\t2\n")
    found = regard.load(file).evaluate(str(tmp_path / "pairs.tsv"))
    assert found.scores["spearman"].value == pytest.approx(100)
    assert found.scores["spearman"].count == 3
    assert found.scores["coverage"].value == 75
    assert len(found.outputs) == 3


@pytest.mark.usefixtures("published")
def test_the_published_tests_are_known_by_their_names(file: Path) -> None:
    words = regard.load(file)
    measure: Callable[..., Any] = words.evaluate
    found = measure("analogies")
    assert (found.count, found.data) == (19_544, "analogies")
    assert words.evaluate("word-tests", split="analogies").scores.keys() == found.scores.keys()
    with pytest.raises(ValueError, match="made has the words of 0 of 999 questions of simlex, and 2 are measured"):
        measure("simlex", restrict_vocab=1)
    with pytest.raises(DataError, match="no test of word vectors is called 'simlx'; try simlex"):
        words.evaluate("simlx")
    with pytest.raises(ValueError, match="word-tests has no split ''; give one of analogies, wordsim, simlex"):
        words.evaluate("word-tests")


def test_only_the_first_words_are_asked_where_that_is_said(file: Path, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text(FAMILY)
    words: Words = regard.load(file)  # type: ignore[assignment]
    measure: Callable[..., Any] = words.evaluate
    assert measure(str(tmp_path / "own.txt"), restrict_vocab=5).scores["coverage"].value == 50
