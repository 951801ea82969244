"""`regard generate` goes on with every text it is given, before your eyes or line by line."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

import regard
from regard.cli.main import main
from regard.hub import save
from regard.models import gpt
from regard.text import Tokenizer

Captured = pytest.CaptureFixture[str]
CHAT = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"


def saved(folder: Path, **card: object) -> Path:
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["to be or not to be\n", "that is the question", CHAT], vocab=300)
    one = gpt.GPT(gpt.Config(tokenizer.vocab, 48, 16, 1, 2, 16))
    for parameter in one.parameters():
        nn.init.normal_(parameter, std=0.2)
    save(folder, one, family=gpt.FAMILY, card={"task": "generate"} | card, tokenizer=tokenizer)
    return folder


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default language model of a shelf of its own."""
    monkeypatch.setattr("regard.zoo.SHELF", tmp_path / "zoo")
    return saved(tmp_path / "zoo/small")


def written(folder: Path, text: str, **wishes: Any) -> str:
    generate: Any = regard.load(folder)
    found: str = generate([text], **wishes)[0].text
    return found


def reading(monkeypatch: pytest.MonkeyPatch, given: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(given), isatty=lambda: False))


def test_a_text_is_gone_on_with_by_name_by_folder_and_by_default(model: Path, capsys: Captured) -> None:
    expected = written(model, "to be", max_new_tokens=9)
    for which in (["--model", "small"], ["--model", str(model)], []):
        assert main(["generate", *which, "--max-new-tokens", "9", "to be"]) == 0
        assert capsys.readouterr().out == f"{expected}\n"


def test_a_text_is_shown_while_it_is_written(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = list[str]()
    out = SimpleNamespace(write=shown.append, flush=lambda: None, isatty=lambda: False)
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["generate", "to be"]) == 0
    assert len(shown) > 20
    assert "".join(shown) == written(model, "to be") + "\n"


def test_lines_come_and_go_in_order_and_a_line_stays_a_line(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    reading(monkeypatch, b"to be\r\nthat\nto\xff\nor not\n")
    assert main(["generate", "--max-new-tokens", "6"]) == 1
    out, err = capsys.readouterr()
    first, second, broken, last = out.removesuffix("\n").split("\n")
    for text, line in (("to be", first), ("that", second), ("or not", last)):
        assert line == " ".join(written(model, text, max_new_tokens=6).split("\n"))
    assert broken == ""
    assert "regard: text 3 has half a character" in err


def test_json_is_one_object_a_line_with_the_text(model: Path, capsys: Captured) -> None:
    flags = ["--json", "--temperature", "1", "--count", "3", "--seed", "4", "--max-new-tokens", "5"]
    assert main(["generate", *flags, "to be", "that"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["prompt"], second["prompt"]) == ("to be", "that")
    assert first["text"] == written(model, "to be", temperature=1.0, seed=4, max_new_tokens=5)
    assert len(second["alternatives"]) == 2
    assert first["tokens"] == 5
    assert first["log_prob"] < 0
    assert first["finished"] is False


def test_every_wish_reaches_the_model(model: Path, capsys: Captured) -> None:
    flags = ["--top-k", "20", "--top-p", "0.9", "--min-p", "0.01", "--repetition-penalty", "1.3", "--seed", "2"]
    wishes = {"top_k": 20, "top_p": 0.9, "min_p": 0.01, "repetition_penalty": 1.3, "seed": 2}
    whole = written(model, "to be", **wishes)
    stop = whole[4:6]
    assert main(["generate", *flags, "--stop", stop, "--stop", "zzz", "to be"]) == 0
    assert capsys.readouterr().out == whole.partition(stop)[0] + "\n"
    assert main(["generate", "--beam", "3", "--count", "2", "--max-new-tokens", "4", "to be"]) == 0
    assert capsys.readouterr().out


def test_a_chat_is_asked_by_the_models_template(tmp_path: Path, capsys: Captured) -> None:
    folder = saved(tmp_path / "talker", chat_template=CHAT)
    expected = written(folder, "Hi", chat=True, system="Be.", max_new_tokens=5)
    flags = ["generate", "--model", str(folder), "--max-new-tokens", "5"]
    assert main([*flags, "--chat", "--system", "Be.", "Hi"]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert main([*flags, "--system", "Be.", "Hi"]) == 2
    assert "--system is part of a chat; say --chat too" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_what_does_not_fit_is_told_and_the_others_are_answered(model: Path, flags: list[str], capsys: Captured) -> None:
    assert main(["generate", *flags, "--max-new-tokens", "3", "to " * 100, "that"]) == 1
    out, err = capsys.readouterr()
    assert written(model, "that", max_new_tokens=3) in (json.loads(out.splitlines()[1])["text"] if flags else out)
    assert "regard: text 1 has " in err
    assert "at most 48 are read" in err
    assert err.endswith("1 of 2 texts could not be answered; the others were\n")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--chat"], "small has no chat template"),
        (["--top-p", "0"], "top_p is 0.0; give a probability above 0 and up to 1"),
        (["--count", "2"], "the likeliest words give one text and not 2"),
        (["--max-new-tokens", "0"], "max_new_tokens is 0"),
        (["--seed", "-1"], "seed is -1"),
        (["--model", "smal"], "no model is called 'smal'; try small"),
    ],
)
def test_misuse_is_one_line_and_code_2(model: Path, flags: list[str], said: str, capsys: Captured) -> None:
    assert main(["generate", *flags, "to be"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_fewer_bits_write_too(model: Path, dtype: str, capsys: Captured) -> None:
    assert main(["generate", "--dtype", dtype, "--max-new-tokens", "3", "to be"]) == 0
    assert capsys.readouterr().out
