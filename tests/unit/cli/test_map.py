"""`regard map` draws words, tables and contexts, says how far a map can be trusted, and refuses in one line."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from regard.cli.main import main

Captured = pytest.CaptureFixture[str]
WORDS = [f"{kind}{i}" for i in range(10) for kind in ("cat", "dog", "sun")]
POINTS = np.random.default_rng(0).normal(size=(30, 6)) + 5 * np.eye(3, 6)[np.arange(30) % 3]


@pytest.fixture
def table(tmp_path: Path) -> str:
    rows = [",".join([word[:3], *(f"{x:.4f}" for x in row)]) for word, row in zip(WORDS, POINTS, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    return str(tmp_path / "t.csv")


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    rows = [" ".join([word, *(f"{x:.4f}" for x in row)]) for word, row in zip(WORDS, POINTS, strict=True)]
    (tmp_path / "v.txt").write_text("30 6\n" + "\n".join(rows) + "\n")
    return str(tmp_path / "v.txt")


def test_a_table_is_mapped_with_its_groups(table: str, tmp_path: Path, capsys: Captured) -> None:
    assert main(["map", table, "--how", "pca", "--out", str(tmp_path / "m.svg")]) == 0
    said = capsys.readouterr().out
    assert "30 points, PCA" in said
    assert "of 10 nearest neighbours kept, trustworthiness 0." in said
    drawn = (tmp_path / "m.svg").read_text()
    assert all(f">{group}</text>" in drawn for group in ("cat", "dog", "sun"))


def test_facts_for_programs_and_a_perplexity_that_is_lowered(table: str, capsys: Captured) -> None:
    assert main(["map", table, "--json", "--dimensions", "3"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["method"] == "t-SNE"
    assert found["points"][0].keys() == {"x", "y", "z", "group"}
    assert 0 < found["quality"]["trustworthiness"] <= 1
    assert found["facts"]["perplexity"] == pytest.approx(29 / 3)
    assert err == "regard: perplexity 30 is too large for 30 points and was lowered to 9.67\n"


def test_places_as_a_table_and_as_lines(table: str, tmp_path: Path, capsys: Captured) -> None:
    assert main(["map", table, "--how", "pca", "--out", str(tmp_path / "m.csv")]) == 0
    with (tmp_path / "m.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[1]["group"] == "dog"
    capsys.readouterr()
    assert main(["map", table, "--how", "pca"]) == 0
    first = capsys.readouterr().out.splitlines()[0].split("\t")
    assert first == [rows[0]["x"], rows[0]["y"], "cat"]


def test_words_of_a_file_of_vectors(vectors: str, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "w.svg"
    assert main(["map", vectors, "--how", "pca", "--words", "cat0", "dog0", "sun3", "--out", str(out)]) == 0
    assert "3 points" in capsys.readouterr().out
    assert ">sun3</text>" in out.read_text()
    assert main(["map", vectors, "--how", "pca", "--count", "12", "--out", str(tmp_path / "w.png")]) == 0
    assert (tmp_path / "w.png").read_bytes().startswith(b"\x89PNG")
    assert main(["map", vectors, "--words", "cow"]) == 2
    assert "no word of" in capsys.readouterr().err


def test_one_word_in_many_sentences(tmp_path: Path, capsys: Captured) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("the bank gave a loan\tmoney\nshe sat on the bank\triver\nat the bank he fished\triver\nno\t\n")
    out = tmp_path / "bank.svg"
    assert (
        main(["map", "world-bert", "--sentences", str(lines), "--word", "bank", "--how", "pca", "--out", str(out)]) == 0
    )
    drawn = out.read_text()
    assert "“bank” in 4 sentences, world-bert, encoder.blocks.3" in drawn
    assert ">river</text>" in drawn
    assert "<title>she sat on the bank</title>" in drawn
    assert "3 points" in capsys.readouterr().out
    assert main(["map", "world-bert"]) == 2
    assert "say --sentences FILE --word WORD" in capsys.readouterr().err
    assert main(["map", "world-bert", "--sentences", str(lines), "--word", "king"]) == 2
    assert "'king' occurs in none of the 4 sentences" in capsys.readouterr().err
    lines.write_bytes(b"the bank\nthe b\xe4nk\n")
    assert main(["map", "world-bert", "--sentences", str(lines), "--word", "bank"]) == 2
    assert "lines.txt, line 2 is not UTF-8: byte 0xe4 at place 5; mend the line" in capsys.readouterr().err
    assert main(["map", "world-detr", "--sentences", str(lines), "--word", "king"]) == 2
    assert "reads no texts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "args", "said"),
    [
        ("1,2\n", [], "1 point cannot be told apart on a map"),
        ("1,2\n3,nan\n4,5\n", [], "point 1 (counted from 0) holds NaN"),
        ("1,2\n3,4\n4,5\n", ["--perplexity", "0"], "a perplexity of 0 is no number of neighbours"),
        ("1,2\n3,4\n4,5\n", ["--out", "map.pdf"], "--out map.pdf has no format that is known"),
        ("1,2\n3,4\n4,5\n", ["--out", "nowhere/map.svg"], "there is no folder"),
        ("1,2\n3,4\n4,5\n", ["--words", "a"], "is a table of points; --words"),
        ("1,2\n3\n", [], "row 2, has 1 cells"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, capsys: Captured, text: str, args: list[str], said: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert main(["map", str(tmp_path / "t.csv"), *args]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_file_that_is_not_there_is_said(capsys: Captured) -> None:
    for name in ("none.csv", "none.npy", "none.txt", "no-such-model"):
        assert main(["map", name]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_what_is_not_installed_is_one_line_with_the_way_out(
    table: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "umap", None)
    assert main(["map", table, "--how", "umap"]) == 1
    assert "pip install '.[maps]'" in capsys.readouterr().err
