"""Your own pictures, sounds or clouds: a folder for each class, in folders for the splits or not."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from regard.data.album import Files, Pictures
from regard.data.errors import DataError
from regard.data.places import ALSO
from regard.data.rows import belongs

ENDS = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".pgm")


class Classed(NamedTuple):
    """Files with a class each: what the classes are called, the number of each file's, and where it lies."""

    labels: tuple[str, ...]
    targets: np.ndarray
    paths: list[Path]
    names: tuple[str, ...]  # of the files within their folder


def class_folders(folder: Path, split: str) -> Pictures:
    """The pictures of a split, as `class_files` divides them."""
    found = class_files(folder, split)
    return Pictures(found.labels, found.targets, Files(found.paths), found.names)


def class_files(folder: Path, split: str, ends: tuple[str, ...] = ENDS, what: str = "pictures") -> Classed:
    """The files of a split; where the folder has no folder called train, they are divided by their names.

    Nine tenths are to learn from, a twentieth is val and one is test. Where only val is missing, it is that twentieth
    of train.
    """
    homes = {name: _home(folder, name) for name in ALSO}
    if homes["train"] is None:
        labels = _labels(folder, what)
        every = _files(folder, labels, ends)
        paths = [path for path in every if _fold(folder, path) == split]
        if every and not paths:
            raise DataError(
                f"{folder} is divided by the names of its {what}, and of so few ({len(every)}) none falls to {split}; "
                "give more, or divide them yourself into folders train, val and test"
            )
        return _classed(folder, labels, paths, ends, what)
    labels = _labels(homes["train"], what)
    home = homes[split] or (homes["train"] if split == "val" else None)
    if home is None:
        raise DataError(f"{folder} has a folder train and none called {split}; put one there")
    strange = sorted(set(_labels(home, what)) - set(labels))
    if strange:
        raise DataError(f"{home} has a class {strange[0]!r} that train has not; remove it, or add it to train")
    paths = _files(home, labels, ends)
    if homes["val"] is None and split != "test":
        paths = [path for path in paths if (_fold(home, path) == "val") == (split == "val")]
    return _classed(home, labels, paths, ends, what)


def _home(folder: Path, split: str) -> Path | None:
    return next((folder / name for name in ALSO[split] if (folder / name).is_dir()), None)


def _labels(folder: Path, what: str) -> list[str]:
    found = sorted(each.name for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))
    if not found:
        raise DataError(f"{folder} has no folders with {what}; put one there for each class, called as the class is")
    return found


def _files(folder: Path, labels: list[str], ends: tuple[str, ...]) -> list[Path]:
    return [
        path
        for label in labels
        if (folder / label).is_dir()
        for path in sorted((folder / label).rglob("*"))
        if path.suffix.lower() in ends and not path.name.startswith(".") and path.is_file()
    ]


def _fold(folder: Path, path: Path) -> str:
    return belongs(path.relative_to(folder).as_posix())


def _classed(folder: Path, labels: list[str], paths: list[Path], ends: tuple[str, ...], what: str) -> Classed:
    if not paths:
        raise DataError(f"{folder} has no {what} for this split; put some there that end in {', '.join(ends)}")
    names = [path.relative_to(folder) for path in paths]
    numbers = {label: number for number, label in enumerate(labels)}
    targets = np.asarray([numbers[name.parts[0]] for name in names], np.int64)
    return Classed(tuple(labels), targets, paths, tuple(name.as_posix() for name in names))
