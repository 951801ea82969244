"""Which product is the fastest for so many rows: the one place that chooses. `python -m bench language` has its table.

Writing word by word multiplies large matrices with few rows. torch's own product reads them at half the speed of the
memory there, and splits its work badly; two others do not, once the matrix is packed for them.
"""

import sys
from functools import cache
from importlib import import_module
from typing import Any, Literal

import torch

# plain: torch's `F.linear`. packed: oneDNN, or fbgemm in int8. loop: ours, compiled by numba.
Way = Literal["plain", "packed", "loop"]

# Numbers of a matrix below which it stays in a cache, and torch's own products are as good; in float32, in int8.
LARGE, LARGE8 = 1 << 18, 1 << 17


def way(rows: int, size: int, *, int8: bool = False) -> Way:
    """How to multiply so many rows with a matrix of `size` numbers that does not change any more.

    In int8 it does not depend on the rows, so that a row comes out the same to the last bit in any company.
    """
    if int8:
        return "loop" if size >= LARGE8 and loops() is not None else "packed"
    if size < LARGE or not torch.backends.mkldnn.is_available():
        return "plain"
    return "loop" if rows == 1 and loops() is not None else "packed"


@cache
def loops() -> Any:
    """The loops that numba compiles, on the first call; None where there is no numba, or nothing to run them with."""
    if not sys.platform.startswith("linux") or not torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        return None
    try:
        return import_module("regard.decode.loops")
    except (ImportError, OSError, RuntimeError):  # no numba, no OpenMP library of GNU's, or nowhere to keep the code
        return None
