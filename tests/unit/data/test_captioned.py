"""Pictures with captions: of the world, of Flickr8k and of folders, and rows that are kept in the cache."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from regard.data import DataError
from regard.data.captioned import Captioned, within
from regard.data.captions import captioned
from regard.data.described import in_order, world_captions
from regard.data.kept import TOGETHER, kept
from regard.world import scenes


def test_the_world_is_told_from_left_to_right_and_every_word_knows_its_thing() -> None:
    known = world_captions("test", things=(2, 2), count=20)
    assert known.truth is not None
    for i in range(20):
        truth = known.truth(i)
        things = truth.picture.scene.things
        named = [thing for thing in dict.fromkeys(truth.things) if thing >= 0]
        assert [things[thing].x for thing in named] == sorted(thing.x for thing in things)
        told = [(word, things[thing]) for word, thing in zip(truth.words, truth.things, strict=True) if thing >= 0]
        assert all(word in ("a", "an", it.colour, it.kind, it.scale, it.fill) for word, it in told)
        assert np.array_equal(np.asarray(known.picture(i)), truth.picture.rgb)


def test_in_a_mirror_the_world_is_told_the_other_way_round() -> None:
    known = world_captions("train", things=(2, 2), count=5)
    for i in range(5):
        first, second = known.captions[i][0].removeprefix("There is ").removesuffix(".").split(" and ")
        assert known.mirror(i, 0) == f"There is {second} and {first}."
    photos = Captioned((("a dog to the left of a tree on the right",),), lambda _: Image.new("RGB", (8, 8)))
    assert photos.mirror(0, 0) == "a dog to the right of a tree on the left"


def test_splits_of_the_world_do_not_meet_and_numbers_of_things_are_asked_for_by_name() -> None:
    few, many = captioned("world", "test", limit=30), captioned("world/3-4", "test", limit=30)
    assert {text.count(" a") for (text,) in few.captions} <= {1, 2, 3, 4}
    assert {len(many.truth(i).picture.scene.things) for i in range(30)} == {3, 4}  # type: ignore[misc]
    assert captioned("world/5", "val", limit=3).captions[0][0].count(",") == 3
    assert len({captioned("world", split, limit=10).checksum for split in ("train", "val", "test")}) == 3
    with pytest.raises(ValueError, match="no split is called 'dev'; choose train, val, test"):
        captioned("world", "dev")
    with pytest.raises(ValueError, match=r"\(3, 9\) things do not make a train scene"):
        captioned("world/3-9", limit=2)


def test_things_keep_the_numbers_of_their_scene() -> None:
    scene = scenes(things=(3, 3))[4]
    said = in_order(scene)
    for word, thing in zip(said.words, said.things, strict=True):
        if thing >= 0 and word not in ("a", "an"):
            it = scene.things[thing]
            assert word in (it.kind, it.colour, it.scale, it.fill)


@pytest.mark.usefixtures("published")
def test_flickr8k_has_five_captions_a_photograph_and_the_official_splits() -> None:
    known = captioned("flickr8k", "test")
    assert len(known) == 1000
    assert {len(some) for some in known.captions} == {5}
    assert not any(text.endswith((".", " ")) for some in known.captions for text in some)
    assert min(known.picture(0).size) == 128
    assert captioned("flickr8k", "val", limit=7).names == captioned("flickr8k", "val").names[:7]


def folder(path: Path, names: Sequence[str] = ("a.png", "b.png", "in/c.png")) -> Path:
    for i, name in enumerate(names):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (10 + i, 8)).save(path / name)
    return path


def test_a_folder_of_your_own_has_a_table_beside_its_pictures(tmp_path: Path) -> None:
    folder(tmp_path)
    rows: list[dict[str, Any]] = [
        {"image": "a.png", "captions": ["A dog.", "An animal."], "split": "train"},
        {"image": "in/c.png", "captions": ["A cat."], "split": "dev"},
        {"image": "b.png", "captions": "A bird.", "split": "train"},
    ]
    (tmp_path / "captions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    known = captioned(tmp_path, "train")
    assert known.captions == (("A dog.", "An animal."), ("A bird.",))
    assert known.pairs() == [(0, 0), (0, 1), (1, 0)]
    assert known.picture(1).size == (11, 8)
    assert captioned(tmp_path, "val").names == ("in/c.png",)
    with pytest.raises(DataError, match="has no captions for the split 'test'; give more pictures"):
        captioned(tmp_path, "test")


def test_a_table_with_tabs_gathers_captions_and_splits_go_by_the_name_of_the_file(tmp_path: Path) -> None:
    names = [f"{i}.png" for i in range(60)]
    folder(tmp_path, names)
    (tmp_path / "captions.tsv").write_text("".join(f"{name}#{j}\tcaption {j}\n" for name in names for j in range(2)))
    found = {split: captioned(tmp_path, split).names for split in ("train", "val", "test")}
    assert sorted(sum(found.values(), ())) == sorted(names)
    assert len(found["train"]) > 45
    assert captioned(tmp_path, "val").captions[0] == ("caption 0", "caption 1")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"image": "../a.png", "caption": "x"}', r"names '../a.png', which is no file inside of"),
        ('{"image": "/etc/passwd", "caption": "x"}', "which is no file inside of"),
        ('{"image": "a.png", "caption": "  "}', "line 1 has no caption of 1 to 2,000 characters; write one"),
        ('{"image": "a.png", "caption": 7}', "has no caption"),
        ('{"image": "z.png", "caption": "x"}', "has captions of 'z.png' and no such picture"),
        ('{"image": "a.png", "caption": "x", "split": "later"}', "has the split 'later'; choose train, val, test"),
        ('{"' + "imag" * 300 + '": "a.png", "caption": "x"}', "names its columns .{199}…; call them image and"),
        ('{"photograph": "a.png", "caption": "x"}', "names its columns photograph, caption; call them image and"),
        ("[1]", "holds list, not an object"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said_in_a_sentence(tmp_path: Path, line: str, words: str) -> None:
    folder(tmp_path)
    (tmp_path / "captions.jsonl").write_text(line)
    with pytest.raises(DataError, match=words):
        captioned(tmp_path, "train")


def test_data_without_captions_are_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pets has images without captions of pictures; choose world, flickr8k"):
        captioned("pets")
    with pytest.raises(DataError, match="no set with captions is called 'nowhere' and no folder lies there; choose wo"):
        captioned("nowhere")
    with pytest.raises(DataError, match=r"has no captions.jsonl, .* write a folder with captions.jsonl"):
        captioned(tmp_path)
    with pytest.raises(ValueError, match="picture 0 has no caption"):
        Captioned(((),), lambda _: Image.new("RGB", (8, 8)))
    with pytest.raises(IndexError, match="picture 5 is not among these 2"):
        captioned("world", limit=2).picture(5)


def test_names_of_strangers_lead_nowhere_else() -> None:
    assert all(map(within, ("a.png", "x/y.png", "..a.png")))
    assert not any(map(within, ("", "/a", "../a", "x/../../a", "C:/a", "..\\a")))


# --- rows that are kept


def test_rows_are_made_once_and_found_again(tmp_path: Path) -> None:
    asked: list[int] = []

    def make(rows: Sequence[int]) -> np.ndarray:
        asked.extend(rows)
        return np.asarray([[row, row + 0.5] for row in rows], np.float16)

    first = kept("numbers", "one key", 150, make, folder=tmp_path)
    again = kept("numbers", "one key", 150, make, folder=tmp_path)
    assert asked == list(range(150))
    assert first.dtype == np.float16
    assert isinstance(again, np.memmap)
    assert np.array_equal(first, again)
    assert again[149].tolist() == [149, 149.5]
    kept("numbers", "another key", 3, make, folder=tmp_path)
    assert len(asked) == 153
    assert len(list(tmp_path.glob("*.npy"))) == 2
    assert not list(tmp_path.glob("*.partial"))


def test_who_is_interrupted_goes_on_behind_the_last_whole_row(tmp_path: Path) -> None:
    asked: list[int] = []

    def make(rows: Sequence[int]) -> np.ndarray:
        if rows[0] >= 2 * TOGETHER and len(asked) == 2 * TOGETHER:
            asked.append(-1)
            raise KeyboardInterrupt
        asked.extend(rows)
        return np.asarray(rows, np.int64)[:, None]

    with pytest.raises(KeyboardInterrupt):
        kept("numbers", "key", 200, make, folder=tmp_path)
    (partial,) = tmp_path.glob("*.partial")
    with partial.open("ab") as file:
        file.write(b"abc")  # half a row
    found = kept("numbers", "key", 200, make, folder=tmp_path)
    assert found[:, 0].tolist() == list(range(200))
    assert asked == [*range(2 * TOGETHER), -1, *range(2 * TOGETHER, 200)]


def test_what_is_damaged_or_too_large_is_told(tmp_path: Path) -> None:
    def make(rows: Sequence[int]) -> np.ndarray:
        return np.zeros((len(rows), 4), np.float32)

    kept("numbers", "key", 5, make, folder=tmp_path)
    (path,) = tmp_path.glob("*.npy")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"is damaged .*; remove it, and it is made again"):
        kept("numbers", "key", 5, make, folder=tmp_path)
    with pytest.raises(DataError, match="would take 149 GB, and 16 are kept; take fewer or smaller pictures"):
        kept("numbers", "key", 10**10, make, folder=tmp_path)
    with pytest.raises(ValueError, match="0 rows are nothing to keep"):
        kept("numbers", "key", 0, make, folder=tmp_path)
