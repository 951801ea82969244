"""`regard look` draws the words that were read against the words that were written, head by head."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import regard
from regard.cli.main import main

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


def test_the_weights_are_those_of_the_reading_without_special_tokens(model: Path, capsys: Captured) -> None:
    reading = regard.load(model).attend(TEXT)
    found = seen(capsys, "small", TEXT)
    assert found["columns"] == ["La", "regina", "canta", "."]
    every = seen(capsys, "small", TEXT, "--specials")
    assert every["columns"] == ["La", "regina", "canta", ".", "<stop>"]
    weights = reading.weights("decoder.blocks.1.cross", words=True)[0]
    np.testing.assert_allclose(every["heads"]["layer 1, head 0"], weights, rtol=1e-5)
    shown = len(found["rows"])
    np.testing.assert_allclose(found["heads"]["layer 1, head 0"], weights[:shown, :4], rtol=1e-5)


@pytest.mark.parametrize("kind", ["transformer", "additive"])
def test_a_forced_translation_is_looked_at_word_by_word(
    saved: Callable[..., Path], tmp_path: Path, kind: str, capsys: Captured
) -> None:
    folder = saved(tmp_path / kind, kind=kind)
    found = seen(capsys, str(folder), TEXT, "--target", "The queen sings.")
    assert found["columns"] == ["La", "regina", "canta", "."]
    assert found["rows"] == ["The", "queen", "sings", "."]


def test_other_kinds_of_attention_are_asked_for_by_name(model: Path, capsys: Captured) -> None:
    found = seen(capsys, "small", TEXT, "--kind", "self")
    assert found["rows"] == found["columns"] == ["La", "regina", "canta", "."]
    np.testing.assert_array_less(np.sum(found["heads"]["layer 0, head 0"], axis=-1), 1.0001)


def test_a_file_for_the_explorer_holds_every_attention(model: Path, tmp_path: Path) -> None:
    from regard.analysis.viewfile import read

    assert main(["look", "small", TEXT, "--out", str(tmp_path / "look.json")]) == 0
    views = read((tmp_path / "look.json").read_bytes())
    assert len(views.views) == 6
    assert {view.kind for view in views.views} == {"self", "causal", "cross"}


def test_the_terminal_gets_a_map_of_percents(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["look", "small", TEXT, "--target", "The queen sings."]) == 0
    head, *rows, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["La", "regina", "canta", "."]
    assert [row.split()[0] for row in rows] == ["The", "queen", "sings", "."]
    assert last == f"“{TEXT}” → “The queen sings.”  (the mean of 4 heads, in percent)"
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
        (["small", TEXT, "--out", "a.png"], 2, "'a.png' names no format; end it in .svg, .html, .json"),
        (["small", TEXT, "--out", "nowhere/a.svg"], 2, "there is no folder"),
        (["small", "lupo " * 10_000], 1, "regard: the text has 40002 tokens, and at most 512 are read"),
        (["small", TEXT, "--target", "wolf " * 600], 1, "at most 512 are read"),
        (["small", "per\udcff"], 2, "the text has half a character at place 3"),
        (["small", TEXT, "--kind", ""], 2, "--kind"),
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
    assert "fixed has no attention to look at" in capsys.readouterr().err
