"""`regard claim`: claims are listed and shown at once, and an experiment runs with its figure."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from regard.claims import claim as one
from regard.claims import claims, load
from regard.cli.main import main

QUICK = ["claim", "run", "table1", "--quick"]


def test_every_claim_is_listed_with_its_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claim", "list"]) == 0
    drawn = capsys.readouterr().out
    for name in claims():
        result = load(name)
        assert f"{name.ljust(11)} {'not run yet' if result is None else result.verdict}" in drawn


def test_the_list_is_there_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claim", "list", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [fact["name"] for fact in facts] == list(claims())
    assert all(fact["result"] is None or fact["result"]["verdict"] for fact in facts)
    assert facts[0]["criterion"] == one(facts[0]["name"]).criterion


@pytest.mark.parametrize("args", [["list"], ["list", "--json"], ["show", "scale"], ["show", "scale", "--json"]])
def test_looking_does_not_wait_for_torch(args: list[str]) -> None:
    code = (
        "import sys; from regard.cli.main import main; code = main(['claim', *sys.argv[1:]]); "
        "sys.exit(code or 'torch' in sys.modules or 'numpy' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code, *args], capture_output=True, timeout=120, check=False).returncode
        == 0
    )


def test_a_claim_is_shown_with_its_criterion_and_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claim", "show", "table1"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert one("table1").criterion in shown
    result = load("table1")
    assert result is not None
    assert result.says in shown
    assert result.conditions in shown


def test_a_quick_run_writes_its_result_here_and_it_can_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(QUICK) == 0
    said = capsys.readouterr().out
    assert "A quick run" in said
    assert "figure: claims/table1.svg" in said
    assert sorted(path.name for path in (tmp_path / "claims").iterdir()) == ["table1.json", "table1.svg"]
    assert main(["claim", "show", "table1", "--out", "claims"]) == 0
    assert "A quick run" in capsys.readouterr().out


def test_a_run_speaks_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, "--seed", "3", "--json", "--out", str(tmp_path)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["seeds"] == [3]
    assert facts["figure"] == str(tmp_path / "table1.svg")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["show", "scael"], "no claim is called 'scael'; try scale"),
        (["run", "xyzzy"], "no claim is called 'xyzzy'; try "),
        ([*QUICK[1:], "--keep"], "--keep stores what was measured, and --quick measures nothing"),
        (["show", "scale", "--out", "nowhere"], "nowhere has no scale.json; run: regard claim run scale --out nowhere"),
    ],
)
def test_misuse_is_answered_with_the_way_out(args: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claim", *args]) == 2
    assert said in capsys.readouterr().err
