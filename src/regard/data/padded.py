"""Rows of token ids side by side, padded to the longest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from jaxtyping import Int64, Shaped

from regard.chance import Chance
from regard.data.batches import Batches
from regard.data.order import Order, Rows
from regard.data.tokens import Tokens

Side = Sequence[Sequence[int]] | Sequence[Shaped[np.ndarray, " n"]]
Vary = Callable[[Side, Chance], Side]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows put side by side: `rows` are their numbers, `sides` their ids, padded behind, `lengths` those without."""

    rows: Int64[np.ndarray, " b"]
    sides: tuple[Int64[np.ndarray, "b _"], ...]
    lengths: tuple[Int64[np.ndarray, " b"], ...]


def token_batches(
    *sides: Side, tokens: int, rows: int = 0, seed: int = 0, pad: int = 0, vary: Vary | None = None
) -> Batches[Batch]:
    """Batches of the columns of the data, say source and target, row by row.

    No side of a batch has more than `tokens` places, padding (by the id `pad`) included. Or a batch has so many `rows`
    of any length, whatever `tokens` says. `vary` may change the rows of a batch each time they are met, by a chance of
    its own; what it adds is not counted.
    """
    if not sides or not len(sides[0]) or any(len(side) != len(sides[0]) for side in sides):
        raise ValueError(f"sides of {[len(side) for side in sides]} rows make no batches; give equally many, 1 or more")

    longest = np.stack([_lengths(side) for side in sides]).max(axis=0)

    def collate(places: Rows, chance: Chance | None) -> Batch:
        places = places[np.argsort(longest[places], kind="stable")]  # equal lengths side by side
        chosen: list[Side] = [[side[row] for row in places.tolist()] for side in sides]
        if vary is not None and chance is not None:
            chosen = [vary(side, chance) for side in chosen]
        padded, lengths = zip(*(put_side_by_side(side, pad) for side in chosen), strict=True)
        return Batch(places, padded, lengths)

    data = 0
    for side in sides:
        data = _checksum(side, data)
    sizes, room = (np.ones_like(longest), rows) if rows else (longest, tokens)
    return Batches(Order(sizes, room=room, seed=seed, data=data), collate)


def _lengths(side: Side) -> Int64[np.ndarray, " n"]:
    return side.lengths if isinstance(side, Tokens) else np.asarray([len(row) for row in side], np.int64)


def _checksum(side: Side, before: int) -> int:
    """Of every id and every length, so that one changed word makes other data."""
    found = crc32(_lengths(side).astype("<i8").tobytes(), before)
    for row in side:
        found = crc32(np.asarray(row, "<i8").tobytes(), found)
    return found


def put_side_by_side(rows: Sequence[Any], pad: int) -> tuple[Int64[np.ndarray, "b n"], Int64[np.ndarray, " b"]]:
    """Rows padded behind to the longest, and how long each was."""
    lengths = np.asarray([len(row) for row in rows], np.int64)
    padded = np.full((len(rows), int(lengths.max())), pad, np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded, lengths
