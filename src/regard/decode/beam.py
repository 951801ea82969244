"""Beam search: the best few beginnings of each sentence, side by side in one batch."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.decode.written import Limit, State, Step, Written, check, limits


@torch.no_grad()
def beam(
    step: Step,
    state: State,
    first: Int[Tensor, " b"],
    *,
    stop: int,
    limit: Limit,
    size: int = 5,
    penalty: float = 0.6,
    count: int = 1,
) -> list[list[Written]]:
    """The `count` best sequences of each row that a beam of `size` finds, best first.

    Sequences are ranked by log probability over ((5 + length) / 6)^penalty (Wu 2016, eq. 14); 0 ranks by probability
    alone, which likes them short. A sentence is done when nothing it could still become would be ranked higher.
    """
    longest = limits(limit, len(first))
    if not 1 <= count <= size:
        raise ValueError(f"a beam of {size} cannot give {count} sequences; ask for 1 to {size}")
    sentences = [_Sentence(size, count, most, penalty) for most in longest]
    going, newest = list(range(len(first))), first[:, None]  # one beginning each, then `size` of them
    for length in range(1, max(longest, default=0) + 1):
        logits, state = step(newest.reshape(-1, 1), state)
        check(stop, logits)
        width, vocab = newest.shape[1], logits.shape[-1]
        gained = logits[:, -1].float().log_softmax(dim=-1).view(len(going), width, vocab)
        scores = gained + _column([sentences[i].log_probs for i in going], gained)
        # Of 2·size continuations at most size are stops, so as many beginnings go on.
        best, place = scores.flatten(1).topk(min(2 * size, width * vocab), dim=-1)
        parents, words = place // vocab, place % vocab
        kept: list[int] = []
        on: list[int] = []
        for k, (i, *found) in enumerate(zip(going, best.tolist(), parents.tolist(), words.tolist(), strict=True)):
            rows = sentences[i].advance(length, k * width, stop, *found)
            if rows:
                on.append(i)
                kept += rows
        if not on:
            break
        going = on
        newest = torch.tensor([sentences[i].newest for i in going], device=first.device)
        state = state.select(torch.tensor(kept, device=first.device))
    return [sentence.written() for sentence in sentences]


class _Sentence:
    """The beginnings of one sentence that are still alive, and the sequences that have come to their stop."""

    def __init__(self, size: int, count: int, limit: int, penalty: float) -> None:
        self.size, self.count, self.limit, self.penalty = size, count, limit, penalty
        self.words: list[tuple[int, ...]] = [()]
        self.rows: list[tuple[int, ...]] = [()]
        self.log_probs: list[float] = [0.0]
        self.done: list[Written] = []

    @property
    def newest(self) -> list[int]:
        return [words[-1] for words in self.words]

    def advance(
        self, length: int, base: int, stop: int, log_probs: list[float], parents: list[int], words: list[int]
    ) -> list[int]:
        """Take the best continuations; the rows from which the living go on, or none when there is no more to win."""
        living: list[tuple[tuple[int, ...], tuple[int, ...], float, int]] = []
        for rank, (log_prob, parent, word) in enumerate(zip(log_probs, parents, words, strict=True)):
            if log_prob == -torch.inf:
                break
            rows = (*self.rows[parent], base + parent)
            if word == stop:
                # A stop far down the list would not have been looked at by a narrower search.
                if rank < self.size:
                    self._finish(self.words[parent], log_prob, length, rows, finished=True)
            elif len(living) < self.size:
                living.append(((*self.words[parent], word), rows, log_prob, base + parent))
        while living and len(living) < self.size:
            living.append((living[0][0], living[0][1], -torch.inf, living[0][3]))  # a place that nobody needs
        if not living or self._settled(living[0][2]) or length == self.limit:
            for written, rows, log_prob, _ in living if length == self.limit else ():
                if log_prob > -torch.inf:
                    self._finish(written, log_prob, length, rows, finished=False)
            return []
        self.words, self.rows, self.log_probs = map(list, zip(*(each[:3] for each in living), strict=True))
        return [each[3] for each in living]

    def written(self) -> list[Written]:
        return sorted(self.done, key=lambda each: -each.score)[: self.count]

    def _finish(
        self, words: tuple[int, ...], log_prob: float, length: int, rows: tuple[int, ...], *, finished: bool
    ) -> None:
        self.done.append(Written(words, log_prob, log_prob / self._norm(length), finished, rows))

    def _settled(self, best: float) -> bool:
        """Whether even the best beginning, grown to the limit at no cost, would not come among the wanted ones."""
        wanted = self.written()
        return len(wanted) == self.count and best / self._norm(self.limit) <= wanted[-1].score

    def _norm(self, length: int) -> float:
        return float(((5 + length) / 6) ** self.penalty)


def _column(log_probs: list[list[float]], like: Float[Tensor, "s w v"]) -> Float[Tensor, "s w 1"]:
    return torch.tensor(log_probs, device=like.device)[..., None]
