"""`regard evaluate` gives numbers that can be cited, and that agree with what it wrote down."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

from regard.analysis.alignment import errors, floor
from regard.cli.main import main
from regard.hub import load
from regard.text import Tokenizer
from regard.world.language import pairs, text

Captured = pytest.CaptureFixture[str]
WORLD = ["world", "--limit", "6", "--beam", "1"]


def measured(capsys: Captured, *args: str) -> dict[str, Any]:
    assert main(["evaluate", *args, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_scores_are_those_of_the_translations_it_wrote(model: Path, tmp_path: Path, capsys: Captured) -> None:
    found = measured(capsys, "small", *WORLD, "--out", str(tmp_path / "said.txt"))
    said = (tmp_path / "said.txt").read_text().splitlines()
    wanted = [text(pair.target) for pair in pairs("it", "en", split="test")[:6]]
    assert len(said) == found["sentences"] == 6
    assert found["bleu"]["value"] == pytest.approx(sacrebleu.corpus_bleu(said, [wanted]).score)
    assert found["bleu_lower"]["signature"].startswith("nrefs:1|case:lc|")
    assert found["chrf"]["value"] == pytest.approx(sacrebleu.corpus_chrf(said, [wanted]).score)
    assert (found["source"], found["target"], found["split"]) == ("it", "en", "test")
    assert sum(each["count"] for each in found["lengths"]) == 6
    assert found["perplexity"] > 1
    assert found["exact"] == 0


def test_in_the_world_every_head_is_compared_with_the_truth(model: Path, capsys: Captured) -> None:
    found = measured(capsys, "small", *WORLD)["alignment"]
    some = list(pairs("it", "en", split="test")[:6])
    truth = errors(load(model).model, Tokenizer.load(model / "tokenizer.json"), some)
    assert {(each["name"], each["head"]): each["error"] for each in found["heads"]} == truth
    assert found["best"]["error"] == min(truth.values())
    assert found["floor"] == floor(some)


def test_people_read_the_same_numbers(model: Path, capsys: Captured) -> None:
    found = measured(capsys, "small", *WORLD)
    assert main(["evaluate", "small", *WORLD]) == 0
    drawn = capsys.readouterr().out
    assert drawn.startswith("small on world, test, it to en\n6 sentences in ")
    assert found["bleu"]["signature"] in drawn
    best = found["alignment"]["best"]
    (line,) = (line for line in drawn.splitlines() if line.endswith("  best"))
    assert line.split() == [best["name"], "head", str(best["head"]), f"{best['error']:.1%}", "best"]


def test_own_files_are_measured_without_links(model: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/test.it").write_text("La regina canta.\nUn lupo.\n")
    (tmp_path / "own/test.en").write_text("The queen sings.\nA wolf.\n")
    found = measured(capsys, "small", str(tmp_path / "own"), "--beam", "1")
    assert found["sentences"] == 2
    assert "alignment" not in found


def test_a_model_without_attention_has_no_heads(saved: Callable[..., Path], tmp_path: Path, capsys: Captured) -> None:
    folder = str(saved(tmp_path / "fixed", kind="none"))
    assert measured(capsys, folder, *WORLD)["alignment"]["heads"] == []
    assert main(["evaluate", folder, *WORLD]) == 0
    assert "no attention looks at the source" in capsys.readouterr().out


def test_a_model_of_several_languages_needs_to_be_told(
    saved: Callable[..., Path], tmp_path: Path, capsys: Captured
) -> None:
    folder = str(saved(tmp_path / "many", source="any", target="any", multilingual=True))
    assert main(["evaluate", folder, *WORLD]) == 2
    assert "many does not say one language as its source; name it by --source" in capsys.readouterr().err
    found = measured(capsys, folder, *WORLD, "--source", "de", "--target", "cs")
    assert (found["source"], found["target"]) == ("de", "cs")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["small", "wrld"], 2, "no data set is called 'wrld' and nothing lies there"),
        (["small", "world", "--split", "val"], 2, "no split is called 'val'"),
        (["small", "world", "--target", "fr"], 2, "small writes en, not 'fr'"),
        (["small", "world", "--limit", "-1"], 2, "a limit of -1 pairs leaves nothing to measure"),
        (["small", "world", "--out", "nowhere/x.txt"], 2, "there is no folder"),
        (["small", "world", "--limit", "2", "--beam", "0"], 2, "a beam of 0 finds nothing"),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    model: Path, args: list[str], code: int, said: str, capsys: Captured
) -> None:
    assert main(["evaluate", *args]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
