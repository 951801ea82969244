"""Sentences of the little world as numbers, one for each word, for the claims whose models translate."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from regard.claims.claim import Tell
from regard.claims.lesson import learn
from regard.decode import greedy
from regard.world.language import Pair, vocabulary

PAD, START, STOP, FIRST = 0, 1, 2, 3


class Lexicon:
    """A number for each word of some languages."""

    def __init__(self, *languages: str) -> None:
        self.words = sorted(set().union(*map(vocabulary, languages)))
        self._ids = {word: FIRST + i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return FIRST + len(self.words)

    def ids(self, words: Sequence[str]) -> Int[Tensor, " n"]:
        return torch.tensor([self._ids[word] for word in words])

    def said(self, ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.words[each - FIRST] for each in ids if each >= FIRST)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Pairs side by side, padded behind; targets open with the start and close with the stop."""

    source: Int[Tensor, "b n"]
    lengths: Int[Tensor, " b"]
    target: Int[Tensor, "b m"]


def batch(pairs: Sequence[Pair], lexicon: Lexicon) -> Batch:
    """Pairs as numbers."""
    sources = [lexicon.ids(pair.source) for pair in pairs]
    targets = [F.pad(F.pad(lexicon.ids(pair.target), (1, 0), value=START), (0, 1), value=STOP) for pair in pairs]
    lengths = torch.tensor([len(source) for source in sources])
    return Batch(pad_sequence(sources, True, PAD), lengths, pad_sequence(targets, True, PAD))


def batches(pairs: Sequence[Pair], lexicon: Lexicon, words: int) -> list[Batch]:
    """Pairs of similar length together, about so many source words in each batch."""
    ordered, found, some = sorted(pairs, key=lambda pair: len(pair.source)), list[Batch](), list[Pair]()
    for pair in ordered:
        if some and (len(some) + 1) * len(pair.source) > words:
            found.append(batch(some, lexicon))
            some = []
        some.append(pair)
    return [*found, batch(some, lexicon)]


def surprise(model: nn.Module, one: Batch) -> Tensor:
    """The mean loss of the next word."""
    logits = model(one.source, one.target[:, :-1], lengths=one.lengths)
    return F.cross_entropy(logits.flatten(0, 1), one.target[:, 1:].flatten(), ignore_index=PAD)


def taught(model: nn.Module, lessons: list[Batch], *, steps: int, rate: float, seed: int, tell: Tell) -> float:
    """Train on batches in an order of the seed's; the last losses."""
    chance = Random(seed)
    return learn(model, lambda: surprise(model, chance.choice(lessons)), steps=steps, rate=rate, tell=tell)


@torch.no_grad()
def words_right(model: nn.Module, exams: list[Batch]) -> float:
    """How often the likeliest next word is the right one, given the right words before it."""
    right = total = 0
    for one in exams:
        guess = model(one.source, one.target[:, :-1], lengths=one.lengths).argmax(-1)
        real = one.target[:, 1:] != PAD
        right += int((guess.eq(one.target[:, 1:]) & real).sum())
        total += int(real.sum())
    return right / total


@torch.no_grad()
def translated(model: Any, one: Batch, lexicon: Lexicon) -> list[tuple[str, ...]]:
    """What the model writes by itself."""
    first = torch.full((len(one.source),), START)
    limit = one.target.shape[1] + 8
    written = greedy(model.step, model.start(one.source, lengths=one.lengths), first, stop=STOP, limit=limit)
    return [lexicon.said(each.words) for each in written]
