"""The verbs of encoders answer line by line, in the order of their inputs, for people and for programs."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.cli.encoders import encoder

from regard.cli.main import main

Captured = pytest.CaptureFixture[str]
LONG = "the dog " * 40


def objects(capsys: Captured) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def feed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False))


def test_fill_gives_guesses_and_tells_what_hides_nothing(tmp_path: Path, capsys: Captured) -> None:
    model = encoder(tmp_path, "masked", "fill")
    assert main(["fill", "--model", model, "--top", "2", "--json", "the _ runs", "the dog", "_ and _", LONG + "_"]) == 1
    first, second, third, fourth = objects(capsys)
    assert [len(each) for each in first["guesses"]] == [2]
    assert first["guesses"][0][0].keys() == {"word", "chance"}
    assert "it hides no word" in second["error"]
    assert len(third["guesses"]) == 2
    assert "at most 24 are read" in fourth["error"]
    assert main(["fill", "--model", model, "--top", "0", "_"]) == 2


def test_classify_reads_texts_and_pairs(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    model = encoder(tmp_path, "classify", "classify", labels=["bad", "good"])
    assert main(["classify", "--model", model, "--json", "--pair", "the dog", "the cat"]) == 0
    (typed,) = objects(capsys)
    assert typed["label"] in typed["scores"]
    feed(monkeypatch, "the dog\tthe cat\nno pair\n")
    assert main(["classify", "--model", model, "--json", "--pair"]) == 1
    piped, wrong = objects(capsys)
    assert piped == typed
    assert "it is one text and no pair; put a tab between two" in wrong["error"]
    assert main(["classify", "--model", model, "--pair", "one"]) == 2
    assert "1 texts make no pairs" in capsys.readouterr().err


def test_tag_prints_spans_or_words(tmp_path: Path, capsys: Captured) -> None:
    model = encoder(tmp_path, "tokens", "tag", labels=["O", "B-PER", "I-PER"])
    assert main(["tag", "--model", model, "--json", "Karel runs"]) == 0
    (found,) = objects(capsys)
    assert [word["text"] for word in found["words"]] == ["Karel", "runs"]
    assert "spans" in found
    assert main(["tag", "--model", model, "--words", "Karel runs"]) == 0
    assert [word.partition("/")[0] for word in capsys.readouterr().out.split()] == ["Karel", "runs"]


def test_answer_asks_pairs_or_a_file(tmp_path: Path, capsys: Captured) -> None:
    model, text = encoder(tmp_path, "spans", "answer"), "The dog runs in the park."
    assert main(["answer", "--model", model, "--json", "Who runs?", text]) == 0
    (found,) = objects(capsys)
    assert found["answer"] == text[found["start"] : found["end"]] != ""
    (tmp_path / "text.txt").write_text(text)
    assert main(["answer", "--model", model, "--json", "--about", str(tmp_path / "text.txt"), "Who runs?"]) == 0
    assert objects(capsys)[0]["answer"] == found["answer"]
    assert main(["answer", "--model", model, "--about", str(tmp_path / "nowhere.txt"), "Who?"]) == 2


def test_embed_gives_vectors_in_the_order_of_the_lines(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = encoder(tmp_path, "none", "embed")
    feed(monkeypatch, f"the dog runs\n{LONG}\nthe cat\n")
    assert main(["embed", "--model", model, "--json"]) == 1
    first, wrong, third = objects(capsys)
    assert (len(first["vector"]), len(third["vector"])) == (16, 16)
    assert sum(number**2 for number in first["vector"]) == pytest.approx(1, abs=1e-5)
    assert "error" in wrong
    assert main(["embed", "--model", model, "--cut", LONG]) == 0
    assert len(capsys.readouterr().out.split()) == 16


def test_similar_ranks_lines_and_compares_pairs(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = encoder(tmp_path, "none", "embed")
    feed(monkeypatch, "who ?\n\nthe dog runs\nkarel\n")
    assert main(["similar", "--model", model, "--json", "--top", "2", "the dog runs"]) == 0
    first, second = objects(capsys)
    assert (first["text"], first["line"]) == ("the dog runs", 3)
    assert first["score"] > second["score"]
    assert main(["similar", "--model", model, "--pair", "karel", "karel"]) == 0
    assert capsys.readouterr().out == "1.0000\n"
    assert main(["similar", "--model", model]) == 2


@pytest.mark.parametrize("verb", ["fill", "classify", "tag", "answer", "embed", "similar"])
def test_a_verb_needs_a_model_of_its_task(verb: str, model: Path, capsys: Captured) -> None:
    assert main([verb, "--model", "small", "a", "b"]) == 2
    assert "small does translate, not" in capsys.readouterr().err
