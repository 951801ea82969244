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


# --- more than attention


@pytest.fixture
def writer(tmp_path: Path) -> Path:
    """A small GPT that goes on with a text."""
    import torch

    from regard.hub import save
    from regard.models import gpt
    from regard.text import Tokenizer

    lines = ["the queen sings to the wolf", "the wolf runs to the queen", "a cat sees the dog"]
    tokenizer = Tokenizer.train(lines, kind="words", vocab=30)
    torch.manual_seed(0)
    model = gpt.GPT(gpt.Config(tokenizer.vocab, 32, 16, 2, 2, 32))
    save(tmp_path / "writer", model, family=gpt.FAMILY, card={"task": "generate"}, tokenizer=tokenizer)
    return tmp_path / "writer"


def test_a_lens_tells_what_each_layer_would_say(writer: Path, tmp_path: Path, capsys: Captured) -> None:
    found = seen(capsys, str(writer), "the queen sings", "--how", "lens")
    assert found["places"] == ["the", "queen", "sings"]
    assert found["layers"] == ["embedding", "decoder.blocks.0", "decoder.blocks.1"]
    assert np.array(found["guesses"]).shape == np.array(found["answers"]).shape == (3, 3)
    np.testing.assert_allclose(found["answers"][-1], found["chances"][-1])
    for name in ("lens.svg", "lens.html", "lens.json"):
        path = tmp_path / name
        assert main(["look", str(writer), "the queen sings", "--how", "lens", "--out", str(path)]) == 0
        assert capsys.readouterr().out == f"{path}: 3 layers × 3\n"
        assert found["guesses"][-1][-1] in path.read_text()
    assert json.loads((tmp_path / "lens.json").read_text()) == found


def test_a_lens_is_drawn_in_the_terminal_in_as_many_columns_as_it_is_wide(
    writer: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    assert main(["look", str(writer), "the queen sings to the dog", "--how", "lens"]) == 0
    out = capsys.readouterr().out
    assert out.count("embedding") > 1
    assert out.splitlines()[0].split()[0] == "the"
    assert "“the queen sings to the dog” · each cell is what" in " ".join(out.split())


def test_a_translator_is_read_at_what_it_writes(model: Path, capsys: Captured) -> None:
    found = seen(capsys, "small", TEXT, "--how", "lens", "--target", "The queen sings.")
    assert found["places"][0] == "<start>"
    assert found["layers"][1:] == ["decoder.blocks.0", "decoder.blocks.1"]


@pytest.mark.parametrize("part", ["stream", "attention", "mlp", "heads"])
def test_patching_tells_which_places_bring_the_answer_back(writer: Path, part: str, capsys: Captured) -> None:
    prompts = ["the queen sings to the", "--corrupt", "the wolf sings to the"]
    answers = ["--answer", "wolf", "--wrong", "queen", "--part", part]
    found = seen(capsys, str(writer), *prompts, "--how", "patch", *answers)
    assert found["columns"] == ([0, 1] if part == "heads" else ["the", "queen", "sings", "to", "the"])
    assert np.array(found["restored"]).shape == (2, len(found["columns"]))
    if part == "stream":
        np.testing.assert_allclose(found["restored"][1], [0, 0, 0, 0, 1], atol=1e-3)


def test_heads_with_a_name_need_no_text(writer: Path, tmp_path: Path, capsys: Captured) -> None:
    found = seen(capsys, str(writer), "--how", "heads")
    assert found["attentions"] == ["decoder.blocks.0.attn", "decoder.blocks.1.attn"]
    assert found["found"] == {"previous": [], "duplicate": [], "induction": []}
    assert main(["look", str(writer), "--how", "heads"]) == 0
    assert "induction: what followed the same word before" in capsys.readouterr().out


def test_a_masked_model_is_patched_at_its_hidden_word(tmp_path: Path, capsys: Captured) -> None:
    import torch

    from regard.hub import save
    from regard.models import bert
    from regard.text import Tokenizer

    tokenizer = Tokenizer.train(["the queen sings to the wolf"], kind="words", vocab=30, mask=True)
    torch.manual_seed(0)
    one = bert.BERT(bert.Config(tokenizer.vocab, 16, 2, 2, 32, 32, head="masked"))
    with torch.no_grad():  # so that its words depend on each other
        for name, weight in one.named_parameters():
            weight.mul_(10 if ".attn." in name else 1)
    save(tmp_path / "b", one, family=bert.FAMILY, card={"task": "fill"}, tokenizer=tokenizer)
    folder = str(tmp_path / "b")
    hidden = seen(capsys, folder, "the [MASK] sings", "--how", "lens")["places"]
    assert "<mask>" in hidden
    prompts = ["the [MASK] sings", "--corrupt", "wolf [MASK] sings"]
    found = seen(capsys, folder, *prompts, "--how", "patch", "--answer", "queen", "--wrong", "wolf")
    np.testing.assert_allclose(found["restored"][-1], [word == "<mask>" for word in found["columns"]], atol=1e-2)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["the queen", "--how", "patch"], "give --corrupt, --answer, --wrong"),
        (["the queen", "--how", "heads"], "INPUT does nothing for --how heads; leave it out"),
        (["the queen", "--how", "lens", "--layer", "1"], "--layer does nothing for --how lens; leave it out"),
        (["the queen", "--corrupt", "x"], "--corrupt does nothing for --how attention; leave it out"),
        (["--how", "lens"], "an empty text leaves nothing to look at"),
        (
            ["the queen", "--how", "patch", "--corrupt", "the queen sings", "--answer", "wolf", "--wrong", "cat"],
            "the clean prompt has 2 tokens and the corrupted one 3",
        ),
        (
            ["the queen", "--how", "patch", "--corrupt", "the wolf", "--answer", "wolf runs", "--wrong", "cat"],
            "the answer 'wolf runs' is 2 tokens (wolf, runs); give a word that is one",
        ),
    ],
)
def test_what_does_not_go_together_is_one_line(writer: Path, args: list[str], said: str, capsys: Captured) -> None:
    assert main(["look", str(writer), *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
