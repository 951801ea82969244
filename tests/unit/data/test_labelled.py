"""Texts with labels: a named set, a folder, or one table of any kind that is divided."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from regard.data import SETS, DataError, Example, labelled

ROWS = [("good", "yes"), ('bad, "very" bad', "no"), ("two\nlines", "yes")]
EXAMPLES = [Example((text,), label) for text, label in ROWS]


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("name", ["sst2", "cola", "mrpc", "stsb"])
def test_the_published_sets_are_as_large_as_stated_and_share_no_text(name: str) -> None:
    found = {split: labelled(name, split) for split in ("train", "val", "test")}
    assert {split: len(rows) for split, rows in found.items()} == SETS[name].splits
    train, val = ({text for row in found[split] for text in row.texts} for split in ("train", "val"))
    assert name == "sst2" or not train & val


@pytest.mark.usefixtures("published")
def test_the_labels_of_the_published_sets_are_words_where_they_mean_something() -> None:
    assert labelled("sst2", "test")[0] == (("it 's a charming and often affecting journey .",), "1")
    assert {row.label for row in labelled("cola", "test")} == {"acceptable", "unacceptable"}
    assert {row.label for row in labelled("mrpc", "test")} == {"different", "equivalent"}
    first, second = labelled("stsb", "test")[0].texts
    assert (first, second) == ("A man with a hard hat is dancing.", "A man wearing a hard hat is dancing.")
    assert all(0 <= float(row.label) <= 5 for row in labelled("stsb", "test"))


def test_a_set_that_cannot_be_fetched_file_by_file_says_where_to_take_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    with pytest.raises(DataError, match=r"take it from https://gluebenchmark.*, unpack it, and give the folder"):
        labelled("sst2")


def test_a_folder_may_call_its_second_file_dev_and_name_its_columns(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("sentence\tlabel\ngood \tyes\nbad\tno\n")
    (tmp_path / "dev.tsv").write_text("fine\tyes\n")
    assert labelled(tmp_path, "train") == [(("good",), "yes"), (("bad",), "no")]
    assert labelled(tmp_path, "val") == [(("fine",), "yes")]
    with pytest.raises(DataError, match=r"has no table of the split 'test'; put one there, such as test\.tsv"):
        labelled(tmp_path, "test")


def _csv(path: Path) -> Path:
    path = path / "train.csv"
    path.write_text('text,label\ngood,yes\n"bad, ""very"" bad",no\n"two\nlines",yes\n')
    return path


def _semicolons(path: Path) -> Path:
    path = path / "train.csv"
    path.write_text('review;sentiment\ngood;yes\n"bad, ""very"" bad";no\n"two\nlines";yes\n')
    return path


def _jsonl(path: Path) -> Path:
    path = path / "train.jsonl"
    path.write_text("".join(json.dumps({"id": 7, "text": text, "class": label}) + "\n" for text, label in ROWS))
    return path


def _parquet(path: Path) -> Path:
    arrow, path = pytest.importorskip("pyarrow"), path / "train.parquet"
    from pyarrow import parquet  # type: ignore[import-untyped,unused-ignore]

    parquet.write_table(arrow.table({"text": [text for text, _ in ROWS], "label": [each for _, each in ROWS]}), path)
    return path


def _saved(path: Path) -> Path:
    arrow, path = pytest.importorskip("pyarrow"), path / "train"
    path.mkdir()
    table = arrow.table({"text": [text for text, _ in ROWS], "label": [["no", "yes"].index(each) for _, each in ROWS]})
    with (
        arrow.OSFile(str(path / "data-00000-of-00001.arrow"), "wb") as out,
        arrow.ipc.new_stream(out, table.schema) as stream,
    ):
        stream.write_table(table)
    names = {"text": {"_type": "Value"}, "label": {"_type": "ClassLabel", "names": ["no", "yes"]}}
    (path / "dataset_info.json").write_text(json.dumps({"features": names}))
    return path


@pytest.mark.parametrize("write", [_csv, _semicolons, _jsonl, _parquet, _saved])
def test_a_table_is_read_whatever_its_format(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    write(tmp_path)
    assert labelled(tmp_path, "train") == EXAMPLES


def test_columns_are_those_that_are_named(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("id,comment,stars,remark\n1,good,5,x\n")
    assert labelled(tmp_path, text="comment", label="stars") == [(("good",), "5")]
    assert labelled(tmp_path, text="Comment, remark", label="stars") == [(("good", "x"), "5")]
    with pytest.raises(DataError, match=r"has no column 'grade'; it has id, comment, stars, remark"):
        labelled(tmp_path, text="comment", label="grade")


def test_columns_that_nobody_knows_are_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("id,remark,label\n1,good,5\n")
    with pytest.raises(DataError, match=r"names its columns id, remark, label, and which are text and label is not"):
        labelled(tmp_path)
    (tmp_path / "train.csv").write_text("1,good,5\n")
    with pytest.raises(DataError, match=r"has 3 columns without names, .* --text 1 --label 3"):
        labelled(tmp_path)
    assert labelled(tmp_path, text="2", label="3") == [(("good",), "5")]


def test_a_first_row_that_looks_like_one_name_is_data(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("what is this\tquestion\nthis is that\tstatement\n")
    assert labelled(tmp_path)[0] == (("what is this",), "question")


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("train.csv", 'text,label\n"never closed,yes\nand on\n', r"train\.csv, line 3 is no CSV"),
        ("train.csv", "text,label\n" + "a" * 200_000 + ",yes\n", r"line 2 is no CSV \(field larger"),
        ("train.jsonl", '{"text": "a", "label": 1}\n{"text": "b"\n', r"train\.jsonl, line 2 is no JSON"),
        (
            "train.jsonl",
            '{"text": "a", "label": 1}\n{"text": "b"}\n',
            r"line 2 has no 'label', which the first line has",
        ),
        ("train.jsonl", '{"text": ["a"], "label": 1}\n', r"line 1 has list where text or a number is wanted"),
        ("train.tsv", "text\tlabel\nalone\n", r"train\.tsv, line 2 has 1 columns, not 2"),
        ("train.tsv", "a\tb\n" + "x" * 2**20 + "\ty\n", r"line 2 has more than 1,048,576 bytes"),
        ("train.parquet", "no such thing", r"train\.parquet cannot be read"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_its_line(tmp_path: Path, name: str, written: str, said: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_text(written)
    with pytest.raises(DataError, match=said):
        labelled(tmp_path)


def test_text_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_bytes(b"text,label\ngut,ja\nsch\xf6n,ja\n")
    with pytest.raises(DataError, match=r"train\.csv, line 3 is not UTF-8: byte 0xf6"):
        labelled(tmp_path)


def test_the_extra_is_named_where_its_library_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "train.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"need pyarrow, which is not here; .*\[tables\]"):
        labelled(tmp_path)


def test_one_table_is_divided_by_its_texts(tmp_path: Path) -> None:
    rows = [(f"text {i}", str(i % 2)) for i in range(200)]
    (tmp_path / "all.tsv").write_text("".join(f"{text}\t{label}\n" for text, label in rows * 2))
    parts = {split: labelled(tmp_path / "all.tsv", split) for split in ("train", "val", "test")}
    assert sorted(row for part in parts.values() for row in part) == sorted(
        ((text,), label) for text, label in rows * 2
    )
    assert len(parts["train"]) > 300
    assert all(len(part) > 4 for part in parts.values())
    assert not {row.texts for row in parts["train"]} & {row.texts for split in ("val", "test") for row in parts[split]}


def test_pairs_that_share_a_text_stay_together_on_whichever_side_it_is(tmp_path: Path) -> None:
    pairs = [(f"text {i}", f"text {i + 1 if i % 4 < 3 else i}") for i in range(800)]  # chains of four
    (tmp_path / "all.tsv").write_text(
        "sentence1\tsentence2\tlabel\n" + "".join(f"{first}\t{second}\t1\n" for first, second in pairs)
    )
    parts = {split: labelled(tmp_path / "all.tsv", split) for split in ("train", "val", "test")}
    seen = [{text for row in part for text in row.texts} for part in parts.values()]
    assert sum(map(len, parts.values())) == 800
    assert all(map(len, seen))
    assert sum(map(len, seen)) == len(set().union(*seen))


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no labelled set is called 'sst3' and nothing lies there; choose cola, mrpc"):
        labelled("sst3")
    with pytest.raises(ValueError, match="no split is called 'dev'; choose train, val, test"):
        labelled("sst2", "dev")
    with pytest.raises(ValueError, match="shakespeare has text, not labels; choose cola, mrpc, sst2, stsb"):
        labelled("shakespeare")
    (tmp_path / "all.xlsx").write_bytes(b"")
    with pytest.raises(DataError, match=r"all\.xlsx ends in none of \.tsv, \.csv"):
        labelled(tmp_path / "all.xlsx")
