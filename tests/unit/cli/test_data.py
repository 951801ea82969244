"""`regard data`: the sets are listed, found and checked, for people and for programs."""

import json
from pathlib import Path

import pytest

from regard.cli.main import main
from regard.data import SETS


@pytest.fixture(autouse=True)
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "own"))


def test_every_set_is_listed_for_people_and_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "list"]) == 0
    drawn = capsys.readouterr().out
    assert all(known.name in drawn and known.home in drawn and known.terms in drawn for known in SETS.values())
    assert "not here; regard data get multi30k fetches it" in drawn
    assert main(["data", "list", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [fact["name"] for fact in facts] == list(SETS)
    assert [fact["size"] for fact in facts] == [known.size for known in SETS.values()]
    assert facts[0]["here"] == []


def test_absent_sets_are_no_failure_until_they_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "verify"]) == 0
    assert "15 absent" in capsys.readouterr().out
    assert main(["data", "verify", "tatoeba-en-it"]) == 1
    assert "is absent; run: regard data get tatoeba-en-it" in capsys.readouterr().err


def test_a_damaged_file_is_found_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own/multi30k/val.en.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"short")
    assert main(["data", "verify", "--json"]) == 1
    out, err = capsys.readouterr()
    states = {fact["file"]: fact["state"] for fact in json.loads(out)}
    assert states["val.en.gz"] == "cut short"
    assert states["val.de.gz"] == "absent"
    assert "val.en.gz is cut short; remove what is damaged and run: regard data get multi30k" in err


def test_the_world_needs_no_fetching(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "get", "world"]) == 0
    assert "there is nothing to fetch" in capsys.readouterr().out


def test_an_unknown_set_is_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "get", "multi"]) == 2
    assert "no data set is called 'multi'; try multi30k" in capsys.readouterr().err
