"""`regard world`: a sheet to look at, and samples for people and for programs."""

import json
from pathlib import Path

import pytest
from PIL import Image

from regard.cli.main import main
from regard.cli.samples import VIEWS


@pytest.mark.parametrize("view", sorted(VIEWS))
def test_every_view_can_be_sampled_for_people_and_for_programs(view: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", "sample", view, "--count", "3"]) == 0
    drawn = capsys.readouterr().out
    assert drawn.count("\n") >= 3
    assert "\x1b" not in drawn
    assert main(["world", "sample", view, "--count", "3", "--json"]) == 0
    items = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(items) == 3
    assert all(isinstance(item, dict) and item for item in items)


def test_pairs_are_printed_with_their_alignment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", "sample", "pairs", "--from", "it", "--to", "en", "--count", "5", "--json"]) == 0
    for line in capsys.readouterr().out.splitlines():
        pair = json.loads(line)
        assert set(pair) == {"source", "target", "alignment"}
        assert {i for i, _ in pair["alignment"]} <= set(range(len(pair["source"])))
        assert {j for _, j in pair["alignment"]} <= set(range(len(pair["target"])))


def test_the_same_seed_prints_the_same_and_another_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    def printed(seed: str) -> str:
        assert main(["world", "sample", "stories", "--seed", seed]) == 0
        return capsys.readouterr().out

    assert printed("1") == printed("1") != printed("2")


@pytest.mark.parametrize("language", ["en", "de", "it", "cs"])
def test_a_sheet_is_written_where_it_was_asked_for(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sheet.png"
    arguments = ["--out", str(out), "--count", "2", "--size", "32", "--language", language]
    assert main(["world", "show", *arguments]) == 0
    with Image.open(out) as sheet:
        assert f"{sheet.width}×{sheet.height} pixels, scenes 0 to 1 of seed 0" in capsys.readouterr().out
        assert sheet.width > 9 * 32


def test_mistakes_are_named_with_the_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in (
        (["sample", "pears"], "no view is called 'pears'; try pairs"),
        (["sample", "apples"], "no view is called 'apples'; try "),
        (["sample", "senses", "--language", "de"], "--language does nothing for senses, which are in English"),
        (["sample", "pairs", "--language", "de"], "--language does nothing for pairs, which take only --from, --to"),
        (["show", "--out", "/nowhere/at/all.png"], "there is no folder /nowhere/at; make it first"),
        (["show", "--out", "sheet.svg"], "'sheet.svg' names no picture format; end it in .png, .jpg, .webp"),
        (["sample", "pairs", "--from", "en"], "a pair needs two languages, not 'en' twice; the others are de, it, cs"),
        (["sample", "pairs", "--length", "1", "2"], "a sentence can have 3 to 120"),
        (["sample", "pairs", "--count", "0"], "count 0 shows nothing; give 1 or more"),
        (["show", "--split", "dev"], "no split is called 'dev'; choose train, test, novel, rearranged"),
        (["show", "--size", "16"], "have no room for six things; give a size of 24 or more"),
    ):
        assert main(["world", *arguments]) == 2
        assert words in capsys.readouterr().err
