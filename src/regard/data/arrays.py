"""Arrays of strangers in files of NumPy: mapped and not read, so that no header can claim more than its file has."""

from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from regard.data.errors import DataError
from regard.files import check

MAGIC = b"\x93NUMPY"


def map_array(path: Path, wanted: str) -> Shaped[np.ndarray, "rows columns"]:
    """The rows and columns of numbers in a .npy file; an error says what is wanted instead of what lies there."""
    try:
        check(path)
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError("it is no file that numpy.save has written")
        found: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy parses a header as Python, which fails in many ways
        raise DataError(f"{path} holds no {wanted} ({short(error)}); save an array of rows and columns") from None
    if found.ndim != 2:
        raise DataError(f"{path} has {found.ndim} dimensions; save an array of rows and columns")
    if found.dtype.kind not in "fiub":
        raise DataError(f"{path} holds {found.dtype} and no {wanted}; save an array of numbers")
    return found


def short(error: Exception) -> str:
    """What an error of a library says, in a line that is not too long."""
    return " ".join(str(error).split())[:200] or type(error).__name__
