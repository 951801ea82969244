"""Points in files: tables of numbers, with a label for each row where there is one."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from regard.data.arrays import map_array, short
from regard.data.errors import DataError
from regard.files import check, read

LARGEST = 512 * 2**20  # bytes of a table as text; an array is mapped
LABELS = ("label", "class", "word", "name")  # what a column of labels may be called


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Points, a row each, and what each is called, if anything."""

    points: Float[np.ndarray, "n d"]
    labels: tuple[str, ...] = ()


def read_points(path: str | Path, labels: str | Path | None = None) -> Table:
    """The points of a .npy, .csv or .tsv file; `labels` is a text file with a line for each.

    In a table a first line without numbers names the columns, and the first column that holds no numbers, or is called
    label, class, word or name, has the labels.
    """
    path = Path(path)
    for each in (path, Path(labels or path)):
        if not each.exists():
            raise DataError(f"there is no file {each}; give one that is there")
    try:
        check(path)
        if path.suffix.lower() == ".npy":
            found = Table(_array(path))
        elif path.suffix.lower() in (".csv", ".tsv"):
            found = _table(path)
        else:
            raise DataError(f"{path} is no table that is known; give one that ends in .npy, .csv or .tsv")
        if labels is not None:
            names = read(Path(labels), LARGEST).decode("utf-8-sig").splitlines()
            if len(names) != len(found.points):
                raise DataError(f"{labels} has {len(names)} lines for {len(found.points)} points; give one for each")
            found = Table(found.points, tuple(names))
    except (OSError, ValueError) as error:
        said = str(error) if str(path) in str(error) else f"{path} cannot be read: {error}"
        raise DataError(said) from None
    return found


def _array(path: Path) -> Float[np.ndarray, "n d"]:
    array = map_array(path, "points")
    return array if array.dtype.kind == "f" and array.dtype.itemsize in (4, 8) else array.astype(np.float32)


def _table(path: Path) -> Table:
    text = read(path, LARGEST).decode("utf-8-sig")
    head = text.partition("\n")[0]
    sign = max("\t;,", key=head.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=sign) if row]
    except csv.Error as error:
        raise DataError(f"{path} is no table: {short(error)}") from None
    header = [name.strip().lower() for name in rows.pop(0)] if rows and not any(map(_number, rows[0])) else []
    if not rows:
        raise DataError(f"{path} has no rows of numbers; give one for each point")
    names = [place for place, name in enumerate(header) if name in LABELS]
    names += [place for place, cell in enumerate(rows[0]) if not _number(cell)]
    label = names[0] if names else None
    first, points, labels = 2 if header else 1, [], []
    for line, row in enumerate(rows, start=first):
        if len(row) != len(rows[0]):
            raise DataError(f"{path}, row {line}, has {len(row)} cells and the first has {len(rows[0])}; make it whole")
        try:
            points.append([float(cell) for place, cell in enumerate(row) if place != label])
        except ValueError as error:
            raise DataError(f"{path}, row {line}, holds a cell that is no number: {short(error)}") from None
        if label is not None:
            labels.append(row[label].strip())
    return Table(np.asarray(points, np.float32), tuple(labels))


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
