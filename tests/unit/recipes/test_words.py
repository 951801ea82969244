"""`regard train words`: from a text to a model that others load."""

import json
from pathlib import Path

import numpy as np
import pytest

import regard.recipes.words as words
from regard import hub
from regard.cli.main import main
from regard.models.word2vec import Config
from regard.train.run import metrics, read_recipe
from regard.words import Vectors

pytest.importorskip("numba")

SMALL = ("--width", "6", "--min-count", "1", "--epochs", "2", "--sample", "0", "--threads", "1", "--negative", "2")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("The king rules the land.\nThe queen rules the land too.\nA dog barks in New York!\n" * 20)
    return path


def train(text: Path, *more: str) -> int:
    return main(["train", "words", "--data", str(text), "--out", str(text.parent / "run"), *SMALL, *more])


def test_a_text_becomes_a_model_that_others_load(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(text, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["recipe"] == "words"
    assert said["finished"]
    found = hub.load(text.parent / "run" / "model")
    assert found.card["task"] == "words"
    assert found.card["words"] == 340
    assert found.card["trained_with"]["negative"] == 2
    assert found.card["words_per_second"] > 0
    assert found.model.config == Config(13, 6, "skipgram", "negative", "words")
    vectors = Vectors.of(found)
    assert vectors.words[:3] == ["the", "land", "rules"]
    assert len(vectors) == 12
    assert [row["step"] for row in metrics(text.parent / "run")] == [1, 2]
    assert read_recipe(text.parent / "run")["recipe"] == "words"


@pytest.mark.parametrize(
    "more",
    [
        ("--method", "cbow"),
        ("--loss", "hierarchical", "--dtype", "int8"),
        ("--output", "none", "--phrases", "1"),
        ("--no-shared-negatives", "--engine", "torch", "--epochs", "1"),
    ],
)
def test_every_way_to_train_ends_in_a_model(text: Path, more: tuple[str, ...]) -> None:
    assert train(text, *more) == 0
    found = hub.load(text.parent / "run" / "model")
    assert ("output.weight" in found.model.state_dict()) == ("none" not in more)
    assert np.isfinite(Vectors.of(found).matrix).all()


def test_a_run_goes_on_bit_by_bit(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.train import hogwild

    monkeypatch.setattr(hogwild, "BLOCK", 100)
    whole, cut = text.parent / "whole", text.parent / "cut"
    assert main(["train", "words", "--data", str(text), "--out", str(whole), *SMALL, "--save", "2"]) == 0
    told = words.tell

    def stop(*about: object) -> None:
        told(*about)
        if about[2].step == 3:  # type: ignore[attr-defined]
            import signal

            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(words, "tell", stop)
    assert main(["train", "words", "--data", str(text), "--out", str(cut), *SMALL, "--save", "2"]) == 130
    assert not (cut / "model").exists()
    monkeypatch.setattr(words, "tell", told)
    text.unlink()  # the run has kept the text as it needs it
    assert main(["train", "words", "--out", str(cut), "--resume"]) == 0
    one, other = (hub.load(place / "model").model.state_dict() for place in (whole, cut))
    assert all(one[name].equal(other[name]) for name in one)
    assert list(metrics(cut))[-1]["loss"] == list(metrics(whole))[-1]["loss"]


def test_bad_texts_are_one_sentence_each_and_leave_no_run(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for data, said in (
        (b"", "holds no word to learn from; give some text"),
        (b"dog dog", "holds one word alone, 'dog'"),
        (b"good\nb\xffd", "line 2 is not UTF-8: byte 0xff"),
    ):
        text.write_bytes(data)
        assert train(text) != 0
        assert said in capsys.readouterr().err
        assert not (text.parent / "run" / "recipe.json").exists()
    text.unlink()
    assert train(text) != 0
    assert "none lies there; choose" in capsys.readouterr().err


def test_misuse_is_told(text: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert train(text, "--window", "0") == 2
    assert "window is 0; give 1 to 1000" in capsys.readouterr().err
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert train(text) == 2
    assert "leave torchrun out and give --threads" in capsys.readouterr().err


def test_a_dump_is_read_as_words_and_a_folder_file_by_file(text: Path) -> None:
    text.write_text('<mediawiki>\n<text xml:space="preserve">[[a|The king]] of 2 &amp;mdash; lands</text>\n')
    (text.parent / "more.txt").write_text("A queen\n")
    recipe = words.Recipe(data=str(text.parent), min_count=1)
    lines = list(words.read(recipe)())
    assert sorted(lines) == [["a", "queen"], ["the", "king", "of", "two", "lands"]]
