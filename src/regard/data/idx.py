"""Files of the form idx, in which MNIST and its like are published: sizes, then bytes."""

import gzip
import zlib
from math import prod
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from regard.data.errors import DataError

LARGEST = 2**30  # bytes


def read_idx(path: Path, dimensions: int) -> UInt8[np.ndarray, "..."]:
    """The bytes of a file, which may be compressed by gzip, in an array of so many dimensions."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            head = stream.read(4 + 4 * dimensions)
            if head[:4] != bytes((0, 0, 8, dimensions)) or len(head) < 4 + 4 * dimensions:
                raise DataError(f"{path} is no idx file of bytes in {dimensions} dimensions; fetch it again")
            shape = tuple(np.frombuffer(head, ">u4", offset=4).tolist())
            if prod(shape) > LARGEST:
                raise DataError(f"{path} claims {shape} bytes, and at most {LARGEST:,} are read; divide it")
            data = stream.read(prod(shape) + 1)
    except (EOFError, zlib.error, OSError) as error:
        raise DataError(f"{path} is cut short or damaged ({error}); make or fetch it again") from None
    if len(data) != prod(shape):
        raise DataError(
            f"{path} claims {shape} bytes and has {'more' if data[prod(shape) :] else len(data)}; fetch it again"
        )
    return np.frombuffer(data, np.uint8).reshape(shape)


def find_idx(folder: Path, name: str) -> Path | None:
    """A file of this name in a folder, compressed or not."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)
