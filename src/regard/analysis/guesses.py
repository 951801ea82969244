"""What can be guessed without learning to read: yardsticks for hidden words and for passages that follow each other."""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float64, Int64, Shaped

Ids = Sequence[int]


def usual_next(ids: Shaped[np.ndarray, " n"], vocab: int) -> Int64[np.ndarray, " v"]:
    """For each token the one that most often follows it (a bigram), and the most frequent of all where none does."""
    ids = ids.astype(np.int64)
    pairs, counts = np.unique(ids[:-1] * vocab + ids[1:], return_counts=True)
    rising = pairs[np.argsort(counts, kind="stable")]
    found = np.full(vocab, np.bincount(ids, minlength=vocab).argmax())
    found[rising // vocab] = rising % vocab  # of several, the last is kept: the most frequent
    return found


def rarity(ids: Shaped[np.ndarray, " n"], vocab: int) -> Float64[np.ndarray, " v"]:
    """How much a token tells: the logarithm of how seldom it is met."""
    counts = np.bincount(ids, minlength=vocab) + 1.0
    told: np.ndarray = np.log(counts.sum() / counts)
    return told


def overlap(first: Ids, second: Ids, weight: Float64[np.ndarray, " v"]) -> float:
    """The share of a passage that another has too, each token counted once and by what it tells."""
    tells = [weight[list(some)].sum() if some else 0.0 for some in ({*first} & {*second}, {*second})]
    return float(tells[0] / tells[1]) if tells[1] else 0.0


def best_border(values: Sequence[float], truths: Iterable[bool]) -> float:
    """The border above which values say "true" with the fewest errors."""
    order = np.argsort(values, kind="stable")
    value, truth = np.asarray(values, float)[order], np.asarray(list(truths), bool)[order]
    # Behind place i: the true ones up to it are missed, and the false ones above it are taken for true.
    wrong = np.cumsum(np.append(0, truth)) + (~truth).sum() - np.cumsum(np.append(0, ~truth))
    place = int(wrong.argmin())
    return float(np.concatenate([[-np.inf], value, [np.inf]])[place : place + 2].mean())
