"""What word2vec asks of counts: which words to skip, which to draw, and a tree in which frequent ones are near."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int32, Int64

POWER = 0.75  # of counts, by which words are drawn: rare ones somewhat more often than they are met


@dataclass(frozen=True, slots=True, eq=False)
class Urn:
    """Draws a word in one throw (Walker's alias method): a place, kept by its chance or exchanged for another."""

    chances: Float32[np.ndarray, " n"]
    others: Int32[np.ndarray, " n"]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Huffman's tree: from the root, word w passes `forks[starts[w]:starts[w + 1]]` and turns there as `turns` say."""

    starts: Int64[np.ndarray, " m"]
    forks: Int32[np.ndarray, " p"]
    turns: Float32[np.ndarray, " p"]  # 1 or 0

    @property
    def depth(self) -> int:
        """How many forks the rarest word lies behind."""
        return int(np.diff(self.starts).max(initial=0))


def keep(counts: Int64[np.ndarray, " n"], sample: float) -> Float32[np.ndarray, " n"]:
    """The chance of each word to stay: those with more than a share of `sample` of the text are thinned; 0 thins none.

    √(t/f) + t/f for the share f and the threshold t, as word2vec's program has it; the paper has the root alone.
    """
    if not sample:
        return np.full(len(counts), 2.0, np.float32)
    share = counts / counts.sum() / sample
    # What is certain is more than 1, so that a throw which float32 rounds up to 1 does not lose it.
    found: np.ndarray = (np.sqrt(1 / share) + 1 / share).astype(np.float32)
    return found


def urn(counts: Int64[np.ndarray, " n"], power: float = POWER) -> Urn:
    """An urn with words by a power of their counts."""
    shares = counts.astype(np.float64) ** power
    left = (shares * len(shares) / shares.sum()).tolist()
    chances, others = np.full(len(left), 2.0, np.float32), np.arange(len(left), dtype=np.int32)
    low = [place for place, share in enumerate(left) if share < 1]
    high = [place for place, share in enumerate(left) if share >= 1]
    while low and high:
        small, large = low.pop(), high[-1]
        chances[small], others[small] = left[small], large
        left[large] -= 1 - left[small]
        if left[large] < 1:
            low.append(high.pop())
    return Urn(chances, others)


def tree(counts: Int64[np.ndarray, " n"]) -> Tree:
    """The binary tree in which the mean way to a word of the text is the shortest; counts fall from front to back."""
    words = len(counts)
    weight = [*counts.tolist()[::-1], *[0] * (words - 1)]  # leaves from the rarest on, then forks as they are made
    parent, turn = np.zeros(2 * words - 1, np.int64), np.zeros(2 * words - 1, np.float32)
    leaf, fork = 0, words
    for new in range(words, 2 * words - 1):
        for side in (0.0, 1.0):
            # Both queues rise, so the lightest of all stands at the front of one of them.
            if leaf < words and (fork >= new or weight[leaf] <= weight[fork]):
                least, leaf = leaf, leaf + 1
            else:
                least, fork = fork, fork + 1
            parent[least], turn[least] = new, side
            weight[new] += weight[least]
    root, here = 2 * words - 2, np.arange(words)[::-1]  # the leaf of each word
    levels = list[tuple[np.ndarray, np.ndarray, np.ndarray]]()  # upwards: which words, the fork, the turn at it
    while (going := np.flatnonzero(here != root)).size:
        levels.append((going, parent[here[going]] - words, turn[here[going]]))
        here = np.where(here != root, parent[here], root)
    depth = np.zeros(words, np.int64)
    for going, _, _ in levels:
        depth[going] += 1
    starts = np.concatenate(([0], np.cumsum(depth)))
    forks, turns = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    for level, (going, passed, turned) in enumerate(levels):
        place = starts[going] + depth[going] - 1 - level
        forks[place], turns[place] = passed, turned
    return Tree(starts, forks, turns)
