"""Furniture as clouds of points: shapes of ten kinds, 1,024 points on the surface of each (Wu 2015).

The points were sampled from the published meshes; z is up, and all shapes of a kind are turned alike.
"""

import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.fetch import get
from regard.data.sensed import Held, Sensed

FILE = "modelnet10-1024.npz"
# fmt: off
DATASET = Dataset(
    name="modelnet10",
    kind="points",
    about="furniture of ten kinds as clouds of 1,024 points (Wu 2015)",
    terms="academic research",
    home="https://modelnet.cs.princeton.edu",
    # A tenth of each kind in the official train is val: those whose numbers have the smallest hashes.
    splits={"train": 3_595, "val": 396, "test": 908, "trainval": 3_991},
    files=(File(FILE, 9_503_902, "0c0cecea9a7ba76d09781f71389f6f72c4915cb78032d28a7e873ec10a876325"),),
)
# fmt: on
_UNIT = np.float32(127)  # the radius of a shape, as it is stored


def read(split: str) -> Sensed:
    """The shapes of a split, in the order of their numbers."""
    (path,) = get(DATASET)
    labels, targets, points = _arrays(path, "test" if split == "test" else "train")
    rows = _rows(targets, split)
    clouds = np.ascontiguousarray(points[rows].transpose(0, 2, 1).astype(np.float32) / _UNIT)
    named = tuple(f"{'test' if split == 'test' else 'train'} {row}" for row in rows.tolist())
    return Sensed("points", labels, targets[rows], Held(list(clouds)), named)


def _arrays(path: Path, part: str) -> tuple[tuple[str, ...], Int64[np.ndarray, " n"], np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as found:
            labels = tuple(str(each).replace("_", " ") for each in found["classes"])
            return labels, found[f"{part}_labels"].astype(np.int64), found[f"{part}_points"]
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is cut short or damaged ({error}); fetch {DATASET.name} again") from None


def _rows(targets: Int64[np.ndarray, " n"], split: str) -> Int64[np.ndarray, " m"]:
    if split in ("test", "trainval"):
        return np.arange(len(targets))
    order = sorted(range(len(targets)), key=lambda row: sha256(f"{DATASET.name} {row}".encode()).digest())
    kinds = [[row for row in order if targets[row] == kind] for kind in range(int(targets.max()) + 1)]
    held_out = {row for kind in kinds for row in kind[: len(kind) // 10]}
    return np.asarray([row for row in range(len(targets)) if (row in held_out) == (split == "val")], np.int64)
