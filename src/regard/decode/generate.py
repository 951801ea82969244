"""One word after another, each chosen from what the model thinks of the next: the argmax, or one by chance.

A decoder reads its prompts first, and goes on from there::

    state, first = begin(gpt, prompts)
    for turn in stream(gpt.step, state, first, stop=stop, limit=50):
        print(turn.words)
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decode.hypothesis import Hypothesis, Limit, State, Step, Stop, check, limits, stops
from regard.decode.top import log_probs, top

# From the logits of each row to its next word. One that remembers its rows has a `select` too, as a state has.
Choice = Callable[[Float[Tensor, "b v"]], Int[Tensor, " b"]]


class Turn(NamedTuple):
    """One step of all rows that are still being written."""

    sequences: list[int]  # which sequence each row belongs to
    words: list[int]
    log_probs: list[float]


def greedy(step: Step, state: State, first: Int[Tensor, " b"], *, stop: Stop, limit: Limit) -> list[Hypothesis]:
    """Always the likeliest word. `first` is what each row begins with, the start word as a rule."""
    return generate(step, state, first, stop=stop, limit=limit, choose=argmax)


def generate(
    step: Step, state: State, first: Int[Tensor, " b"], *, stop: Stop, limit: Limit, choose: Choice
) -> list[Hypothesis]:
    """Write until each row has come to its stop or to its limit. A finished row costs nothing more."""
    ends = stops(stop)
    words: list[list[int]] = [[] for _ in first]
    rows: list[list[int]] = [[] for _ in first]
    summed = [0.0] * len(first)
    finished = [False] * len(first)
    for turn in stream(step, state, first, stop=ends, limit=limit, choose=choose):
        for row, (sequence, word, gain) in enumerate(zip(*turn, strict=True)):
            summed[sequence] += gain
            rows[sequence].append(row)
            finished[sequence] = word in ends
            if not finished[sequence]:
                words[sequence].append(word)
    return [
        Hypothesis(tuple(each), log_prob, log_prob, done, tuple(where))
        for each, log_prob, done, where in zip(words, summed, finished, rows, strict=True)
    ]


def argmax(logits: Float[Tensor, "b v"]) -> Int[Tensor, " b"]:
    """The choice of a greedy writer."""
    return top(logits, 1)[:, 0]


@torch.no_grad()
def stream(
    step: Step,
    state: State,
    first: Int[Tensor, " b"],
    *,
    stop: Stop,
    limit: Limit,
    choose: Choice = argmax,
    ended: Callable[[int], bool] | None = None,
) -> Iterator[Turn]:
    """The next word of every row, step by step, while it is written; a row's last word may be its stop.

    Rows end one by one: by a stop, at their limit, or because `ended` says so of their sequence, which is asked once
    the turn was taken. What was chosen is chosen from what the rows that still go on were given.
    """
    longest, ends = limits(limit, len(first)), stops(stop)
    going, newest = list(range(len(first))), first  # which sequence each row of the state belongs to
    for length in range(1, max(longest, default=0) + 1):
        logits, state = step(newest[:, None], state)
        check(ends, logits)
        last = logits[:, -1].float()
        newest = choose(last)
        gained = log_probs(last, newest[:, None])[:, 0]
        words = newest.tolist()
        yield Turn(going, words, gained.tolist())
        on = [
            row
            for row, (sequence, word) in enumerate(zip(going, words, strict=True))
            if word not in ends and length < longest[sequence] and not (ended is not None and ended(sequence))
        ]
        if not on:
            break
        if len(on) < len(going):
            going, some = [going[row] for row in on], torch.tensor(on, device=first.device)
            newest, state, choose = newest[some], state.select(some), select(choose, some)


@runtime_checkable
class _Remembers(Protocol):
    def select(self, rows: Int[Tensor, " r"]) -> Choice: ...


def select(choose: Choice, rows: Int[Tensor, " r"]) -> Choice:
    """The choice for some rows alone, where it remembers anything of them."""
    return choose.select(rows) if isinstance(choose, _Remembers) else choose
