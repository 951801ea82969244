"""`regard translate` answers every line it is given, and says in one line why one has no answer."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import regard
from regard.cli.main import main

TEXT = "La regina canta."
Captured = pytest.CaptureFixture[str]


def translation(folder: Path, text: str = TEXT, **wishes: object) -> str:
    translate: Any = regard.load(folder)
    return " ".join(translate([text], **wishes)[0].text.split("\n"))


def reading(monkeypatch: pytest.MonkeyPatch, given: bytes) -> None:
    stream = SimpleNamespace(buffer=io.BytesIO(given), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stream)


def test_a_text_is_translated_by_name_by_folder_and_by_default(model: Path, capsys: Captured) -> None:
    expected = translation(model)
    for which in (["--model", "small"], ["--model", str(model)], []):
        assert main(["translate", *which, TEXT]) == 0
        assert capsys.readouterr().out == f"{expected}\n"
    assert main(["translate", "--beam", "1", TEXT]) == 0
    assert capsys.readouterr().out == f"{translation(model, beam=1)}\n"


def test_lines_come_and_go_in_order_and_an_empty_one_stays_empty(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    reading(monkeypatch, "La regina canta.\r\n\n  \nUn lupo vede Anna.".encode("utf-8-sig"))
    assert main(["translate", "--beam", "1"]) == 0
    first, *blank, last = capsys.readouterr().out.removesuffix("\n").split("\n")
    assert blank == ["", ""]
    assert first == translation(model, beam=1)
    assert last == translation(model, "Un lupo vede Anna.", beam=1)


def test_broken_utf8_is_an_empty_line_and_a_message(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    reading(monkeypatch, b"La regina canta.\n\nper\xff\nUn lupo.\n")
    assert main(["translate", "--beam", "1"]) == 1
    out, err = capsys.readouterr()
    assert out == f"{translation(model, beam=1)}\n\n\n{translation(model, 'Un lupo.', beam=1)}\n"
    told, summary = err.splitlines()
    assert told.startswith("regard: text 3 has half a character")
    assert summary == "regard: 1 of 4 texts could not be answered; the others were"


def test_ten_thousand_words_are_refused_and_the_others_are_translated(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    reading(monkeypatch, ("lupo " * 10_000 + "\nLa regina canta.\n").encode())
    assert main(["translate", "--beam", "1"]) == 1
    out, err = capsys.readouterr()
    assert out == f"\n{translation(model, beam=1)}\n"
    told, summary = err.splitlines()
    assert told.startswith("regard: text 1 has ")
    assert "at most 512 are read" in told
    assert summary == "regard: 1 of 2 texts could not be answered; the others were"


def test_json_has_every_translation_with_its_score(model: Path, capsys: Captured) -> None:
    assert main(["translate", "--json", "--count", "3", "--beam", "4", TEXT, ""]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["source"] == TEXT
    scores = [each["score"] for each in first["translations"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert second["translations"][0]["text"] == ""
    assert main(["translate", "--count", "3", TEXT]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_words_are_drawn_by_chance_as_the_seed_says(model: Path, capsys: Captured) -> None:
    drawn = []
    for seed in ("0", "0", "1"):
        assert main(["translate", "--temperature", "2", "--top-k", "50", "--seed", seed, TEXT]) == 0
        drawn.append(capsys.readouterr().out)
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_fewer_bits_translate_too(model: Path, dtype: str, capsys: Captured) -> None:
    assert main(["translate", "--dtype", dtype, "--beam", "1", TEXT]) == 0
    assert capsys.readouterr().out


def test_a_model_of_several_languages_is_told_which(
    saved: Callable[..., Path], tmp_path: Path, capsys: Captured
) -> None:
    several = {"source": ["it"], "target": ["en", "de", "it", "cs"]}
    folder = str(saved(tmp_path / "many", languages=several))
    assert main(["translate", "--model", folder, "--to", "de", "--beam", "1", TEXT]) == 0
    capsys.readouterr()
    for flags, said in (
        ([], "regard: many writes several languages; say which by `to`: en, de, it, cs\n"),
        (["--to", "fr"], "regard: many does not write 'fr'; it writes en, de, it, cs\n"),
    ):
        assert main(["translate", "--model", folder, *flags, TEXT]) == 2
        assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--model", "smal"], "no model is called 'smal'; try small"),
        (["--to", "de"], "small does not write 'de'; it writes en"),
        (["--beam", "0"], "a beam of 0 finds nothing"),
        (["--count", "9"], "a beam of 5 cannot give 9"),
        (["--temperature", "-1"], "temperature -1.0 is below 0"),
        (["--top-p", "2"], "top_p is 2.0"),
        (["--coverage", "-1"], "coverage -1.0"),
        (["--seed", str(2**64)], f"seed is {2**64}; give 0 to"),
        (["--seed", "-1", "--top-k", "3"], "seed is -1; give 0 to"),
    ],
)
def test_misuse_is_told_before_anything_is_read(model: Path, flags: list[str], said: str, capsys: Captured) -> None:
    assert main(["translate", *flags, TEXT]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_a_damaged_model_is_one_line(model: Path, saved: Callable[..., Path], tmp_path: Path, capsys: Captured) -> None:
    other = saved(tmp_path / "other", vocab=400)
    weights = model / "model.safetensors"
    whole, words = weights.read_bytes(), (model / "tokenizer.json").read_text()

    def complain(code: int = 1) -> str:
        assert main(["translate", TEXT]) == code
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        return err

    weights.write_bytes(whole[:-100])
    assert "model.safetensors" in complain()
    weights.write_bytes(whole)
    (model / "tokenizer.json").write_text((other / "tokenizer.json").read_text())
    assert "is that of another model" in complain(2)
    (model / "tokenizer.json").unlink()
    assert "reads and writes no text" in complain(2)
    (model / "tokenizer.json").write_text(words)
    (model / "card.json").unlink()
    assert "no bundled model does translate" in complain(2)


def test_without_a_zoo_a_folder_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr("regard.zoo.SHELF", tmp_path)
    assert main(["translate", TEXT]) == 2
    assert "no bundled model does translate; name a folder by --model" in capsys.readouterr().err
