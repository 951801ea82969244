"""Records of a table of your own: CSV, TSV, JSON lines, Parquet, or one that Hugging Face's library has saved."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.arrow import read_parquet, read_saved
from regard.data.errors import DataError
from regard.data.rows import lines, regular

Cell = Any  # text of CSV and TSV; of the others also numbers and lists
IsHeader = Callable[[Set[str]], bool]  # whether cells, in small letters, are the names of columns


@dataclass(frozen=True, slots=True)
class Records:
    """Rows of a table, each with the number of its line; `columns` are their names, where the file says them."""

    path: Path
    columns: tuple[str, ...]
    rows: Iterator[tuple[int, Sequence[Cell]]]


def open_records(path: Path, is_header: IsHeader) -> Records:
    """Open a table by the end of its name; whether the first line of CSV and TSV names its columns, you know."""
    if path.is_dir():
        columns, rows = read_saved(path)
        return Records(path, columns, enumerate(rows, start=1))
    regular(path)
    reader = READERS.get(ending(path))
    if reader is None:
        raise DataError(f"{path} ends in none of {', '.join(READERS)}; rename it, or convert it to one of them")
    return reader(path, is_header)


def ending(path: Path) -> str:
    """The end of a file's name, without .gz."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _tsv(path: Path, is_header: IsHeader) -> Records:
    """Tabs divide cells, and nothing is quoted."""
    return _headed(path, ((number, line.split("\t")) for number, line in _full(path)), is_header)


def _csv(path: Path, is_header: IsHeader) -> Records:
    """Commas divide cells, or semicolons where the first line has no comma; quotes hold what has either inside."""
    first = next(lines(path), "")
    return _headed(path, _parse_csv(path, ";" if ";" in first and "," not in first else ","), is_header)


def _parse_csv(path: Path, delimiter: str) -> Iterator[tuple[int, Sequence[str]]]:
    reader = csv.reader((f"{line}\n" for line in lines(path)), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num} is no CSV ({error}); close each quote, and write one inside as two"
        ) from None


def _jsonl(path: Path, is_header: IsHeader) -> Records:  # noqa: ARG001 - every line names its columns
    found = (_parse_json(path, number, line) for number, line in _full(path))
    first = next(found, None)
    if first is None:
        return Records(path, (), iter(()))
    columns = tuple(first[1])

    def rows() -> Iterator[tuple[int, Sequence[Cell]]]:
        for number, record in (first, *found):
            if missing := next((name for name in columns if name not in record), None):
                raise DataError(f"{path}, line {number} has no {missing[:60]!r}, which the first line has; give it one")
            yield number, [record[name] for name in columns]

    return Records(path, columns, rows())


def _parse_json(path: Path, number: int, line: str) -> tuple[int, Mapping[str, Cell]]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, line {number} is no JSON ({error}); write one object a line") from None
    if not isinstance(record, dict):
        raise DataError(f"{path}, line {number} holds {type(record).__name__}, not an object; write one object a line")
    return number, record


def _parquet(path: Path, is_header: IsHeader) -> Records:  # noqa: ARG001 - the file names its columns
    columns, rows = read_parquet([path])
    return Records(path, columns, enumerate(rows, start=1))


def _full(path: Path) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(lines(path), start=1) if line.strip())


def _headed(path: Path, rows: Iterator[tuple[int, Sequence[str]]], is_header: IsHeader) -> Records:
    first = next(rows, None)
    if first is None:
        return Records(path, (), iter(()))
    cells = tuple(cell.strip() for cell in first[1])
    if is_header({cell.casefold() for cell in cells}):
        return Records(path, cells, rows)
    return Records(path, (), _chain(first, rows))


def _chain(
    first: tuple[int, Sequence[str]], rest: Iterator[tuple[int, Sequence[str]]]
) -> Iterator[tuple[int, Sequence[str]]]:
    yield first
    yield from rest


READERS: dict[str, Callable[[Path, IsHeader], Records]] = {
    ".tsv": _tsv,
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".parquet": _parquet,
    ".txt": _tsv,
}
