"""Windows of one long stream of tokens, for models that predict the next one."""

from zlib import crc32

import numpy as np
from jaxtyping import Integer

from regard.chance import Chance, bits
from regard.data.batches import Batches
from regard.data.order import Order, Rows
from regard.data.padded import Batch, put_side_by_side


def windows(ids: Integer[np.ndarray, " n"], *, context: int, rows: int, seed: int = 0) -> Batches[Batch]:
    """Batches of `rows` windows of context + 1 tokens: all of a window but its last are read, all but its first wanted.

    Each epoch has the whole stream once, in random order. In training a window is moved by chance by up to its own
    length, so that borders differ from epoch to epoch; in a measurement every token but the first is wanted once.
    """
    if len(ids) < 2:
        raise ValueError(f"a stream of {len(ids)} tokens has nothing to predict; give 2 or more")
    context = min(context, len(ids) - 1)
    count = -(-(len(ids) - 1) // context)
    last = len(ids) - 1 - context  # where the last whole window begins

    def collate(chosen: Rows, chance: Chance | None) -> Batch:
        first = chosen * context
        if chance is not None:
            first = np.minimum(first + (bits(chance, len(chosen)) % np.uint64(context)).astype(np.int64), last)
        padded, lengths = put_side_by_side([ids[start : start + context + 1] for start in first.tolist()], 0)
        return Batch(chosen, (padded,), (lengths,))

    data = crc32(np.ascontiguousarray(ids).data)
    return Batches(Order(np.ones(count, np.int64), room=rows, seed=seed, data=data), collate)
