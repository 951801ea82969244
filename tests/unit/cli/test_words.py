"""`regard words` prints both answers side by side and says which is which; vectors are measured by `evaluate`."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.words.made import made

from regard.cli.main import main
from regard.words import write_vectors

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def file(tmp_path: Path) -> str:
    write_vectors(tmp_path / "made.vec", made(), "word2vec")
    return str(tmp_path / "made.vec")


def told(capsys: Captured, *args: str) -> Any:
    assert main(["words", *args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_both_answers_stand_side_by_side(file: str, capsys: Captured) -> None:
    assert main(["words", "king - man + woman", "--model", file, "--count", "2"]) == 0
    asked, rules, first, second = capsys.readouterr().out.splitlines()
    assert asked == "king - man + woman"
    assert rules.split() == ["without", "king,", "man,", "woman", "with", "them"]
    assert first.split()[1::2] == ["queen", "king"]
    assert len(second.split()) == 4
    assert rules.index("with them") == first.index(first.split()[2])


def test_programs_get_both_answers_and_the_rule(file: str, capsys: Captured) -> None:
    found = told(capsys, "king", "-", "man", "+", "woman", "--model", file, "--count", "3")
    assert found["inputs"] == ["king", "man", "woman"]
    assert found["without_inputs"][0]["word"] == "queen"
    assert found["with_inputs"][0]["word"] == "king"
    assert len(found["with_inputs"]) == 3
    assert "leaves the words of the question out" in found["rule"]
    assert told(capsys, "--near", "mother-in-law", "--model", file)["without_inputs"][0]["word"] == "woman"
    odd = told(capsys, "--odd", "breakfast", "cereal", "dinner", "lunch", "--model", file)
    assert (odd["word"], len(odd["ranked"])) == ("cereal", 4)


def test_people_read_what_is_near_and_what_is_odd(file: str, capsys: Captured) -> None:
    assert main(["words", "--near", "king", "--model", file]) == 0
    assert "without king" in capsys.readouterr().out
    assert main(["words", "--odd", "breakfast", "cereal", "dinner", "--model", file]) == 0
    assert capsys.readouterr().out.startswith("cereal does not belong\n")


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ([], "one thing is answered at a time; give an expression"),
        (["", "  "], "one thing is answered at a time"),
        (["king", "--near", "queen"], "one thing is answered at a time"),
        (["king", "--count", "0"], "--count 0 is no number of words"),
        (["kinng"], "no word of made is called 'kinng'; try king"),
        (["king man"], "no sign between 'king' and 'man'"),
        (["--odd", "king", "queen"], "of 2 different words none is the odd one; give 3"),
        (["\udcff"], "has half a character"),
    ],
)
def test_misuse_is_one_line(args: list[str], why: str, file: str, capsys: Captured) -> None:
    assert main(["words", "--model", file, *args]) == 2
    err = capsys.readouterr().err
    assert why in err
    assert err.count("\n") == 1


def test_a_damaged_file_and_another_model_are_one_line(
    file: str, tmp_path: Path, model: Path, capsys: Captured
) -> None:
    (tmp_path / "cut.bin").write_bytes(b"5 3\nking ")
    for what, why in ((str(tmp_path / "cut.bin"), "so that it is cut short"), ("small", "does translate, not words")):
        assert main(["words", "king", "--model", what]) == 2
        assert why in capsys.readouterr().err
    (tmp_path / "twice.txt").write_bytes(b"a 1 2\nb 3 4\na 5 6\n")
    assert main(["words", "a", "--model", str(tmp_path / "twice.txt")]) == 0
    assert "has 'a' more than once, and the first is kept" in capsys.readouterr().err


def test_vectors_are_measured_by_evaluate(file: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "own.txt").write_text(": family\nman king woman queen\nwoman queen man king\nman king woman nobody\n")
    args = ["evaluate", file, str(tmp_path / "own.txt")]
    assert main([*args, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scores"]["accuracy/family"]["value"] == 100
    assert main([*args, "--restrict-vocab", "5", "--out", str(tmp_path / "answers.txt")]) == 0
    table = capsys.readouterr().out
    assert table.startswith("made on own.txt, test  restrict_vocab 5")
    assert "accuracy_with_inputs" in table
    assert (tmp_path / "answers.txt").read_text() == "queen\nking\n"
    assert main([*args, "--beam", "2"]) == 2
    assert "--beam does nothing for the task 'words'" in capsys.readouterr().err
    assert main(["evaluate", file, "simlx"]) == 1
    assert "no test of word vectors is called 'simlx'; try simlex" in capsys.readouterr().err
