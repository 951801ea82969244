"""Known words in smaller pieces: a model that meets them in halves too learns what they are made of.

Byte pair encoding joins two pieces at a time. Here some are taken apart again, a few in each row (Sims 2025,
StochasTok); Provilkov 2020 leaves joins out while encoding, to the same end.
"""

from collections.abc import Sequence

from regard.chance import Chance
from regard.data.padded import Side


def split(rows: Side, halves: Sequence[tuple[int, int]], share: float, chance: Chance) -> list[list[int]]:
    """The rows, where again and again one piece is replaced by its two `halves`: `share` times for each piece.

    Rows of one length stay so wherever they can, and so need no more padding. A piece that was never joined has halves
    of -1, and stays.
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"split is {share}; give a share from 0 to 1, say 0.1")
    lot, found = chance.uniform(), list[list[int]]()
    for ids in rows:
        row = [int(i) for i in ids]
        for _ in range(int(share * len(row) + lot)):
            joined = [place for place, i in enumerate(row) if halves[i][0] >= 0]
            if not joined:
                break
            place = chance.choose(joined)
            row[place : place + 1] = halves[row[place]]
        found.append(row)
    return found
