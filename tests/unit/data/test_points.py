"""Tables of numbers, with labels or without, and what is wrong with them in a sentence."""

from pathlib import Path

import numpy as np
import pytest

from regard.data.errors import DataError
from regard.data.points import read_points


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("text", "points", "labels"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]], ()),
        ("x,y\n1,2\n3,4\n", [[1, 2], [3, 4]], ()),
        ("x,y,label\n1,2,7\n3,4,8\n", [[1, 2], [3, 4]], ("7", "8")),
        ("king;1;2\nqueen;3;-4e1\n", [[1, 2], [3, -40]], ("king", "queen")),
        ("1\t2\tdog\n3\t4\tcat\n\n", [[1, 2], [3, 4]], ("dog", "cat")),
    ],
)
def test_tables_are_read_as_people_write_them(
    tmp_path: Path, text: str, points: list[list[int]], labels: tuple[str, ...]
) -> None:
    found = read_points(written(tmp_path, text))
    np.testing.assert_array_equal(found.points, points)
    assert found.labels == labels


def test_arrays_are_mapped_and_labels_may_lie_beside(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(6).reshape(3, 2))
    names = written(tmp_path, "a\nb\nc\n", "names.txt")
    found = read_points(tmp_path / "a.npy", names)
    assert found.points.dtype == np.float32
    assert found.labels == ("a", "b", "c")
    with pytest.raises(DataError, match=r"names.txt has 3 lines for 2 points"):
        read_points(written(tmp_path, "1,2\n3,4\n"), names)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no rows of numbers"),
        ("x,y\n", "has no rows of numbers"),
        ("1,2\n3\n", "row 2, has 1 cells and the first has 2"),
        ("1,2\n3,dog\n", "row 2, holds a cell that is no number"),
    ],
)
def test_a_broken_table_is_told_by_row(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_points(written(tmp_path, text))


def test_files_of_strangers_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no file .*missing.csv"):
        read_points(tmp_path / "missing.csv")
    (tmp_path / "p.npy").write_bytes(b"\x93NUMPY nothing")
    with pytest.raises(DataError, match=r"p.npy holds no points"):
        read_points(tmp_path / "p.npy")
    np.save(tmp_path / "o.npy", np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(DataError, match=r"o.npy"):
        read_points(tmp_path / "o.npy")
    np.save(tmp_path / "line.npy", np.zeros(4))
    with pytest.raises(DataError, match=r"line.npy has 1 dimensions; save an array of rows and columns"):
        read_points(tmp_path / "line.npy")
    (tmp_path / "b.csv").write_bytes(b"1,\xff\n")
    with pytest.raises(DataError, match="cannot be read"):
        read_points(tmp_path / "b.csv")
    with pytest.raises(DataError, match=r"ends in .npy, .csv or .tsv"):
        read_points(written(tmp_path, "1", "t.xls"))
