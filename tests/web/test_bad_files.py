"""One file that somebody spoilt takes away what it says, and nothing else."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from tests.web.asking import question, read_events

from regard.web import files
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.runs import list_runs
from regard.web.state import AppState
from regard.web.worker import Worker

DEEP = "[" * 100_000
NESTED = '{"a": ' * 900 + "1" + "}" * 900
CARDS = {
    "a lone surrogate": '{"title": "\\ud800", "task": "translate", "\\udfff": "\\udc00"}',
    "half a line": '{"title": "a',
    "deep brackets": DEEP,
    "deep objects": f'{{"title": "a", "terms": {NESTED}}}',
    "a list": "[1, 2]",
    "no text": "\xff\xfe",
    "endless numbers": '{"parameters": NaN, "steps": Infinity, "minutes": 1' + "0" * 400 + "}",
    "wrong kinds": '{"title": 3, "task": ["translate"], "languages": 7, "measured": "much", "examples": {"a": 1}}',
    "wrong languages": '{"task": "translate", "languages": {"source": 5, "target": [[], {}]}, "default": "yes"}',
}


@pytest.mark.parametrize("name", CARDS)
def test_a_bad_card_does_not_take_the_page_away(zoo: Path, tmp_path: Path, kept: Worker, name: str) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "card.json").write_bytes(CARDS[name].encode("latin-1"))
    with TestClient(make_app(AppState(Models([folder], shelf=zoo), None, kept)), base_url="http://127.0.0.1") as client:
        about = client.get("/api/about")
        assert about.status_code == 200
        assert [model["name"] for model in about.json()["models"]][:1] == ["bad"]
        assert client.get("/api/zoo").status_code == 200
        last = read_events(client.post("/api/ask", json=question(model="bad")))[-1]
        assert (last["status"], bool(last["error"])) == (422, True)


def test_a_surrogate_in_a_title_becomes_a_question_mark(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text('{"title": "a \\ud800 b"}')
    assert files.read_object(tmp_path / "card.json") == {"title": "a ? b"}


def test_a_card_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "card.json").open("wb") as file:
        file.truncate(2**30)
    monkeypatch.setattr(Path, "open", _forbid)
    assert files.read_object(tmp_path / "card.json") == {}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "card.json")
    os.mkfifo(tmp_path / "metrics.jsonl")
    assert files.read_object(tmp_path / "card.json") == {}
    assert list(files.read_rows(tmp_path / "metrics.jsonl")) == []


LINES = {
    "a deep line": DEEP,
    "deep objects": f'{{"step": 2, "loss": {NESTED}}}',
    "a lone surrogate": '{"step": 2, "\\ud800": "\\udfff", "samples": [{"read": "\\ud800", "\\ud800": 3}]}',
    "wrong kinds": '{"step": "two"}\n{"step": true}\n{"step": null}\n[]\n7\n{"step": 2, "samples": [7, null]}',
    "endless numbers": '{"step": 2, "seconds": 1' + "0" * 400 + ', "loss": NaN}',
    "no text": "\xff\xfe\x00",
    "a long line": '{"step": 2, "note": "' + "a" * (files.ROW + 9) + '"}',
}


@pytest.fixture
def spoilt(tmp_path: Path, models: Models) -> Iterator[TestClient]:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/recipe.json").write_text('{"recipe": "translate", "fields": {"steps": 20}}')
    with TestClient(make_app(AppState(models, tmp_path)), base_url="http://127.0.0.1") as client:
        yield client


@pytest.mark.parametrize("name", LINES)
def test_a_bad_line_takes_away_no_other(spoilt: TestClient, tmp_path: Path, name: str) -> None:
    good = '{"step": 3, "loss": 1.5, "samples": [{"read": "casa", "written": "house"}]}'
    for file in ("metrics.jsonl", "samples.jsonl"):
        (tmp_path / "mine" / file).write_bytes(f'{{"step": 1, "loss": 2}}\n{LINES[name]}\n{good}\n'.encode("latin-1"))
    (run,) = spoilt.get("/api/runs").json()
    assert (run["step"], run["samples"]) == (3, [{"read": "casa", "written": "house"}])
    rows = spoilt.get("/api/runs/mine/metrics").json()["rows"]
    assert [row["step"] for row in rows if row["step"] != 2] == [1, 3]


@pytest.mark.parametrize("name", CARDS)
def test_a_bad_recipe_takes_away_no_run(spoilt: TestClient, tmp_path: Path, name: str) -> None:
    (tmp_path / "mine/recipe.json").write_bytes(CARDS[name].encode("latin-1"))
    (tmp_path / "mine/metrics.jsonl").write_text('{"step": 1, "loss": 2, "bleu": 3}\n')
    (run,) = spoilt.get("/api/runs").json()
    assert (run["name"], run["step"]) == ("mine", 1)


def test_of_endless_measurements_the_last_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "ROWS", 1000)
    (tmp_path / "metrics.jsonl").write_text("\n".join(json.dumps({"step": i}) for i in range(10_000)))
    steps = [row["step"] for row in files.read_rows(tmp_path / "metrics.jsonl")]
    assert steps == list(range(steps[0], 10_000))
    assert 50 < len(steps) < 100


def test_the_recipe_says_which_scores_are_better_high(spoilt: TestClient, tmp_path: Path) -> None:
    about = {"recipe": "own", "fields": {}, "scores": {"charm": "higher"}}
    (tmp_path / "mine/recipe.json").write_text(json.dumps(about))
    rows = [{"step": i, "charm": value, "bleu_gap": value} for i, value in enumerate((1.0, 3.0, 2.0))]
    (tmp_path / "mine/metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (run,) = spoilt.get("/api/runs").json()
    assert run["best"] == {"charm": 3.0, "bleu_gap": 1.0}


@pytest.mark.skipif(os.name != "posix", reason="elsewhere nobody knows")
def test_a_run_is_alive_while_its_lock_is_held_and_not_when_its_number_was_given_to_another(
    spoilt: TestClient, tmp_path: Path
) -> None:
    import fcntl

    lock = tmp_path / "mine/.lock"
    lock.write_text(str(os.getpid()))
    assert not spoilt.get("/api/runs").json()[0]["alive"]
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert spoilt.get("/api/runs").json()[0]["alive"]
    for wrong in ("", "no number", "9" * 30, "-1"):
        lock.write_text(wrong)
        assert not spoilt.get("/api/runs").json()[0]["alive"]
    assert list(list_runs(tmp_path)) == ["mine"]


def _forbid(*_: object, **__: object) -> None:
    raise AssertionError("it must not be opened")
