"""Pictures with labels and with boxes: named sets, folders of one's own, the world, and archives of strangers."""

import gzip
import io
import json
import pickle
import struct
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from regard.chance import Chance
from regard.data import SETS, Batches, DataError, Order, Pictures, detections, locate, pictures
from regard.data.album import held
from regard.data.masked import outlines
from regard.data.order import Rows
from regard.data.sets import MODULES
from regard.data.tarred import index, members
from regard.vision import PictureError, erase, flip, pad_and_crop, repeated
from regard.world import COLOURS, KINDS


def save(path: Path, colour: int = 0, size: tuple[int, int] = (10, 8)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (colour, 10, 20)).save(path)


def present(name: str) -> None:
    """Real files lie where REGARD_DATA or REGARD_CACHE says, and nothing is fetched for a test."""
    missing = [file.name for file in SETS[name].files if locate(SETS[name], file) is None]
    if missing:
        pytest.skip(f"{name} is not here: {missing[0]} is missing")


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("name", [name for name, dataset in SETS.items() if dataset.kind == "images"])
def test_the_published_sets_are_as_large_as_stated_and_have_every_class(name: str) -> None:
    present(name)
    if name == "digits":
        pytest.importorskip("sklearn")
    for split, count in list(SETS[name].splits.items())[:3]:
        found = pictures(name, split)
        assert len(found) == len(found.targets) == count
        assert set(found.targets.tolist()) == set(range(len(found.labels)))
        picture, target = found[-1]
        assert picture.mode == "RGB"
        assert target == found.targets[-1]


@pytest.mark.usefixtures("published")
def test_cifar_shows_what_its_labels_say() -> None:
    present("cifar10")
    test = pictures("cifar10", "test")
    assert [test.labels[target] for target in test.targets[:4]] == ["cat", "ship", "ship", "airplane"]
    pixels = test.arrays()
    assert pixels.shape == (10_000, 32, 32, 3)
    # The means of the colours that everybody subtracts, and a sky that is bluer than a frog.
    assert pictures("cifar10", "trainval").arrays(32).mean((0, 1, 2)) / 255 == pytest.approx(
        [0.4914, 0.4822, 0.4465], abs=1e-4
    )
    assert pixels[test.targets == 0][..., 2].mean() > pixels[test.targets == 6][..., 2].mean()
    assert pixels[0, 0, 0].tolist() == [158, 112, 49]


@pytest.mark.usefixtures("published")
def test_mnist_shows_what_its_labels_say() -> None:
    present("mnist")
    train = pictures("mnist", "trainval")
    assert train.targets[:6].tolist() == [5, 0, 4, 1, 9, 2]
    assert train.arrays()[..., 0].mean() / 255 == pytest.approx(0.1307, abs=1e-4)
    assert pictures("mnist", "val").arrays(32).shape == (10_000, 32, 32, 3)


@pytest.mark.usefixtures("published")
def test_pets_have_breeds_shapes_and_heads() -> None:
    present("pets")
    pets = MODULES["pets"]
    found, shapes = pictures("pets", "val"), pets.trimaps("val")
    assert found.labels[found.targets[0]] == "Abyssinian"
    assert not set(found.names) & set(pictures("pets", "train").names)
    assert np.bincount(found.targets).min() >= 9  # a tenth of each breed
    assert len(shapes) == len(found)
    for i in range(0, len(found), 60):
        assert set(np.unique(shapes[i])) <= {1, 2, 3}
        assert shapes[i].shape == found.picture(i).size[::-1]
    assert sum((~pets.trimaps(split).drawn).sum() for split in ("trainval", "test")) == 14
    heads = detections("pets", "train")
    assert heads.labels == ("cat head", "dog head")
    picture, objects = heads[0]
    left, top, right, bottom = objects.boxes[0]
    assert 0 <= left < right <= picture.width
    assert 0 <= top < bottom <= picture.height
    with pytest.raises(ValueError, match=r"marked in train and val alone"):
        detections("pets", "test")


@pytest.mark.usefixtures("published")
def test_pets_are_outlined_breed_after_breed_and_empty_shapes_are_left_out() -> None:
    present("pets")
    known, shapes = outlines("pets", "test"), MODULES["pets"].trimaps("test")
    assert len(known) == len(shapes) - (~shapes.drawn).sum()
    assert known.targets[:74].tolist() == [*range(37)] * 2
    assert np.bincount(known.targets).tolist() == np.bincount(pictures("pets", "test").targets[shapes.drawn]).tolist()
    seen = known.cut(range(37), 48)
    assert seen.pixels.shape == (37, 48, 48, 3)
    assert not (seen.masks & seen.unsure).any()
    assert 0.2 < seen.masks.mean() < 0.6
    assert 0.05 < seen.unsure.mean() < 0.25
    # The square of a shape is that of its photograph: row 0 is the first Abyssinian.
    where = int(np.flatnonzero(shapes.drawn & (pictures("pets", "test").targets == 0))[0])
    whole, side = shapes[where], min(shapes[where].shape)
    top, left = ((length - side) // 2 for length in whole.shape)
    np.testing.assert_array_equal(known.cut([0], side).masks[0], whole[top : top + side, left : left + side] == 1)


def test_the_one_thing_of_a_big_picture_is_outlined() -> None:
    known, shown = outlines("world/big"), pictures("world/big", "test")
    seen = known.cut(range(4), 64)
    np.testing.assert_array_equal(seen.pixels, [np.asarray(shown.picture(i)) for i in range(4)])
    assert (seen.masks.mean(axis=(1, 2)) > 0.05).all()
    assert not seen.unsure.any()


@pytest.mark.usefixtures("published")
def test_coco_has_boxes_masks_and_crowds() -> None:
    present("coco128")
    marks = crowds = 0
    for split in ("train", "val"):
        found = detections("coco128", split)
        assert (len(found), len(found.labels)) == (100, 80)
        for i in range(len(found)):
            objects = found.objects(i)
            marks, crowds = marks + len(objects.boxes), crowds + int(objects.crowd.sum())
            assert (objects.boxes[:, 2:] > objects.boxes[:, :2]).all()
        picture, objects = found[0]
        masks = objects.masks(picture.height, picture.width)
        for mask, (left, top, right, bottom) in zip(masks, objects.boxes, strict=True):
            rows, columns = np.nonzero(mask)
            assert left - 3 <= columns.min() <= columns.max() <= right + 3
            assert top - 3 <= rows.min() <= rows.max() <= bottom + 3
    assert (marks, crowds) == (1458, 11)


def test_a_set_that_is_not_here_says_where_to_take_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    with pytest.raises(DataError, match=r"take it from https://www.robots.ox.ac.uk/.*, and give the folder in place"):
        pictures("pets")
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(DataError, match=r"digits comes with scikit-learn, which is not here; run: pip install"):
        pictures("digits")


def test_the_class_of_a_picture_of_the_world_is_its_largest_thing() -> None:
    found = pictures("world", "val")
    assert len(found.labels) == len(KINDS) * len(COLOURS)
    source: Any = found.source
    for i in range(12):
        things = source.view[source.numbers[i]].things
        largest = max(things, key=lambda thing: thing.size)
        assert found.labels[found.targets[i]] == f"{largest.colour} {largest.kind}"
    shown = found.part(np.arange(2))
    assert np.array_equal(shown.arrays(64), np.stack([np.asarray(found.picture(i)) for i in range(2)]))
    with pytest.raises(ValueError, match="no split is called 'novel'; choose train, val, test"):
        pictures("world", "novel")


def test_one_big_thing_fills_a_picture_of_the_big_world() -> None:
    known, others = (pictures("world/big", split) for split in ("test", "val"))
    assert len(known) == len(others) == 1000
    assert known.checksum != others.checksum
    for i in range(5):
        shown = known.source.render(i)  # type: ignore[attr-defined]
        (thing,) = shown.scene.things
        assert known.labels[known.targets[i]] == f"{thing.colour} {thing.kind}"
        assert shown.visible[0].mean() > 0.07


def test_the_boxes_of_the_world_lie_around_its_masks() -> None:
    found = detections("world", "test")
    for i in range(20):
        picture, objects = found[i]
        for mask, box in zip(objects.masks(96, 96), objects.boxes, strict=True):
            rows, columns = np.nonzero(mask)
            assert box.tolist() == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        assert picture.size == (96, 96)
    assert not set(found.names) & set(detections("world", "train").names)


def test_a_folder_of_class_folders_is_divided_by_names(tmp_path: Path) -> None:
    for label in ("cat", "dog"):
        for i in range(60):
            save(tmp_path / label / f"{i}.png", i)
    (tmp_path / "cat" / "notes.txt").write_text("no picture")
    found = {split: pictures(tmp_path, split) for split in ("train", "val", "test")}
    assert sum(len(each) for each in found.values()) == 120
    assert len(found["train"]) > 90
    assert all(each.labels == ("cat", "dog") for each in found.values())
    assert len({name for each in found.values() for name in each.names}) == 120
    train = found["train"]
    assert [name.partition("/")[0] for name in train.names] == [train.labels[target] for target in train.targets]
    before = train.names
    save(tmp_path / "cat" / "zzz.png")  # one more does not move the others
    assert set(before) <= set(pictures(tmp_path, "train").names)


def test_a_folder_may_have_its_splits_and_val_is_made_of_train_where_it_is_missing(tmp_path: Path) -> None:
    for split, count in (("train", 50), ("test", 3)):
        for label in ("cat", "dog"):
            for i in range(count):
                save(tmp_path / split / label / f"{i}.png", i)
    sizes = {split: len(pictures(tmp_path, split)) for split in ("train", "val", "test")}
    assert sizes["train"] + sizes["val"] == 100
    assert (sizes["test"], sizes["val"] > 0) == (6, True)
    save(tmp_path / "valid" / "dog" / "0.png")
    found = pictures(tmp_path, "val")
    assert (len(found), len(pictures(tmp_path, "train"))) == (1, 100)
    assert found.labels[found.targets[0]] == "dog"
    save(tmp_path / "valid" / "cow" / "0.png")
    with pytest.raises(DataError, match=r"valid has a class 'cow' that train has not"):
        pictures(tmp_path, "val")


def test_what_is_no_set_of_pictures_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"no set of pictures is called 'cifar' .*choose world, cifar10, digits, mnist, pets"
    ):
        pictures("cifar")
    with pytest.raises(ValueError, match=r"sst2 has labels, not images with labels; choose world, cifar10"):
        pictures("sst2")
    with pytest.raises(ValueError, match=r"cifar10 has no split 'dev'; it has train, val, test, trainval"):
        pictures("cifar10", "dev")
    with pytest.raises(DataError, match=r"has no folders with pictures; put one there for each class"):
        pictures(tmp_path)
    (tmp_path / "cat").mkdir()
    with pytest.raises(DataError, match=r"has no pictures for this split; put some there that end in \.jpg"):
        pictures(tmp_path)
    save(tmp_path / "cat" / "0.png")
    with pytest.raises(DataError, match=r"by the names of its pictures, and of so few \(1\) none falls to test; give"):
        pictures(tmp_path, "test")
    with pytest.raises(ValueError, match=r"mnist has images without boxes; choose world, coco128, pets"):
        detections("mnist")
    with pytest.raises(
        DataError, match=r"has no annotations of the split 'train'; put annotations/instances_train2017"
    ):
        detections(tmp_path)


def test_a_damaged_picture_is_named_when_it_is_asked_for(tmp_path: Path) -> None:
    for i in range(3):
        save(tmp_path / "train" / "cat" / f"{i}.png")
    (tmp_path / "train" / "cat" / "1.png").write_bytes(b"no picture")
    (tmp_path / "val" / "cat").mkdir(parents=True)
    found = pictures(tmp_path)
    assert found.picture(0).size == (10, 8)
    with pytest.raises(PictureError, match=r"1\.png is no picture of a known format"):
        found.picture(1)
    with pytest.raises(IndexError, match="picture 3 is not among these 3"):
        found.picture(3)


def test_all_pictures_at_once_are_squares_that_are_made_once(tmp_path: Path) -> None:
    for i in range(3):
        save(tmp_path / "train" / "cat" / f"{i}.png", 100 + i, (10 + i, 20))
        save(tmp_path / "val" / "cat" / f"{i}.png")
    found = pictures(tmp_path)
    pixels = found.arrays(6)
    assert pixels[:, 0, 0, 0].tolist() == [100, 101, 102]
    assert found.arrays(6) is pixels
    with pytest.raises(ValueError, match="read-only"):
        pixels[0] = 0
    with pytest.raises(ValueError, match=r"sizes of their own; ask for one, as by arrays\(64\)"):
        found.arrays()
    with pytest.raises(ValueError, match=r"3 pictures of 30000 pixels take 7\.5 GB, and 4 are kept; ask for a smaller"):
        found.arrays(30_000)
    again: Pictures = pickle.loads(pickle.dumps(found))
    assert again.checksum == found.checksum != found.part(np.arange(2)).checksum
    assert np.array_equal(np.asarray(again.picture(1)), np.asarray(found.picture(1)))


def test_batches_that_are_varied_are_met_again_by_a_run_that_goes_on() -> None:
    found = held(["a", "b"], np.arange(20) % 2, np.random.default_rng(0).integers(0, 256, (20, 8, 8, 3), np.uint8))

    def collate(rows: Rows, chance: Chance | None) -> tuple[Rows, np.ndarray]:
        if chance is None:
            return rows, found.arrays()[rows]
        rows = repeated(rows, 2)
        return rows, erase(flip(pad_and_crop(found.arrays()[rows], chance, 2), chance), chance)

    def batches() -> Batches[tuple[Rows, np.ndarray]]:
        return Batches(Order(np.ones(20, np.int64), room=6, data=found.checksum), collate)

    whole, later = batches(), batches()
    seen = [next(whole) for _ in range(9)]
    later.restore({**later.state, "taken": 5})
    for rows, pixels in seen[5:]:
        again, same = next(later)
        assert np.array_equal(again, rows)
        assert np.array_equal(same, pixels)
    assert sum(len(rows) for rows, _ in whole.once()) == 20


def test_files_of_the_form_of_mnist_are_read_compressed_or_not(tmp_path: Path) -> None:
    pixels, labels = np.arange(12 * 4 * 4, dtype=np.uint8).reshape(12, 4, 4), bytes([0, 1, 2] * 4)
    for stem in ("train", "t10k"):
        (tmp_path / f"{stem}-images-idx3-ubyte.gz").write_bytes(
            gzip.compress(struct.pack(">IIII", 0x803, 12, 4, 4) + pixels.tobytes())
        )
        (tmp_path / f"{stem}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, 12) + labels)
    assert len(pictures(tmp_path, "train")) + len(pictures(tmp_path, "val")) == 12
    found = pictures(tmp_path, "test")
    assert (found.labels, found.targets[:4].tolist()) == (("0", "1", "2"), [0, 1, 2, 0])
    assert np.array_equal(found.arrays()[..., 1], pixels)
    path = tmp_path / "t10k-labels-idx1-ubyte"
    for data, said in (
        (path.read_bytes()[:-1], r"claims \(12,\) bytes and has 11"),
        (path.read_bytes() + b"!", r"has more; fetch it again"),
        (b"hello", r"is no idx file of bytes in 1 dimensions"),
        (struct.pack(">II", 0x801, 2**31), r"at most 1,073,741,824 are read"),
    ):
        path.write_bytes(data)
        with pytest.raises(DataError, match=said):
            pictures(tmp_path, "test")
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(b"\x1f\x8b\x08broken")
    with pytest.raises(DataError, match="cut short or damaged"):
        pictures(tmp_path, "test")


def test_the_binary_version_of_cifar_is_read_from_its_archive(tmp_path: Path) -> None:
    rows = np.zeros((10_000, 3073), np.uint8)
    rows[:, 0] = np.arange(10_000) % 10
    rows[1, 1:] = np.repeat(np.asarray([10, 20, 30], np.uint8), 1024)
    path = tmp_path / "cifar-10-binary.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        member = tarfile.TarInfo("cifar-10-batches-bin/test_batch.bin")
        member.size = rows.size
        archive.addfile(member, io.BytesIO(rows.tobytes()))
    found = pictures(path, "test")
    assert found.targets[:3].tolist() == [0, 1, 2]
    assert found.picture(1).getpixel((31, 31)) == (10, 20, 30)
    with pytest.raises(DataError, match=r"has no whole data_batch_1\.bin; take cifar-10-binary\.tar\.gz from"):
        pictures(path, "train")


def test_the_published_folder_of_pets_is_known(tmp_path: Path) -> None:
    (tmp_path / "annotations").mkdir()
    rows = [f"Abyssinian_{i} 1 1 1" for i in range(20)] + [f"great_dane_{i} 2 2 1" for i in range(20)]
    (tmp_path / "annotations" / "trainval.txt").write_text("\n".join(["# a comment", *rows]))
    for row in rows:
        save(tmp_path / "images" / f"{row.split()[0]}.jpg")
    found = pictures(tmp_path, "val")
    assert (found.labels, len(found), len(pictures(tmp_path, "trainval"))) == (("Abyssinian", "great dane"), 4, 40)
    assert found.picture(3).size == (10, 8)


def coco(folder: Path, count: int = 40, **changes: Any) -> Path:
    """Annotations of pictures, each with one box, and their files."""
    folder.mkdir(exist_ok=True)
    for i in range(count):
        save(folder / "images" / f"{i}.png", i)
    data = {
        "images": [{"id": 100 + i, "file_name": f"{i}.png", "width": 10, "height": 8} for i in range(count)],
        "categories": [{"id": 7, "name": "cow"}, {"id": 3, "name": "cat"}],
        "annotations": [
            {
                "id": i,
                "image_id": 100 + i,
                "category_id": 7 if i % 2 else 3,
                "bbox": [1, 2, 3.5, 4],
                "iscrowd": i % 5 == 0,
            }
            | ({"segmentation": [[1, 2, 4, 2, 4, 6, 1, 6]]} if i % 2 else {})
            for i in range(count)
        ],
    } | changes
    path = folder / "marks.json"
    path.write_text(json.dumps(data))
    return path


def test_annotations_in_the_form_of_coco_are_divided_by_the_names_of_pictures(tmp_path: Path) -> None:
    path = coco(tmp_path / "own")
    found = [detections(path, split) for split in ("train", "val", "test")]
    assert sum(len(each) for each in found) == 40
    train = found[0]
    assert train.labels == ("cat", "cow")  # in the order of their numbers
    for i, name in enumerate(train.names[:6]):
        number = int(name.removesuffix(".png"))
        picture, objects = train[i]
        assert picture.getpixel((0, 0)) == (number, 10, 20)
        assert objects.boxes.tolist() == [[1.0, 2.0, 4.5, 6.0]]
        assert (objects.targets[0], objects.crowd[0]) == (number % 2, number % 5 == 0)
        assert objects.masks(8, 10).sum() == (12 if number % 2 else 0)
    assert len(detections(path, "train", images=tmp_path / "own" / "images")) == len(train)


def test_a_folder_as_that_of_coco_is_known(tmp_path: Path) -> None:
    path = coco(tmp_path / "made", 4)
    (tmp_path / "annotations").mkdir()
    path.rename(tmp_path / "annotations" / "instances_val2017.json")
    (tmp_path / "made" / "images").rename(tmp_path / "val2017")
    assert detections(tmp_path, "val")[3][0].size == (10, 8)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"images": [{"id": 1, "file_name": "../secret.png"}], "annotations": []},
            r"'\.\./secret\.png', which is not within",
        ),
        ({"images": [{"id": 1, "file_name": "/etc/secret.png"}], "annotations": []}, r"is not within"),
        ({"categories": []}, r"not in the form of COCO: 3 is missing or not known"),
        ({"images": []}, r"not in the form of COCO: 100 is missing"),
        ({"images": 7}, r"not in the form of COCO"),
        ({"annotations": [{"image_id": 100, "category_id": 3, "bbox": [0, 0, 5]}]}, r"not in the form of COCO"),
    ],
)
def test_annotations_of_strangers_are_checked(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = coco(tmp_path / "own", 2, **changes)
    with pytest.raises(DataError, match=said):
        [detections(path, split) for split in ("train", "val", "test")]


def test_json_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "marks.json"
    for data in ("{", "[" * 100_000, "[1]"):
        path.write_text(data)
        with pytest.raises(DataError, match=r"marks\.json (cannot be read|holds list and no object)"):
            detections(path)


def test_an_archive_of_strangers_gives_regular_files_only_and_within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "some.tar"
    with tarfile.open(path, "w") as archive:
        for name, kind in (("a.png", tarfile.REGTYPE), ("link.png", tarfile.SYMTYPE), ("pipe.png", tarfile.FIFOTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            member.size = 5 if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(b"hello"))
    place = index(path)["a.png"]
    assert list(index(path)) == ["a.png"]
    assert path.read_bytes()[place.start : place.start + place.size] == b"hello"
    assert members(path, lambda name: True) == {"a.png": b"hello"}
    with pytest.raises(DataError, match=r"a\.png in .*some\.tar has more than 3 bytes"):
        members(path, lambda name: True, limit=3)
    (tmp_path / "packed.tar.gz").write_bytes(gzip.compress(path.read_bytes())[:60])
    with pytest.raises(DataError, match=r"packed\.tar\.gz is cut short or damaged"):
        members(tmp_path / "packed.tar.gz", lambda name: True)


def test_an_archive_that_unpacks_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.data.tarred.UNPACKED", 100_000)
    member = tarfile.TarInfo("a.png")
    member.size = 10**7
    path = tmp_path / "bomb.tar.gz"
    path.write_bytes(gzip.compress(member.tobuf() + bytes(10**7)))
    with pytest.raises(DataError, match=r"bomb\.tar\.gz unpacks to more than 100,000 bytes; divide it"):
        members(path, lambda name: False)
