"""Beam search: the best few beginnings of each sentence, side by side in one batch."""

from collections.abc import Callable, Collection

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decode.hypothesis import Hypothesis, Limit, State, Step, Stop, check, limits, stops
from regard.decode.top import log_probs, top

# How much each row looked at each word of its source in the last step; 1 where there is only padding.
Seen = Callable[[], Float[Tensor, "r k"]]


@torch.no_grad()
def beam(
    step: Step,
    state: State,
    first: Int[Tensor, " b"],
    *,
    stop: Stop,
    limit: Limit,
    size: int = 5,
    length_penalty: float = 1.0,
    count: int = 1,
    coverage: float = 0.0,
    seen: Seen | None = None,
) -> list[list[Hypothesis]]:
    """The `count` best sequences of each row that a beam of `size` finds, best first.

    Sequences are ranked by log probability over ((5 + length) / 6)^length_penalty (Wu 2016, eq. 14); 0 ranks by
    probability alone, which likes them short. With `coverage`, words of the source that a sequence hardly looked at
    count against it: `seen` is asked after each step. A sentence is done when nothing it could still become would be
    ranked higher.
    """
    longest, ends = limits(limit, len(first)), stops(stop)
    if not 1 <= count <= size:
        raise ValueError(f"a beam of {size} cannot give {count} sequences; ask for 1 to {size}")
    if coverage < 0.0 or (coverage > 0.0 and seen is None):
        raise ValueError(f"coverage {coverage} must be 0, or above it with `seen` to say what was looked at")
    many = (1 + max(1, len(ends))) * size
    sentences = [_Sentence(size, count, most, length_penalty) for most in longest]
    going, newest = list(range(len(first))), first[:, None]  # one beginning each, then `size` of them
    covered: Tensor | None = None  # how much each row has looked at each word of its source so far
    for length in range(1, max(longest, default=0) + 1):
        logits, state = step(newest.reshape(-1, 1), state)
        check(ends, logits)
        if coverage > 0.0 and seen is not None:
            covered = seen() if covered is None else covered + seen()
        width = newest.shape[1]
        missed = torch.zeros(len(logits)) if covered is None else coverage * coverage_penalty(covered)
        # Of 2·size continuations at most size are stops, so as many beginnings go on; each has its own best of them.
        # Where several words stop, each beginning may be followed by all of them.
        last = logits[:, -1].float()
        words = top(last, many)
        gained, each = log_probs(last, words), words.shape[-1]
        scores = gained.view(len(going), width, each) + _column([sentences[i].log_probs for i in going], gained)
        best, place = scores.flatten(1).topk(min(many, width * each), dim=-1)
        found = best, place // each, words.view(len(going), -1).gather(-1, place), missed.view(len(going), width)
        kept: list[int] = []
        on: list[int] = []
        for k, (i, *news) in enumerate(zip(going, *(part.tolist() for part in found), strict=True)):
            rows = sentences[i].advance(length, k * width, ends, *news)
            if rows:
                on.append(i)
                kept += rows
        if not on:
            break
        going, chosen = on, torch.tensor(kept, device=first.device)
        newest = torch.tensor([sentences[i].newest for i in going], device=first.device)
        state = state.select(chosen)
        covered = None if covered is None else covered[chosen]
    return [sentence.written() for sentence in sentences]


def coverage_penalty(covered: Float[Tensor, "r k"]) -> Float[Tensor, " r"]:
    """Wu's coverage penalty for β = 1: the log of what each word of the source was looked at, up to once."""
    # What was never looked at costs much, but not everything: two that missed something are still compared.
    return covered.float().clamp(torch.finfo(torch.float32).tiny, 1.0).log().sum(dim=-1)


class _Sentence:
    """The beginnings of one sentence that are still alive, and the sequences that have come to their stop."""

    def __init__(self, size: int, count: int, limit: int, length_penalty: float) -> None:
        self.size, self.count, self.limit, self.length_penalty = size, count, limit, length_penalty
        self.words: list[tuple[int, ...]] = [()]
        self.rows: list[tuple[int, ...]] = [()]
        self.log_probs: list[float] = [0.0]
        self.done: list[Hypothesis] = []

    @property
    def newest(self) -> list[int]:
        return [words[-1] for words in self.words]

    def advance(
        self,
        length: int,
        base: int,
        ends: Collection[int],
        log_probs: list[float],
        parents: list[int],
        words: list[int],
        missed: list[float],
    ) -> list[int]:
        """Take the best continuations; the rows from which the living go on, or none when there is no more to win."""
        living: list[tuple[tuple[int, ...], tuple[int, ...], float, int]] = []
        for rank, (log_prob, parent, word) in enumerate(zip(log_probs, parents, words, strict=True)):
            if log_prob == -torch.inf:
                break
            rows = (*self.rows[parent], base + parent)
            if word in ends:
                # A stop far down the list would not have been looked at by a narrower search.
                if rank < self.size:
                    self._finish(self.words[parent], log_prob, missed[parent], rows, finished=True)
            elif len(living) < self.size:
                living.append(((*self.words[parent], word), rows, log_prob, parent))
        while living and len(living) < self.size:
            living.append((living[0][0], living[0][1], -torch.inf, living[0][3]))  # a place that nobody needs
        if not living or self._is_settled(living[0][2]) or length == self.limit:
            for written, rows, log_prob, parent in living if length == self.limit else ():
                if log_prob > -torch.inf:
                    self._finish(written, log_prob, missed[parent], rows, finished=False)
            return []
        self.words, self.rows, self.log_probs = map(list, zip(*(each[:3] for each in living), strict=True))
        return [base + each[3] for each in living]

    def written(self) -> list[Hypothesis]:
        return sorted(self.done, key=lambda each: -each.score)[: self.count]

    def _finish(
        self, words: tuple[int, ...], log_prob: float, missed: float, rows: tuple[int, ...], *, finished: bool
    ) -> None:
        self.done.append(Hypothesis(words, log_prob, log_prob / self._norm(len(rows)) + missed, finished, rows))

    def _is_settled(self, best: float) -> bool:
        """Whether even the best beginning, grown to the limit at no cost, would not come among the wanted ones."""
        wanted = self.written()
        return len(wanted) == self.count and best / self._norm(self.limit) <= wanted[-1].score

    def _norm(self, length: int) -> float:
        return float(((5 + length) / 6) ** self.length_penalty)


def _column(log_probs: list[list[float]], like: Tensor) -> Float[Tensor, "s w 1"]:
    return torch.tensor(log_probs, device=like.device)[..., None]
