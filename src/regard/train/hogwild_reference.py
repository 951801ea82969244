"""The loop of `hogwild_loops` for people to read: the same dice, the same steps, and torch's own gradients.

It is a few hundred times slower. It tells whether the compiled loop does what it says, and trains where numba is not.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.models.word2vec import logistic_loss

_MASK, _STAR = (1 << 64) - 1, 2685821657736338717


class Dice:
    """xorshift64*, in Python's numbers."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def bits(self) -> int:
        state = self.state
        state ^= state >> 12
        state = (state ^ state << 25) & _MASK
        self.state = state = state ^ state >> 27
        return state * _STAR & _MASK


def learn(
    ids: Any,
    keep: Any,
    window: int,
    skipgram: bool,
    shared: bool,
    negative: int,
    chances: Any,
    others: Any,
    starts: Any,
    forks: Any,
    turns: Any,
    longest: int,  # noqa: ARG001 - the compiled loop must know how much room it needs
    inputs: Any,
    outputs: Any,
    lr: np.float32,
    seed: np.uint64,
) -> tuple[float, int, int]:
    """One pass over a piece of text; the summed loss, how many predictions it is of, and how many words were kept."""
    dice, text = Dice(int(seed)), list[int]()
    for word in ids.tolist():
        if word < 0 or _share(dice.bits()) < keep[word]:
            text.append(word)
    first, second = torch.from_numpy(inputs), torch.from_numpy(outputs)
    loss, predictions = 0.0, 0

    def targets(centre: int) -> tuple[list[int], list[float]]:
        if negative == 0:
            way = slice(starts[centre], starts[centre + 1])
            return forks[way].tolist(), turns[way].tolist()
        drawn = [_draw(dice.bits(), chances, others) for _ in range(negative)]
        rows = [centre, *(word for word in drawn if word != centre)]
        return rows, [1.0] + [0.0] * (len(rows) - 1)

    for place, centre in enumerate(text):
        if centre < 0:
            continue
        reach = window - _below(dice.bits(), window)
        near = [*_run(text[max(0, place - reach) : place][::-1]), *_run(text[place + 1 : place + 1 + reach])]
        if not near:
            continue
        together = len(near) if shared or negative == 0 or not skipgram else 1
        for i in range(0, len(near), together):
            loss += _descend(first, second, near[i : i + together], *targets(centre), skipgram=skipgram, lr=float(lr))
        predictions += len(near) if skipgram else 1
    return loss, predictions, sum(word >= 0 for word in text)


def _descend(
    first: Tensor,
    second: Tensor,
    near: Sequence[int],
    rows: Sequence[int],
    wanted: Sequence[float],
    *,
    skipgram: bool,
    lr: float,
) -> float:
    """One step down the gradient of the loss of some neighbours and targets."""
    here, there = torch.tensor(near), torch.tensor(rows)
    x, y = first[here].requires_grad_(), second[there].requires_grad_()
    loss = logistic_loss(x if skipgram else x.mean(dim=0, keepdim=True), y, torch.tensor(wanted))
    loss.backward()
    assert x.grad is not None
    assert y.grad is not None
    # The mean of n rows passes the n-th part to each of them; word2vec gives each the whole.
    first.index_add_(0, here, x.grad, alpha=-lr * (1 if skipgram else len(near)))
    second.index_add_(0, there, y.grad, alpha=-lr)
    return loss.item()


def _run(words: Sequence[int]) -> list[int]:
    """The words up to the end of the line."""
    return list(words[: words.index(-1)] if -1 in words else words)


def _draw(bits: int, chances: Any, others: Any) -> int:
    drawn = _below(bits, len(chances))
    return int(drawn if _share(bits) < chances[drawn] else others[drawn])


def _below(bits: int, limit: int) -> int:
    return (bits >> 32) * limit >> 32


def _share(bits: int) -> np.float32:
    return np.float32(bits & 0xFFFFFFFF) * np.float32(2.0**-32)
