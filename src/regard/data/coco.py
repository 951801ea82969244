"""Annotations in the form of COCO: one JSON of pictures, marks and classes, and a folder of the pictures."""

import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from regard import files
from regard.data.album import Files
from regard.data.annotated import Detections, Marked, Objects, Segment
from regard.data.errors import DataError
from regard.data.rows import SPLITS, belongs, regular

LARGEST = 2**30  # bytes of JSON; COCO's own has 449 million


@dataclass(frozen=True, slots=True)
class Coco:
    """What such a file says: names of classes, names of pictures, what is marked in each, and its own record."""

    labels: tuple[str, ...]
    names: tuple[str, ...]
    objects: tuple[Objects, ...]
    records: tuple[dict[str, Any], ...]


def read_coco(path: Path) -> Coco:
    """Read annotations, which may be compressed by gzip; boxes without an area are left out."""
    regular(path)
    data = _json(path)
    try:
        classes = sorted(data["categories"], key=lambda each: each["id"])
        numbers = {each["id"]: number for number, each in enumerate(classes)}  # theirs have gaps
        marks: dict[Any, list[dict[str, Any]]] = {each["id"]: [] for each in data["images"]}
        for mark in data.get("annotations", ()):
            marks[mark["image_id"]].append(mark)
        return Coco(
            labels=tuple(str(each["name"]) for each in classes),
            names=tuple(str(each["file_name"]) for each in data["images"]),
            objects=tuple(_objects(marks[each["id"]], numbers) for each in data["images"]),
            records=tuple(data["images"]),
        )
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        said = f"{error} is missing or not known"[:200] if isinstance(error, KeyError) else str(error)[:200]
        raise DataError(f"{path} is not in the form of COCO: {said}; give images, annotations and categories") from None


def read_own(path: Path, split: str, pictures: Path | None = None) -> Detections:
    """Your own annotations: a JSON file that is divided by the names of its pictures, or a folder with one a split."""
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    if path.is_file():
        found = read_coco(path)
        rows = [row for row, name in enumerate(found.names) if belongs(name) == split]
        return _detections(found, rows, pictures or _beside(path.parent, found.names))
    for year in ("2017", "2014", ""):
        for annotations, homes in (
            (path / "annotations" / f"instances_{split}{year}.json", (path / f"{split}{year}", path / "images")),
            (path / split / "_annotations.coco.json", (path / split,)),
            (path / f"{split}.json", (path / split, path / "images", path)),
        ):
            if annotations.is_file():
                found = read_coco(annotations)
                home = pictures or next((each for each in homes if each.is_dir()), path)
                return _detections(found, list(range(len(found.names))), home)
    raise DataError(
        f"{path} has no annotations of the split {split!r}; put annotations/instances_{split}2017.json there and its "
        f"pictures in {split}2017, or give one JSON file"
    )


def _beside(folder: Path, names: tuple[str, ...]) -> Path:
    first = names[0] if names else ""
    return next((each for each in (folder, folder / "images") if (each / first).is_file()), folder)


def _detections(found: Coco, rows: list[int], folder: Path) -> Detections:
    if not rows:
        raise DataError(f"no pictures in {folder} belong to this split; add some, or choose another")
    names = tuple(found.names[row] for row in rows)
    paths = [_inside(folder, name) for name in names]
    return Detections(found.labels, Files(paths), Marked([found.objects[row] for row in rows]), names)


def _inside(folder: Path, name: str) -> Path:
    """The path of a picture, which an annotation cannot place elsewhere."""
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts or "\\" in name or ":" in name:
        raise DataError(
            f"a picture is called {name[:100]!r}, which is not within {folder}; give names without a way out"
        )
    return folder / parts


def _objects(marks: list[dict[str, Any]], numbers: dict[Any, int]) -> Objects:
    kept = [mark for mark in marks if mark["bbox"][2] > 0 and mark["bbox"][3] > 0]
    with np.errstate(over="ignore"):  # what is too large for a float is infinite
        boxes = np.asarray([mark["bbox"] for mark in kept], np.float32).reshape(-1, 4)
    if not np.isfinite(boxes).all():
        raise ValueError("a bbox has a number that is none")
    boxes[:, 2:] += boxes[:, :2]
    segments: list[Segment] = [mark.get("segmentation") or None for mark in kept]
    return Objects(
        boxes,
        np.asarray([numbers[mark["category_id"]] for mark in kept], np.int64),
        np.asarray([bool(mark.get("iscrowd", 0)) for mark in kept], bool),
        tuple(segments),
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as stream:
                data = stream.read(LARGEST + 1)
        else:
            data = files.read(path, LARGEST)
        if len(data) > LARGEST:
            raise ValueError(f"it unpacks to more than {LARGEST:,} bytes")
        found = json.loads(data)
    except (ValueError, OSError, EOFError, zlib.error, RecursionError) as error:
        raise DataError(f"{path} cannot be read ({error}); make or fetch it again") from None
    if not isinstance(found, dict):
        raise DataError(f"{path} holds {type(found).__name__} and no object; give images, annotations and categories")
    return found
