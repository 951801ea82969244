"""Files that are whole or not there, and files of strangers read within bounds."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

JSON = 16 * 2**20  # bytes of JSON that anybody needs


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside a file, to write to; at the end it takes the file's place, whole and on the disk, or is removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield beside
        with beside.open("r+b") as file:
            os.fsync(file.fileno())
        beside.replace(path)
        sync_folder(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def write(path: Path, data: str | bytes) -> None:
    """Put a file in its place, whole or not at all."""
    with replacing(path) as beside:
        beside.write_bytes(data.encode() if isinstance(data, str) else data)


def write_json(path: Path, value: object) -> None:
    """Write a value as people read JSON."""
    write(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def jsonable(value: Any) -> Any:
    """A value as JSON can hold it: dataclasses as objects, what is nothing of the kind as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return jsonable(asdict(value))
    if isinstance(value, dict):
        return {str(key): jsonable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk, where the system knows how."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check(path: Path, limit: int | None = None) -> int:
    """The size of a regular file; a ValueError for anything else, such as a pipe, which would never end."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise ValueError(f"{path} is no regular file")
    if limit is not None and about.st_size > limit:
        raise ValueError(f"{path} has {about.st_size:,} bytes, and at most {limit:,} are read")
    return about.st_size


def read(path: Path, limit: int) -> bytes:
    """The bytes of a regular file that is not larger than a limit, also if it grows meanwhile."""
    check(path, limit)
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"{path} has more than the {limit:,} bytes that are read")
    return data


def read_json(path: Path, limit: int = JSON) -> dict[str, Any]:
    """The object of a JSON file; a ValueError that names the file for whatever is none."""
    try:
        value = json.loads(read(path, limit))
    except (ValueError, RecursionError) as error:
        said = str(error) if str(path) in str(error) else f"{path} is no JSON: {error}"
        raise ValueError(said) from None
    if not isinstance(value, dict):
        raise ValueError(f"{path} holds {type(value).__name__} and no object")
    return value
