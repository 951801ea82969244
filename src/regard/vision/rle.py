"""Masks as run lengths, as COCO writes them: column by column, first how many are empty, then how many are full.

The counts are a list, or packed in a string: five bits a character, and from the third count on the difference to the
count before the last.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

LARGEST = 64_000_000  # pixels of a mask


def encode(mask: Bool[np.ndarray, "h w"]) -> list[int]:
    """The run lengths of a mask."""
    flat = mask.ravel(order="F")
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    counts: list[int] = np.diff(edges, prepend=0, append=flat.size).tolist()
    return [0, *counts] if flat.size and flat[0] else counts


def decode(counts: Sequence[int] | str, height: int, width: int) -> Bool[np.ndarray, "h w"]:
    """The mask of such run lengths, which may be packed."""
    if not 0 < height * width <= LARGEST or height < 0:
        raise ValueError(f"a mask of {height} × {width} is not decoded; give 1 to {LARGEST:,} pixels")
    runs = unpack(counts) if isinstance(counts, str) else list(counts)
    if any(not isinstance(run, int) or run < 0 for run in runs) or sum(runs) != height * width:
        raise ValueError(f"these counts do not fill {height} × {width} pixels; give run lengths that add up to them")
    values = np.arange(len(runs)) % 2 == 1
    return np.repeat(values, runs).reshape((height, width), order="F")


def pack(counts: Sequence[int]) -> str:
    """Counts as a string."""
    letters = []
    for place, count in enumerate(counts):
        rest = count - counts[place - 2] if place > 2 else count
        more = True
        while more:
            bits = rest & 0x1F
            rest >>= 5
            more = rest != (-1 if bits & 0x10 else 0)  # the fifth bit of the last character is the sign
            letters.append(chr(48 + bits + (0x20 if more else 0)))
    return "".join(letters)


def unpack(packed: str) -> list[int]:
    """The counts of a string."""
    counts = list[int]()
    value = shift = 0
    for letter in packed:
        bits = ord(letter) - 48
        if not 0 <= bits < 64 or shift > 30:
            raise ValueError(f"{packed[:20]!r} is no packed mask: {letter!r} has no place there; give counts of COCO")
        value |= (bits & 0x1F) << shift
        shift += 5
        if not bits & 0x20:
            if bits & 0x10:
                value -= 1 << shift
            counts.append(value + counts[-2] if len(counts) > 2 else value)
            value = shift = 0
    if shift:
        raise ValueError(f"{packed[:20]!r} is no packed mask: it ends within a count; give all of it")
    return counts


def fill(polygons: Sequence[Sequence[float | int]], height: int, width: int) -> Bool[np.ndarray, "h w"]:
    """The mask of polygons, each x, y, x, y, …: the pixels whose middle is inside of one of them."""
    if not 0 < height * width <= LARGEST or height < 0:
        raise ValueError(f"a mask of {height} × {width} is not drawn; give 1 to {LARGEST:,} pixels")
    mask = np.zeros((height, width), bool)
    for polygon in polygons:
        if len(polygon) < 6 or len(polygon) % 2 or not np.isfinite(polygon).all():
            raise ValueError(f"a polygon of {len(polygon)} numbers is none; give x and y of 3 corners or more")
        corners = np.asarray(polygon, np.float64).reshape(-1, 2)
        crossed = np.zeros((height + 1, width), np.int64)
        for (x, y), (to_x, to_y) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            # The columns whose middle the edge crosses, and the first pixel below it in each.
            first, last = (int(np.clip(np.ceil(each - 0.5), 0, width)) for each in sorted((x, to_x)))
            columns = np.arange(first, last)
            if len(columns):
                at = y + (columns + 0.5 - x) * (to_y - y) / (to_x - x)
                crossed[np.clip(np.ceil(at - 0.5), 0, height).astype(np.int64), columns] += 1
        mask |= crossed[:-1].cumsum(0) % 2 == 1  # inside after an odd number of edges
    return mask
