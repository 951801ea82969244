"""Train word2vec on a numbered text: blocks of a million words, each by many threads that do not wait for one another.

A block is a step of the run, and pieces of 10,000 words are handed to whichever thread is free. What happens in a piece
depends on the seed, on its number and on the matrices: dice are thrown anew for each. So one thread goes on bit by bit
where it stopped; of several, each meets the others' changes as they come, and no two runs are the same.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float32, Int32, Int64
from torch import Tensor

from regard.chance import Chance
from regard.words.chances import keep, tree, urn

Engine = Literal["numba", "torch"]

PIECE = 10_000  # places of a text that a thread takes at a time, and that share a learning rate
BLOCK = 100 * PIECE
LEAST = 1e-4  # of the first learning rate, where it ends
LANES = 8  # numbers that a processor multiplies at once; rows are filled with zeros up to a multiple of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How words are learnt."""

    width: int = 100
    window: int = 5
    negative: int = 5  # 0: the hierarchical softmax
    skipgram: bool = True
    shared: bool = True  # the neighbours of a word have the same negatives
    sample: float = 1e-3
    epochs: int = 5
    lr: float = 0.025
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Progressed:
    """What a block was."""

    loss: float  # mean of a prediction
    words: int
    lr: float


class Hogwild:
    """Two matrices that learn from a numbered text, block by block."""

    def __init__(
        self,
        ids: Int32[np.ndarray, " n"],
        counts: Int64[np.ndarray, " v"],
        settings: Settings,
        *,
        threads: int = 1,
        engine: Engine = "numba",
        block: int | None = None,
    ) -> None:
        self.ids, self.settings, self.threads, self.block = ids, settings, threads, block or BLOCK
        self._learn = _engine(engine)
        words, width = len(counts), settings.width
        padded = -(-width // LANES) * LANES
        self.inputs, self.outputs = np.zeros((words, padded), np.float32), np.zeros((words, padded), np.float32)
        first = np.random.default_rng(settings.seed).random((words, width), np.float32)
        self.inputs[:, :width] = (first - 0.5) / width
        draws = urn(counts if settings.negative else counts[:1])
        ways = tree(counts[:1] if settings.negative else counts)
        self._fixed = (
            *(keep(counts, settings.sample), settings.window, settings.skipgram, settings.shared, settings.negative),
            *(draws.chances, draws.others, ways.starts, ways.forks, ways.turns),
            settings.negative + 1 if settings.negative else ways.depth,
        )
        self.step = 0
        # Compiled here, once and for all, so that it is not counted as time of the first block.
        self._learn(np.empty(0, np.int32), *self._fixed, self.inputs, self.outputs, np.float32(0), np.uint64(1))

    @property
    def blocks(self) -> int:
        """Steps of an epoch."""
        return -(-len(self.ids) // self.block)

    @property
    def steps(self) -> int:
        return self.blocks * self.settings.epochs

    def advance(self) -> Progressed:
        """Learn from the next block."""
        epoch, block = divmod(self.step, self.blocks)
        begin, end = block * self.block, min((block + 1) * self.block, len(self.ids))
        pieces = iter(range(begin, end, PIECE))
        lock = Lock()

        def work(_: int) -> list[tuple[float, int, int]]:
            return [self._piece(epoch, place, min(place + PIECE, end)) for place in _handed(pieces, lock)]

        if self.threads == 1:
            found = work(0)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                found = [each for some in pool.map(work, range(self.threads)) for each in some]
        self.step += 1
        predictions = sum(count for _, count, _ in found)
        words = int(np.count_nonzero(self.ids[begin:end] >= 0))
        return Progressed(sum(loss for loss, _, _ in found) / max(predictions, 1), words, self.lr(epoch, begin))

    def lr(self, epoch: int, place: int) -> float:
        """Falls to almost nothing along a line."""
        done = (epoch * len(self.ids) + place) / (self.settings.epochs * len(self.ids))
        return self.settings.lr * max(LEAST, 1 - done)

    def _piece(self, epoch: int, begin: int, end: int) -> tuple[float, int, int]:
        dice = Chance(self.settings.seed, "hogwild", epoch * len(self.ids) + begin).bits() | 1  # 0 would stay 0
        lr = np.float32(self.lr(epoch, begin))
        piece = np.array(self.ids[begin:end], np.int32)
        found: tuple[float, int, int] = self._learn(piece, *self._fixed, self.inputs, self.outputs, lr, np.uint64(dice))
        return found

    def tensors(self) -> dict[str, Tensor]:
        """Both matrices as they stand; of a tree, the second has a row for each fork, and one more that is zero."""
        width = self.settings.width
        return {
            "inputs": torch.from_numpy(self.inputs[:, :width]).clone(),
            "outputs": torch.from_numpy(self.outputs[:, :width]).clone(),
        }

    def restore(self, tensors: dict[str, Tensor], step: int) -> None:
        """Go on from matrices that `tensors` gave."""
        width, self.step = self.settings.width, step
        self.inputs[:, :width] = tensors["inputs"].numpy()
        self.outputs[:, :width] = tensors["outputs"].numpy()

    @property
    def vectors(self) -> Float32[np.ndarray, "v d"]:
        """A row for each word."""
        return self.inputs[:, : self.settings.width]


def _handed(pieces: Iterator[int], lock: Any) -> Iterator[int]:
    """One piece after another, each to one thread."""
    while True:
        with lock:
            place = next(pieces, None)
        if place is None:
            return
        yield place


def _engine(engine: Engine) -> Callable[..., tuple[float, int, int]]:
    found: Callable[..., tuple[float, int, int]]
    if engine == "torch":
        from regard.train.hogwild_reference import learn as found

        return found
    try:
        from regard.train.hogwild_loops import learn as found
    except ImportError as error:
        raise ValueError(
            f"the fast loop over words needs numba ({error}); in a clone of regard, pip install '.[fast]', or take "
            "--engine torch, which is slower by far"
        ) from None
    return found
