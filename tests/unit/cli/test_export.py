"""`regard export` writes a folder for others, says what is in it, and refuses in one sentence."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regard.cli.main import main

Captured = pytest.CaptureFixture[str]


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_translator_becomes_three_graphs_that_were_compared(model: Path, tmp_path: Path, capsys: Captured) -> None:
    pytest.importorskip("onnxscript", reason="the extra `export` is not installed")
    pytest.importorskip("onnxruntime", reason="the extra `export` is not installed")
    out = tmp_path / "out"
    assert main(["export", "small", "--to", "onnx", "--out", str(out), "--json"]) == 0
    facts = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [Path(each["file"]).name for each in facts] == ["model.onnx", "start.onnx", "step.onnx"]
    assert all(each["difference"] < 1e-4 for each in facts)
    assert facts[0]["inputs"]["source"] == ["batch", "length"]
    assert facts[2]["inputs"]["past.0.key"] == ["batch", 2, "past_length", 8]
    assert {path.name for path in out.iterdir()} >= {"model.onnx", "start.onnx", "step.onnx", "tokenizer.json"}


def test_what_transformers_has_no_place_for_is_refused(
    saved: Callable[..., Path], tmp_path: Path, capsys: Captured
) -> None:
    folder = saved(tmp_path / "small", kind="additive")
    assert main(["export", str(folder), "--to", "hf", "--out", str(tmp_path / "out")]) == 2
    assert "a Seq2Seq has no place in other libraries; models of these families have: " in capsys.readouterr().err
    assert main(["export", str(folder), "--to", "ctranslate2", "--out", str(tmp_path / "out")]) == 2
    assert "CTranslate2 has no Seq2Seq; it takes Transformer, GPT, BERT, so write ONNX" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("as_users_meet_it")
@pytest.mark.filterwarnings("ignore:The tensor attributes .*_flat_weights")  # of torch's own recurrences
def test_a_graph_that_would_read_one_length_alone_is_not_left_behind(
    saved: Callable[..., Path], tmp_path: Path, capsys: Captured
) -> None:
    pytest.importorskip("onnxscript", reason="the extra `export` is not installed")
    folder = saved(tmp_path / "small", kind="additive")
    assert main(["export", str(folder), "--to", "onnx", "--out", str(tmp_path / "out")]) == 2
    assert "a recurrence is unrolled word by word when it is traced" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("to", "package", "words"),
    [
        ("onnx", "onnx", "the packages onnx and onnxscript; in a clone of regard, pip install '.[export]'"),
        ("ctranslate2", "ctranslate2", "the package of that name; in a clone of regard, pip install '.[export]'"),
    ],
)
def test_a_missing_package_is_named(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, to: str, package: str, words: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["export", "small", "--to", to, "--out", str(tmp_path / "out")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("model")
def test_a_command_that_cannot_be_followed_is_answered_with_a_way_out(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").write_text("mine")
    assert main(["export", "small", "--to", "onnx", "--out", str(tmp_path / "full")]) == 2
    assert "holds something already; name a folder that is new or empty" in capsys.readouterr().err
    assert main(["export", "small", "--to", "hf", "--out", str(tmp_path / "out"), "--any-size"]) == 2
    assert "--any-size is for --to onnx" in capsys.readouterr().err
    assert main(["export", "nowhere", "--to", "hf", "--out", str(tmp_path / "out")]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert (tmp_path / "full/notes.txt").read_text() == "mine"
