"""Texts with labels: a named set, a folder, or one table that is divided."""

from pathlib import Path

import pytest

from regard.data import SETS, DataError, labelled


@pytest.mark.usefixtures("published")
def test_the_published_phrases_are_as_many_as_stated() -> None:
    for split, count in SETS["sst2"].splits.items():
        rows = labelled("sst2", split)
        assert len(rows) == count
        assert {label for _, label in rows} == {"0", "1"}
    assert labelled("sst2", "test")[0] == ("it 's a charming and often affecting journey .", "1")


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
    assert labelled(tmp_path, "train") == [("good", "yes"), ("bad", "no")]
    assert labelled(tmp_path, "val") == [("fine", "yes")]
    with pytest.raises(DataError, match=r"has no test\.tsv or test\.tsv\.gz; put one of them there"):
        labelled(tmp_path, "test")


def test_one_table_is_divided_by_its_texts(tmp_path: Path) -> None:
    rows = [(f"text {i}", str(i % 2)) for i in range(200)]
    (tmp_path / "all.tsv").write_text("".join(f"{text}\t{label}\n" for text, label in rows * 2))
    parts = {split: labelled(tmp_path / "all.tsv", split) for split in ("train", "val", "test")}
    assert sorted(row for part in parts.values() for row in part) == sorted(rows * 2)
    assert len(parts["train"]) > 300
    assert all(len(part) > 4 for part in parts.values())
    assert not {text for text, _ in parts["train"]} & {text for split in ("val", "test") for text, _ in parts[split]}


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no labelled set is called 'sst3' and nothing lies there; choose sst2"):
        labelled("sst3")
    with pytest.raises(ValueError, match="no split is called 'dev'; choose train, val, test"):
        labelled("sst2", "dev")
