"""`regard evaluate` gives numbers that can be cited, and that agree with what it wrote down."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

import regard
from regard.analysis.alignment import errors, floor
from regard.cli.main import main
from regard.world.language import pairs, text

Captured = pytest.CaptureFixture[str]
WORLD = ["world", "--limit", "6", "--beam", "1"]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Two pairs in a folder of one's own."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/test.it").write_text("La regina canta.\nUn lupo.\n")
    (tmp_path / "own/test.en").write_text("The queen sings.\nA wolf.\n")
    return tmp_path / "own"


def measured(capsys: Captured, *args: str) -> dict[str, Any]:
    assert main(["evaluate", *args, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_scores_are_those_of_the_translations_it_wrote(model: Path, tmp_path: Path, capsys: Captured) -> None:
    found = measured(capsys, "small", *WORLD, "--out", str(tmp_path / "said.txt"))
    said = (tmp_path / "said.txt").read_text().splitlines()
    wanted = [text(pair.target) for pair in pairs("it", "en", split="test")[:6]]
    assert len(said) == found["count"] == 6
    scores = found["scores"]
    assert scores["bleu"]["value"] == pytest.approx(sacrebleu.corpus_bleu(said, [wanted]).score)
    assert scores["bleu_lower"]["signature"].startswith("nrefs:1|case:lc|")
    assert scores["chrf"]["value"] == pytest.approx(sacrebleu.corpus_chrf(said, [wanted]).score)
    assert (found["settings"]["source"], found["settings"]["target"], found["split"]) == ("it", "en", "test")
    assert sum(score["count"] for name, score in scores.items() if name.startswith("bleu/")) == 6
    assert scores["perplexity"]["value"] > 1
    assert not scores["perplexity"]["higher_is_better"]
    assert scores["exact"]["value"] == 0


def test_in_the_world_every_head_is_compared_with_the_truth(model: Path, capsys: Captured) -> None:
    found = measured(capsys, "small", *WORLD)["scores"]
    some = list(pairs("it", "en", split="test")[:6])
    small = regard.load(model)
    truth = errors(small.model, small.tokenizer, some)
    for (name, head), error in truth.items():
        assert found[f"alignment_error/{name} head {head}"]["value"] == pytest.approx(100 * error)
    assert found["alignment_error"]["value"] == pytest.approx(100 * min(truth.values()))
    least = found["alignment_error/least with one link a word"]
    assert least["value"] == pytest.approx(100 * floor(some))


def test_people_read_the_same_numbers(model: Path, capsys: Captured) -> None:
    found = measured(capsys, "small", *WORLD)
    assert main(["evaluate", "small", *WORLD]) == 0
    table = capsys.readouterr().out
    assert table.startswith("small on world, test")
    assert found["scores"]["bleu"]["signature"] in table
    (line,) = (line for line in table.splitlines() if line.startswith("alignment_error"))
    assert line.split()[1] == f"{found['scores']['alignment_error']['value']:.2f}"


def test_a_card_takes_up_what_was_measured(model: Path, own: Path, capsys: Captured) -> None:
    found = measured(capsys, "small", str(own), "--beam", "1", "--card")
    card = json.loads((model / "card.json").read_text())
    assert card["measured"]["bleu"] == round(found["scores"]["bleu"]["value"], 2)
    assert not any("/" in name for name in card["measured"])
    assert card["measured_on"]["count"] == 2
    assert card["task"] == "translate"


def test_a_card_that_cannot_be_written_is_told_before_anything_is_measured(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("regard.cli.evaluate._evaluate", lambda *_: pytest.fail("it was measured"))
    assert main(["evaluate", "small", *WORLD, "--card"]) == 2
    assert "not the first 6; leave --limit or --card out" in capsys.readouterr().err
    shown = regard.load(model)
    monkeypatch.setattr("regard.cli.evaluate.load_model", lambda *_, **__: shown)
    (model / "card.json").unlink()
    assert main(["evaluate", "small", "world", "--card"]) == 2
    assert "small has no card of regard's to write into; leave --card out" in capsys.readouterr().err


def test_an_option_of_another_task_is_refused(tmp_path: Path, capsys: Captured) -> None:
    from regard.hub import save
    from regard.models import memnet

    small = memnet.MemoryNetwork(memnet.Config(vocab=40, width=8, hops=1, times="fixed"))
    save(
        tmp_path / "recall", small, family=memnet.FAMILY, card={"task": "recall", "pairs": 1, "words": 4, "distance": 4}
    )
    assert main(["evaluate", str(tmp_path / "recall"), "world", "--length-penalty", "1"]) == 2
    assert capsys.readouterr().err == "regard: --length-penalty does nothing for the task 'recall'; leave it out\n"
    assert main(["look", str(tmp_path / "recall"), "[3, 1, 3]", "--to", "de"]) == 2
    assert capsys.readouterr().err == "regard: --to does nothing for the task 'recall'; leave it out\n"


def test_own_files_are_measured_without_links(model: Path, own: Path, capsys: Captured) -> None:
    found = measured(capsys, "small", str(own), "--beam", "1")
    assert found["count"] == 2
    assert "alignment_error" not in found["scores"]


def test_a_model_without_attention_has_no_heads(saved: Callable[..., Path], tmp_path: Path, capsys: Captured) -> None:
    folder = str(saved(tmp_path / "fixed", kind="none"))
    assert "alignment_error" not in measured(capsys, folder, *WORLD)["scores"]


def test_a_model_of_several_languages_needs_to_be_told(
    saved: Callable[..., Path], tmp_path: Path, capsys: Captured
) -> None:
    folder = str(saved(tmp_path / "many", languages={"source": ["it", "de"], "target": ["en", "cs"]}))
    assert main(["evaluate", folder, *WORLD]) == 2
    assert "many does not say one language as its source; name it by `source`" in capsys.readouterr().err
    found = measured(capsys, folder, *WORLD, "--source", "de", "--target", "cs")
    assert (found["settings"]["source"], found["settings"]["target"]) == ("de", "cs")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["small", "wrld"], 2, "no data set is called 'wrld' and nothing lies there"),
        (["small", "world", "--split", "val"], 2, "no split is called 'val'"),
        (["small", "world", "--target", "fr"], 2, "'fr'"),
        (["small", "world", "--limit", "-1"], 2, "a limit of -1 items leaves nothing to measure"),
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
