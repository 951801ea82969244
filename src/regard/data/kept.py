"""What is computed once and kept: rows of numbers in a file of the cache, memory-mapped, whole or to be continued.

A file is written beside its place, row by row, and renamed when it is whole. Who is interrupted goes on behind the last
whole row; a second process waits for the first and takes what it made. The key names everything that the rows depend
on, so that a file is never out of date.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from jaxtyping import Shaped

from regard.data.errors import DataError
from regard.data.fetch import alone, cache
from regard.progress import bar

LARGEST = 16 * 2**30  # bytes of a file
TOGETHER = 64  # rows that are made at once

Make = Callable[[Sequence[int]], Shaped[np.ndarray, "n ..."]]


def kept(name: str, key: str, count: int, make: Make, *, folder: Path | None = None) -> Shaped[np.ndarray, "n ..."]:
    """So many rows that `make` gives for their numbers, all of one shape and kind; made now, or found in the cache.

    `name` is for people, in the name of the file and of the progress; `key` is whatever the rows depend on.
    """
    if count < 1:
        raise ValueError(f"{count} rows are nothing to keep; give 1 or more")
    home = folder or cache() / "kept"
    path = home / f"{name}-{hashlib.sha256(f'{key} {count}'.encode()).hexdigest()[:24]}.npy"
    if not path.is_file():
        try:
            home.mkdir(parents=True, exist_ok=True)
            _fill(path, name, count, make)
        except OSError as error:
            raise DataError(
                f"{path} cannot be written ({error.strerror or error}); make room there, or let REGARD_CACHE name "
                "another folder"
            ) from None
    try:
        found: np.ndarray = np.load(path, mmap_mode="r")
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{path} is damaged ({error}); remove it, and it is made again") from None
    if len(found) != count:
        raise DataError(f"{path} has {len(found)} rows and not {count}; remove it, and it is made again")
    return found


def _fill(path: Path, name: str, count: int, make: Make) -> None:
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("ab") as lock, alone(lock):
        if path.is_file():  # another process was faster
            partial.unlink(missing_ok=True)
            return
        with partial.open("r+b") as out:
            done = _continue(out, count)
            with bar(name, float(count)) as progress:
                while done < count:
                    rows = np.ascontiguousarray(make(range(done, min(done + TOGETHER, count))))
                    if done == 0:
                        _begin(out, path, rows, count)
                    out.write(rows.tobytes())
                    done += len(rows)
                    progress(done)
            out.flush()
            os.fsync(out.fileno())
        partial.replace(path)


def _begin(out: IO[bytes], path: Path, rows: np.ndarray, count: int) -> None:
    if (needed := count * rows[0].nbytes) > LARGEST:
        raise DataError(
            f"{path.name} would take {needed / 2**30:.0f} GB, and {LARGEST // 2**30} are kept; take fewer or smaller "
            "pictures"
        )
    out.seek(0)
    out.truncate()
    described: dict[str, Any] = {
        "descr": np.lib.format.dtype_to_descr(rows.dtype),
        "fortran_order": False,
        "shape": (count, *rows.shape[1:]),
    }
    np.lib.format.write_array_header_1_0(out, described)


def _continue(out: IO[bytes], count: int) -> int:
    """How many whole rows an interrupted file has, behind which the stream then stands; what is no such file is 0."""
    try:
        np.lib.format.read_magic(out)
        shape, _, dtype = np.lib.format.read_array_header_1_0(out)
        first, size = out.tell(), int(np.prod(shape[1:])) * dtype.itemsize
        if shape[0] != count or size < 1:
            raise ValueError
    except ValueError:
        out.seek(0)
        out.truncate()
        return 0
    done = (out.seek(0, os.SEEK_END) - first) // size
    out.seek(first + done * size)
    out.truncate()
    return int(done)
