"""Spoken digits of six people, 8,000 samples a second (Jackson 2018, the Free Spoken Digit Dataset)."""

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.fetch import get
from regard.data.sensed import Files, Held, Sensed, Source
from regard.data.tarred import members
from regard.sound import open_sound

ARCHIVE = "recordings.tar.gz"
# fmt: off
DATASET = Dataset(
    name="spoken-digits",
    kind="sounds",
    about="spoken digits of six people, 8 kHz (Jackson 2018, the Free Spoken Digit Dataset)",
    terms="CC BY-SA 4.0",
    home="https://github.com/Jakobovski/free-spoken-digit-dataset",
    # Of each digit by each person, numbers 0 to 4 are the official test; 5 to 9 are val, and trainval has all but test.
    splits={"train": 2_400, "val": 300, "test": 300, "trainval": 2_700},
    files=(File(ARCHIVE, 15_566_396, "8820f36df5772e0a5cd9cbc56b4654187bccedeb2742eb26f38f65eda48be132"),),
)
# fmt: on
LABELS = tuple(str(digit) for digit in range(10))
NAME = re.compile(r"([0-9])_([a-z]+)_([0-9]{1,4})\.wav")  # digit, person, number
_NUMBERS = {"test": range(5), "val": range(5, 10), "train": range(10, 10_000), "trainval": range(5, 10_000)}


def read(split: str) -> Sensed:
    """The recordings of a split."""
    (archive,) = get(DATASET)
    packed = {
        name.rpartition("/")[2]: data for name, data in members(archive, lambda name: name.endswith(".wav")).items()
    }
    names = _chosen(packed, split, archive)
    return _sensed(names, Held([open_sound(packed[name], name=f"{name} in {archive}") for name in names]))


def recognise(path: Path) -> bool:
    """Whether a folder is the home's repository, or has its recordings."""
    return any(NAME.fullmatch(each.name) for each in _folder(path).glob("0_*_0.wav"))


def read_own(path: Path, split: str) -> Sensed:
    """The recordings of such a folder."""
    folder = _folder(path)
    names = _chosen((each.name for each in folder.glob("*.wav")), split, folder)
    return _sensed(names, Files([folder / name for name in names]))


def _folder(path: Path) -> Path:
    return path / "recordings" if (path / "recordings").is_dir() else path


def _chosen(names: Iterable[str], split: str, place: Path) -> list[str]:
    found = [name for name in sorted(names) if (parts := NAME.fullmatch(name)) and int(parts[3]) in _NUMBERS[split]]
    if not found:
        raise DataError(
            f"{place} has no recordings for {split}, called as 7_jackson_32.wav; take it from {DATASET.home}"
        )
    return found


def _sensed(names: list[str], source: Source) -> Sensed:
    targets = np.asarray([int(name[0]) for name in names], np.int64)
    return Sensed("sounds", LABELS, targets, source, tuple(names))
