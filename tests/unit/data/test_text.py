"""Running text: named sets, files and folders, and articles without their markup."""

import gzip
import time
from pathlib import Path

import pytest

from regard.data import DataError, documents, passages, text
from regard.data.sentences import sentences
from regard.data.wiki import plain

DUMP = """<mediawiki xml:lang="en">
  <page>
    <title>Moon</title>
    <text xml:space="preserve">{{Planet|{{nested}}}}
'''The Moon''' is [[Earth|our planet]]'s only [[natural satellite]].&lt;ref&gt;[http://x.org A book]&lt;/ref&gt; It has
no air.

== Names ==
* a list item that is left out
[[Image:moon.jpg|thumb|A [[lunar]] picture]]
{| class=&quot;table&quot;
| a cell that is left out
|}
The word is old. See [http://y.org this page] for more &amp;mdash; or not.
[[Category:Moons]] [[de:Mond]]</text>
  </page>
  <page>
    <title>Luna</title>
    <text xml:space="preserve">#REDIRECT [[Moon]]</text>
  </page>
  <page>
    <title>Talk:Moon</title>
    <text xml:space="preserve">People talk about it here. They do so at length.</text>
  </page>
  <page>
    <title>Cut</title>
    <text xml:space="preserve">This page never ends. So it is left out.
"""


@pytest.mark.usefixtures("published")
def test_the_published_texts_are_divided_as_everybody_divides_them() -> None:
    sizes = {split: len(text("shakespeare", split)) for split in ("train", "val", "test")}
    assert sizes == {"train": 1_003_854, "val": 111_540, "test": 111_540}
    assert text("shakespeare", "val").startswith("?\n\nGREMIO:\nGood morrow")
    assert len(text("enwik8", "test").encode()) == 5_000_000
    assert text("flickr8k", "test").count("\n") == 5_000


@pytest.mark.usefixtures("published")
def test_documents_of_named_sets_are_articles_captions_and_speeches() -> None:
    first = next(documents("enwik8", "val"))
    assert first[1] == (
        "He is famous for his participation in the Napoleonic Wars, most notably in the Battle of Trafalgar, where he "
        "lost his life."
    )
    assert len(next(documents("flickr8k", "test"))) == 5
    assert next(documents("shakespeare")) == ["First Citizen:", "Before we proceed any further, hear me speak."]


def test_a_file_is_divided_by_place_at_the_ends_of_lines(tmp_path: Path) -> None:
    whole = "".join(f"line {i} – größer\n" for i in range(1000))
    (tmp_path / "all.txt").write_text(whole, encoding="utf-8")
    (tmp_path / "all.gz").write_bytes(gzip.compress(whole.encode()))
    parts = [text(tmp_path / "all.txt", split) for split in ("train", "val", "test")]
    assert "".join(parts) == whole
    assert all(part.endswith("\n") for part in parts)
    assert [round(len(part) / len(whole), 2) for part in parts] == [0.9, 0.05, 0.05]
    assert [text(tmp_path / "all.gz", split) for split in ("train", "val", "test")] == parts


def test_a_text_of_one_line_is_divided_between_characters(tmp_path: Path) -> None:
    for size in range(100, 108):
        (tmp_path / "one.txt").write_text("ü–" * size, encoding="utf-8")
        assert "".join(text(tmp_path / "one.txt", split) for split in ("train", "val", "test")) == "ü–" * size


def test_a_folder_of_texts_is_read_in_the_order_of_its_names_or_by_its_splits(tmp_path: Path) -> None:
    for i in range(20):
        (tmp_path / f"{i:02}.txt").write_text(f"chapter {i}\n")
    (tmp_path / "notes.md").write_text("not read")
    assert text(tmp_path, "train").split("\n")[:2] == ["chapter 0", "chapter 1"]
    assert text(tmp_path, "test") == "chapter 19\n"
    (tmp_path / "train.txt").write_text("learn")
    (tmp_path / "valid.txt").write_text("check")
    assert (text(tmp_path, "train"), text(tmp_path, "val")) == ("learn", "check")
    with pytest.raises(DataError, match=r"has a train\.txt and no test\.txt"):
        text(tmp_path, "test")


def test_text_comes_in_pieces_that_need_not_fit_in_memory(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("é" * 1_500_000, encoding="utf-8")
    pieces = list(passages(tmp_path, "train"))
    assert len(pieces) == 3
    assert "".join(pieces) == "é" * 1_500_000


def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_bytes(b"fine\nsch\xf6n\n")
    with pytest.raises(DataError, match=r"train\.txt, line 2 is not UTF-8: byte 0xf6"):
        text(tmp_path)
    (tmp_path / "train.txt").unlink()
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"fine")[:-6])
    with pytest.raises(DataError, match=r"a\.txt\.gz is cut short or damaged"):
        text(tmp_path)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no text is called 'nowhere' and nothing lies there; choose enwik8, flickr8k"):
        text("nowhere")
    with pytest.raises(DataError, match=r"has no files that end in \.txt"):
        text(tmp_path)
    with pytest.raises(ValueError, match="multi30k has pairs, not text; choose enwik8, flickr8k, shakespeare"):
        text("multi30k")


def test_articles_of_a_dump_have_lost_their_markup(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "train.txt").write_text(DUMP, encoding="utf-8")
    (article,) = documents(folder, "train")
    assert article == [
        "The Moon is our planet's only natural satellite.",
        "The word is old.",
        "See this page for more — or not.",
    ]


def test_markup_that_does_not_close_costs_no_time() -> None:
    for hostile in ("{{" * 20_000, "[[" * 20_000, "{|" * 20_000, "<ref " * 20_000, "<ref>" * 20_000, "<!--" * 20_000):
        began = time.process_time()
        plain(hostile)
        assert time.process_time() - began < 2.0


def test_blank_lines_divide_documents(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "train.txt").write_text("One is here. Two is there!\nThree.\n\n\nFour?\n")
    assert list(documents(folder)) == [["One is here.", "Two is there!", "Three."], ["Four?"]]


@pytest.mark.parametrize(
    ("paragraph", "found"),
    [
        ("He left. She stayed.", ["He left.", "She stayed."]),
        ("Mr. Smith of the U.S. Army met J. Doe.", ["Mr. Smith of the U.S. Army met J. Doe."]),
        ('"Really?" He was sure. 3.5 is a number.', ['"Really?"', "He was sure.", "3.5 is a number."]),
        ("no end", ["no end"]),
        ("  ", []),
    ],
)
def test_sentences_end_where_people_end_them(paragraph: str, found: list[str]) -> None:
    assert sentences(paragraph) == found
