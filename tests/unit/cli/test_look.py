"""`regard look` draws the words that were read against the words that were written, head by head."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch

from regard.analysis.alignment import align
from regard.attention import record
from regard.cli.main import main
from regard.decode import Translator
from regard.hub import load
from regard.text import Tokenizer

Captured = pytest.CaptureFixture[str]
TEXT = "La regina canta."


def seen(capsys: Captured, *args: str) -> dict[str, Any]:
    assert main(["look", *args, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_picture_has_a_panel_for_each_head_and_one_for_one(model: Path, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "look.svg"
    assert main(["look", "small", TEXT, "--out", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"{path}: 4 heads, ")
    names = [each.text for each in ElementTree.parse(path).iter() if each.get("class") == "name"]
    assert names == [f"layer {layer}, head {head}" for layer in (0, 1) for head in (0, 1)]
    assert main(["look", "small", TEXT, "--layer", "1", "--head", "0", "--out", str(path)]) == 0
    drawn = path.read_text()
    assert [each.text for each in ElementTree.fromstring(drawn).iter() if each.get("class") == "word"] == [
        "La",
        "regina",
        "canta",
        ".",
    ]
    assert "small, layer 1, head 0" in drawn


def test_a_page_needs_nothing_else(model: Path, tmp_path: Path) -> None:
    assert main(["look", "small", "<b>regina</b> &", "--out", str(tmp_path / "look.html")]) == 0
    page = (tmp_path / "look.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<b>" not in page


def test_the_weights_are_those_of_the_translation(model: Path, capsys: Captured) -> None:
    tokenizer = Tokenizer.load(model / "tokenizer.json")
    ((one,),) = Translator(load(model).model, tokenizer).translate([TEXT], watch=True)
    found = seen(capsys, "small", TEXT)
    weights = one.weights["decoder.blocks.1.cross"][0]
    drawn = align(tokenizer, one.source, one.written.words, weights)
    assert found["target"] == list(drawn.target)
    torch.testing.assert_close(torch.tensor(found["heads"]["layer 1, head 0"]), drawn.weights)


@pytest.mark.parametrize("kind", ["transformer", "additive"])
def test_a_forced_translation_is_looked_at_word_by_word(
    saved: Callable[..., Path], tmp_path: Path, kind: str, capsys: Captured
) -> None:
    folder = saved(tmp_path / kind, kind=kind)
    found = seen(capsys, str(folder), TEXT, "--target", "The queen sings.")
    assert found["source"] == ["La", "regina", "canta", "."]
    assert found["target"] == ["The", "queen", "sings", "."]
    model, tokenizer = load(folder).model, Tokenizer.load(folder / "tokenizer.json")
    (source,), (target,) = tokenizer.encode([TEXT], stop=True), tokenizer.encode(["The queen sings."], start=True)
    with record(model) as trace, torch.no_grad():
        model(torch.tensor([source]), torch.tensor([target]))
    drawn = align(tokenizer, source, target[1:], trace.weights(model.cross_attentions[0])[0, 0])
    torch.testing.assert_close(torch.tensor(found["heads"]["layer 0, head 0"]), drawn.weights)


def test_the_terminal_gets_a_map_of_percents(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["look", "small", TEXT, "--target", "The queen sings."]) == 0
    head, *rows, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["La", "regina", "canta", "."]
    assert [row.split()[0] for row in rows] == ["The", "queen", "sings", "."]
    assert last == "The queen sings.  (the mean of 4 heads, in percent)"
    monkeypatch.setenv("COLUMNS", "30")
    assert main(["look", "small", TEXT * 3, "--target", "The queen sings.", "--layer", "0", "--head", "1"]) == 0
    out = capsys.readouterr().out
    assert out.split()[:12] == [str(i) for i in range(1, 13)]
    assert "2 regina" in out


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["small", " "], 2, "an empty text leaves nothing to look at"),
        (["small", TEXT, "--layer", "2"], 2, "there is no layer 2; they are numbered 0 to 1"),
        (["small", TEXT, "--head", "-1"], 2, "there is no head -1; they are numbered 0 to 1"),
        (["small", TEXT, "--out", "a.png"], 2, "'a.png' names no format; end it in .svg or .html"),
        (["small", TEXT, "--out", "nowhere/a.svg"], 2, "there is no folder"),
        (["small", "lupo " * 10_000], 1, "at most 512 are read"),
        (["small", TEXT, "--target", "wolf " * 600], 1, "at most 512 are read"),
        (["smal", TEXT], 2, "no model is called 'smal'"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(model: Path, args: list[str], code: int, said: str, capsys: Captured) -> None:
    assert main(["look", *args]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_a_model_without_attention_has_nothing_to_show(
    saved: Callable[..., Path], tmp_path: Path, capsys: Captured
) -> None:
    assert main(["look", str(saved(tmp_path / "fixed", kind="none")), TEXT]) == 1
    assert "fixed has no attention that looks at the source" in capsys.readouterr().err
