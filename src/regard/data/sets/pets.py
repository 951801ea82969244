"""Photographs of cats and dogs of 37 breeds, with the shape of each and its head (Parkhi 2012).

The files are a smaller copy: the short side has 128 pixels. Your own folder of the published ones may have `images`
and `annotations` as they are unpacked.
"""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from jaxtyping import Bool, UInt8

from regard.data.album import Files, Pictures, Source
from regard.data.annotated import Detections, Marked, Objects
from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.fetch import get
from regard.data.rows import lines
from regard.data.tarred import Tarred, members
from regard.vision.picture import open_picture, to_array

# fmt: off
DATASET = Dataset(
    name="pets",
    kind="images",
    about="photographs of cats and dogs of 37 breeds, with shapes and heads; the short side is 128 (Parkhi 2012)",
    terms="CC BY-SA 4.0; photographs: their owners' terms",
    home="https://www.robots.ox.ac.uk/~vgg/data/pets",
    # A tenth of each breed in the official trainval is val: those whose names have the smallest hashes.
    splits={"train": 3_315, "val": 365, "test": 3_669, "trainval": 3_680},
    files=(
        File("images.tar", 42_823_680, "7621b6c6999d8f361d2a850220508a5e24c9f1dcb67bbe3efd15f3e99972c950"),
        File("trainval.txt", 87_776, "408f3f609481b939c94634169e6413414b733a3faeba440cbdcc5c02142eebdc"),
        File("test.txt", 84_319, "a5454003774ffe01f4f322756d3ba5495bae21cb30bb217ab285dbfa2bef245c"),
        File("trimaps.tar.gz", 5_107_150, "465643d0baf219c414b52c8a269d375025b47ad2028e690ad0034d3faf564860"),
        File("empty-trimaps.txt", 408, "0b272e26ebacab49663629140d2a9ce48991a07a27c90a757bfa54b63e065486"),
        File("boxes.tsv.gz", 54_579, "28bf982e01c6f22e17740ad19d97f3e333e08adefc0365fe2a200caf3b92b6a8"),
    ),
)
# fmt: on
HEADS = ("cat head", "dog head")


@dataclass(frozen=True, slots=True, eq=False)
class Trimaps:
    """Which pixels are the pet (1), the background (2) or the border between (3), picture by picture.

    Some are empty as they are published: where `drawn` is False, nothing can be scored.
    """

    packed: tuple[bytes, ...]
    drawn: Bool[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.packed)

    def __getitem__(self, index: int) -> UInt8[np.ndarray, "h w"]:
        return to_array(open_picture(self.packed[index], name=f"trimap {index}"))[:, :, 0]


def read(split: str) -> Pictures:
    """The photographs of a split, by breed."""
    images, trainval, test = get(DATASET, ["images.tar", "trainval.txt", "test.txt"])
    rows = _rows(test if split == "test" else trainval, split)
    return _pictures(rows, Tarred.of(images, tuple(f"{name}.jpg" for name, _ in rows)))


def recognise(path: Path) -> bool:
    """Whether a folder has the published files, unpacked."""
    return (path / "annotations" / "trainval.txt").is_file() and (path / "images").is_dir()


def read_own(path: Path, split: str) -> Pictures:
    """The photographs of such a folder, in their own size."""
    rows = _rows(path / "annotations" / f"{'test' if split == 'test' else 'trainval'}.txt", split)
    return _pictures(rows, Files([path / "images" / f"{name}.jpg" for name, _ in rows]))


def trimaps(split: str) -> Trimaps:
    """The shapes of the pets, in the order of `read`."""
    packed, trainval, test, empty = get(DATASET, ["trimaps.tar.gz", "trainval.txt", "test.txt", "empty-trimaps.txt"])
    names = [name for name, _ in _rows(test if split == "test" else trainval, split)]
    found, bare = members(packed, lambda name: name.endswith(".png")), set(lines(empty))
    return Trimaps(tuple(found[f"{name}.png"] for name in names), np.asarray([name not in bare for name in names]))


def detections(split: str) -> Detections:
    """The heads of cats and dogs; the test has none, and a few photographs lack them."""
    if split == "test":
        raise ValueError("the heads of pets are marked in train and val alone; choose one of them")
    images, trainval, boxes = get(DATASET, ["images.tar", "trainval.txt", "boxes.tsv.gz"])
    table = dict[str, Objects]()
    for line in list(lines(boxes))[1:]:
        name, species, _, _, *corners = line.split("\t")
        marked = np.asarray([corners], np.float32)
        table[name] = Objects(marked, np.asarray([int(species == "dog")]), np.zeros(1, bool), (None,))
    names = [name for name, _ in _rows(trainval, split) if name in table]
    files = tuple(f"{name}.jpg" for name in names)
    return Detections(HEADS, Tarred.of(images, files), Marked([table[name] for name in names]), files)


def _rows(path: Path, split: str) -> list[tuple[str, int]]:
    """Names of photographs and the numbers of their breeds, from one on."""
    found = []
    for number, line in enumerate(lines(path), start=1):
        cells = line.split()
        if not cells or line.startswith("#"):
            continue
        if len(cells) < 2 or not cells[1].isdecimal() or "/" in cells[0]:
            raise DataError(f"{path}, line {number} is no name and number of a breed; fetch it again")
        found.append((cells[0], int(cells[1])))
    if split in ("test", "trainval"):
        return found
    held_out = _tenth(found)
    return [row for row in found if (row in held_out) == (split == "val")]


def _tenth(rows: list[tuple[str, int]]) -> set[tuple[str, int]]:
    """A tenth of each breed, the same whatever the order of the rows."""
    breeds: dict[int, list[tuple[str, int]]] = {}
    for row in sorted(rows, key=lambda row: sha256(row[0].encode()).digest()):
        breeds.setdefault(row[1], []).append(row)
    return {row for some in breeds.values() for row in some[: len(some) // 10]}


def _pictures(rows: list[tuple[str, int]], source: Source) -> Pictures:
    breeds = {number: name.rpartition("_")[0].replace("_", " ") for name, number in rows}
    labels = tuple(breeds[number] for number in sorted(breeds))
    targets = np.asarray([number - 1 for _, number in rows], np.int64)
    if sorted(breeds) != list(range(1, len(breeds) + 1)):
        raise DataError(f"the breeds are numbered {sorted(breeds)[:5]}…, and not from 1 on; fetch {DATASET.name} again")
    return Pictures(labels, targets, source, tuple(name for name, _ in rows))
