"""`regard shots` shows a model a task and counts what it gets right, with shuffled labels beside it."""

import json
from pathlib import Path

import pytest
import torch

from regard.cli.main import main
from regard.hub import save
from regard.models import gpt
from regard.text import Tokenizer

Captured = pytest.CaptureFixture[str]
TASK = {
    "format": "{text}: {answer}",
    "separator": "\n",
    "choices": ["yes", "no"],
    "examples": [{"text": "abc"[i % 3], "answer": "yes" if i % 2 else "no"} for i in range(6)],
    "tests": [{"text": "xyz"[i % 3], "answer": "yes" if i % 2 else "no"} for i in range(6)],
}


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["abc xyz: yes no\n"], vocab=270)
    one = gpt.GPT(gpt.Config(tokenizer.vocab, 256, 16, 1, 2, 16))
    save(tmp_path / "small", one, family=gpt.FAMILY, card={"task": "generate"}, tokenizer=tokenizer)
    (tmp_path / "letters.json").write_text(json.dumps(TASK))
    return ["shots", str(tmp_path / "small"), str(tmp_path / "letters.json")]


def test_accuracy_after_each_number_of_shots_is_printed(given: list[str], capsys: Captured) -> None:
    assert main([*given, "--shots", "0", "2"]) == 0
    head, facts, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith("small on letters")
    assert facts.startswith("6 tests in ")
    assert [line[:17].strip() for line in lines] == ["chance", "0 shots", "2 shots", "shuffled labels"]
    assert lines[0].split()[-1] == "50.0"


@pytest.mark.parametrize("flags", [[], ["--normalise"], ["--free", "--max-new-tokens", "3"]])
def test_json_is_one_object_for_each_number_of_shots(given: list[str], flags: list[str], capsys: Captured) -> None:
    assert main([*given, "--shots", "0", "3", "--limit", "4", "--json", *flags]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["shots"], second["shots"]) == (0, 3)
    assert (first["tests"], first["task"], first["model"]) == (4, "letters", "small")
    low, high = second["accuracy_interval"]
    assert low <= second["accuracy"] <= high
    assert "shuffled" in second
    assert "shuffled" not in first


def test_the_world_is_a_task(given: list[str], capsys: Captured) -> None:
    assert main([*given[:2], "world", "--shots", "0", "--limit", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "world"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda given: [*given, "--shots", "9"], "letters has 6 examples for each test, and not 9"),
        (lambda given: [*given, "--limit", "-1"], "a limit of -1 tests leaves nothing to measure"),
        (lambda given: [*given[:2], "imagenet"], "imagenet is no task; give a file that ends in .json or .toml"),
        (lambda given: [*given[:2], "none.json"], "there is no task none.json"),
        (lambda given: ["shots", "nobody", given[2]], "no model is called 'nobody'"),
    ],
)
def test_misuse_is_one_line_and_code_2(given: list[str], change: object, said: str, capsys: Captured) -> None:
    assert main(change(given)) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1
