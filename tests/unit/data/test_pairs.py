"""Sentence pairs: of named sets and of one's own files, split without leaks, refused where they are broken."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import SETS, DataError, divide, get, pairs, parallel, table
from regard.data.rows import _words, lines


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("name", ["multi30k", "tatoeba-en-it"])
def test_the_published_sets_have_the_stated_number_of_pairs(name: str) -> None:
    source, target = SETS[name].languages[:2]
    for split, count in SETS[name].splits.items():
        assert len(pairs(name, source, target, split)) == count
    assert len(get(SETS[name])) == len(SETS[name].files)


@pytest.mark.usefixtures("published")
def test_no_sentence_of_tatoeba_is_in_two_splits_in_either_language() -> None:
    split = {name: pairs("tatoeba-en-it", "it", "en", name) for name in ("train", "val", "test")}
    for side in (0, 1):
        said = [{_words(pair[side]) for pair in some} for some in split.values()]
        assert len(said[0] | said[1] | said[2]) == sum(map(len, said))
    assert ("Un gatto miagola.", "A cat meows.") in list(split["test"])


def test_pairs_of_the_world_are_written_as_people_write_and_have_no_end() -> None:
    view = pairs("world", "it", "en", "test")
    source, target = view[5]
    assert source[0].isupper()
    assert target.endswith((".", "?", "!"))
    assert pairs("world", "en", "it", "test")[5] == (target, source)
    assert len(view[:7]) == 7


@given(
    st.lists(st.tuples(st.sampled_from("abcdefghij"), st.sampled_from("ABCDEFGHIJklmno")), max_size=30), st.randoms()
)
def test_a_division_leaks_nothing_loses_nothing_and_ignores_the_order(
    whole: list[tuple[str, str]], dice: object
) -> None:
    split = divide(whole)
    assert sorted(pair for some in split.values() for pair in some) == sorted(whole)
    for side in (0, 1):
        said = [{_words(pair[side]) for pair in some} for some in split.values()]
        assert len(set().union(*said)) == sum(map(len, said))
    mixed = list(whole)
    dice.shuffle(mixed)  # type: ignore[attr-defined]
    assert {name: sorted(some) for name, some in divide(mixed).items()} == {n: sorted(s) for n, s in split.items()}


def test_a_division_is_about_nine_tenths_and_a_twentieth_each() -> None:
    split = divide([(f"sentence {i}", f"frase {i}") for i in range(4000)])
    assert 3500 < len(split["train"]) < 3700
    assert all(140 < len(split[name]) < 260 for name in ("val", "test"))


def test_ones_own_folder_and_table_are_read_packed_or_not(tmp_path: Path) -> None:
    (tmp_path / "train.de").write_bytes("\ufeffEin Hund\r\nläuft\u2028weg\n".encode())
    (tmp_path / "train.en.gz").write_bytes(gzip.compress(b"A dog\nruns away"))
    expected = [("Ein Hund", "A dog"), ("läuft\u2028weg", "runs away")]
    assert pairs(tmp_path, "de", "en") == expected
    (tmp_path / "my.tsv").write_text("".join(f"{a}\t{b}\tmore\n" for a, b in expected), encoding="utf-8")
    assert table(tmp_path / "my.tsv") == expected
    assert sum(len(pairs(tmp_path / "my.tsv", "de", "en", split)) for split in ("train", "val", "test")) == 2
    with pytest.raises(DataError, match=r"val\.de is missing, and so is val\.de\.gz; put one of them there"):
        pairs(tmp_path, "de", "en", "val")


def test_broken_files_are_named_with_their_line(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text("a\nb\n")
    bad.write_bytes(b"fine\nbro\xffken\n")
    with pytest.raises(DataError, match="bad, line 2 is not UTF-8: byte 0xff at place 3; mend the line"):
        parallel(good, bad)
    bad.write_text("one\n")
    with pytest.raises(DataError, match=r"good has 2 lines and .*bad has 1; line by line they must mean the same"):
        parallel(good, bad)
    with pytest.raises(DataError, match="good, line 1 has 1 columns, not 2; divide them by tabs"):
        table(good)
    packed = tmp_path / "cut.gz"
    for content in (gzip.compress(b"some\tlines\n" * 100)[:-9], b"no gzip at all"):
        packed.write_bytes(content)
        with pytest.raises(DataError, match=r"cut\.gz is cut short or damaged"):
            table(packed)


def test_what_a_set_does_not_have_is_refused_with_what_it_has() -> None:
    for arguments, said in (
        (("multi30k", "de", "it"), "multi30k has no language 'it'; it has en, de, fr, cs"),
        (("multi30k", "de", "de"), "a pair needs two languages, not 'de' twice"),
        (("multi30k", "de", "en", "test"), "multi30k has no split 'test'; it has train, val, test_2016_flickr"),
        (("multi30k", "en", "cs", "test_2017_flickr"), r"multi30k has no file 'test_2017_flickr\.cs\.gz'"),
        (("multi31k", "de", "en"), "no data set is called 'multi31k' and nothing lies there; choose multi30k, tatoeba"),
    ):
        with pytest.raises(ValueError, match=said):
            pairs(*arguments)


def test_a_line_without_end_is_refused_before_it_is_unpacked_whole(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.tsv.gz"
    bomb.write_bytes(gzip.compress(b"x" * 2**24))
    with pytest.raises(DataError, match=r"line 1 has more than 1,048,576 bytes; break it into lines"):
        list(lines(bomb))
