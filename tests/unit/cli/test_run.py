"""`regard run` and `regard classify` answer every line, and tell failures apart from answers."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from regard.cli import classify
from regard.cli.main import main
from regard.hub import save
from regard.models import memnet

Captured = pytest.CaptureFixture[str]
TEXT, LONG = "La regina canta.", "lupo " * 10_000


@pytest.fixture
def recall(tmp_path: Path) -> str:
    model = memnet.MemoryNetwork(memnet.Config(vocab=40, width=8, hops=1, times="fixed"))
    save(
        tmp_path / "recall", model, family=memnet.FAMILY, card={"task": "recall", "pairs": 1, "words": 4, "distance": 4}
    )
    return str(tmp_path / "recall")


def test_what_cannot_be_answered_is_an_empty_line_a_message_and_code_1(model: Path, capsys: Captured) -> None:
    assert main(["run", "small", TEXT, LONG, TEXT]) == 1
    out, err = capsys.readouterr()
    first, second, third = out.removesuffix("\n").split("\n")
    assert first == third != ""
    assert second == ""
    told, summary = err.splitlines()
    assert told.startswith("regard: text 2 has ")
    assert summary == "regard: 1 of 3 texts could not be answered; the others were"


def test_programs_find_an_error_where_no_output_is(model: Path, capsys: Captured) -> None:
    assert main(["run", "small", LONG, "--json"]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found.keys() == {"input", "error"}
    assert found["error"].startswith("has ")
    assert err.endswith("regard: 1 of 1 texts could not be answered\n")


def test_a_text_in_brackets_is_a_text(model: Path, capsys: Captured) -> None:
    assert main(["run", "small", "[1, 2, 3]"]) == 0
    assert main(["look", "small", "[1, 2, 3]", "--json"]) == 0
    assert capsys.readouterr().err == ""


def test_ids_are_read_where_a_task_takes_ids(recall: str, capsys: Captured) -> None:
    assert main(["run", recall, "[3, 1, 9, 3]"]) == 0
    assert capsys.readouterr().out.strip().isdigit()
    for wrong in ("hello", "[]", "3", '["a"]', "[true]"):
        assert main(["run", recall, wrong]) == 1
        assert f"text 1 cannot be answered: {wrong!r} is no list of ids; write [3, 1, 4]" in capsys.readouterr().err
    assert main(["look", recall, "hello"]) == 1
    assert capsys.readouterr().err == "regard: 'hello' is no list of ids; write [3, 1, 4]\n"


def test_one_bad_text_does_not_stop_a_classifier(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    class Labels:
        task = "classify"

        def __call__(self, texts: Sequence[str]) -> list[SimpleNamespace]:
            if "bad" in texts:
                raise ValueError("nobody knows")
            return [SimpleNamespace(label="good", scores={"good": 0.75}) for _ in texts]

    monkeypatch.setattr(classify, "load_model", lambda *_, **__: Labels())
    assert main(["classify", "one", "bad", "two"]) == 1
    out, err = capsys.readouterr()
    assert out == "good  75.0%\n\ngood  75.0%\n"
    assert err.startswith("regard: text 2 cannot be answered: nobody knows\n")
    assert main(["classify", "one", "bad", "--json"]) == 1
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"text": "one", "label": "good", "scores": {"good": 0.75}},
        {"text": "bad", "error": "cannot be answered: nobody knows"},
    ]


def test_a_model_of_others_is_only_looked_at(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    import regard.pipelines

    monkeypatch.setattr(regard.pipelines, "load", lambda *_, **__: SimpleNamespace(task="look", name="bert"))
    assert main(["translate", "--model", "bert", TEXT]) == 2
    said = "regard: bert is not one of regard's models and can only be looked at (regard look)\n"
    assert capsys.readouterr().err == said


def test_a_multilingual_translator_is_told_the_language(capsys: Captured) -> None:
    assert main(["run", "world", "Il cane dorme.", "--to", "en"]) == 0
    assert capsys.readouterr().out.strip()


def test_a_language_is_refused_where_nothing_is_written(recall: str, capsys: Captured) -> None:
    assert main(["run", recall, "[3, 1, 9, 3]", "--to", "en"]) == 2
    assert "--to does nothing for the task 'recall'" in capsys.readouterr().err
