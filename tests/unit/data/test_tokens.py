"""Rows of ids on disk come back as they were, and a file that is not whole is refused."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import DataError, Tokens, write


@given(st.lists(st.lists(st.integers(0, 299))), st.sampled_from([300, 65_536, 65_537, 10**6]))
def test_rows_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]], vocab: int
) -> None:
    tokens = write(tmp_path_factory.mktemp("t") / "rows", rows, vocab=vocab)
    assert [row.tolist() for row in tokens] == rows
    assert len(tokens) == len(rows)
    assert tokens.lengths.tolist() == [len(row) for row in rows]
    assert (tokens.vocab, tokens._ids.itemsize) == (vocab, 2 if vocab <= 65_536 else 4)


def test_rows_are_read_from_the_file_and_travel_by_its_name(tmp_path: Path) -> None:
    tokens = write(tmp_path / "rows", ([i] * i for i in range(100)), vocab=100)
    assert tokens[-1].tolist() == [99] * 99
    assert not tokens[5].flags.writeable
    sent = pickle.dumps(tokens)
    assert len(sent) < 500
    assert pickle.loads(sent)[7].tolist() == [7] * 7
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]
    with pytest.raises(IndexError, match="row 100 is not among these 100"):
        tokens[100]


@pytest.mark.parametrize("wrong", [-1, 10])
def test_an_id_outside_the_vocabulary_is_not_written_and_the_old_file_stays(tmp_path: Path, wrong: int) -> None:
    write(tmp_path / "rows", [[1, 2]], vocab=10)
    with pytest.raises(ValueError, match=f"row 1 has id {wrong}, which is not below the vocabulary of 10"):
        write(tmp_path / "rows", [[3], [4, wrong]], vocab=10)
    assert Tokens(tmp_path / "rows")[0].tolist() == [1, 2]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("cut", [0, 10, 48, 50, 70, -1])
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "rows"
    write(path, [[1, 2], [3], [4, 5, 6]], vocab=10)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DataError, match=r"rows is no whole file of tokens: .*; write it again from the text"):
        Tokens(path)


def test_a_file_whose_numbers_are_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    write(path, [[1, 2], [3], [4, 5, 6]], vocab=10)
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    for place, said in ((0, "begin"), (16, "begin"), (24, "id 6 is not below"), (48, "id"), (72, "rows do not follow")):
        changed = whole.copy()
        changed[place] = 2 if place == 24 else 200
        path.write_bytes(changed.tobytes())
        with pytest.raises(DataError, match=said):
            Tokens(path)
