"""Translation with one token a word, for the claims and the tour: sentence pairs as batches, training and scores."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from regard.attention import record
from regard.data import token_batches
from regard.decode import force, greedy
from regard.decode.batching import by_length
from regard.train.small import learn
from regard.world.language import Pair

PAD, START, STOP, FIRST = 0, 1, 2, 3


class Lexicon:
    """An id for each word."""

    def __init__(self, *vocabularies: Iterable[str]) -> None:
        self.words = sorted(set().union(*vocabularies))
        self._ids = {word: FIRST + i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return FIRST + len(self.words)

    def encode(self, words: Sequence[str]) -> list[int]:
        return [self._ids[word] for word in words]

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.words[each - FIRST] for each in ids if each >= FIRST)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Pairs side by side, padded behind; targets begin with the start token and end with the stop token."""

    source: Int[Tensor, "b n"]
    lengths: Int[Tensor, " b"]
    target: Int[Tensor, "b m"]


def batch(pairs: Sequence[Pair], lexicon: Lexicon) -> Batch:
    """All pairs in one batch."""
    sources, targets = ([torch.tensor(row) for row in side] for side in _ids(pairs, lexicon))
    lengths = torch.tensor([len(row) for row in sources])
    return Batch(pad_sequence(sources, True, PAD), lengths, pad_sequence(targets, True, PAD))


def batches(pairs: Sequence[Pair], lexicon: Lexicon, words: int) -> list[Batch]:
    """Pairs of similar length together, with at most so many source words in a batch."""
    grouped = token_batches(_ids(pairs, lexicon)[0], tokens=words).once()
    return [batch([pairs[row] for row in each.rows.tolist()], lexicon) for each in grouped]


def train(
    model: nn.Module, batches: Sequence[Batch], *, steps: int, lr: float, weight_decay: float = 0.0, seed: int
) -> Iterator[float]:
    """Learn from batches drawn by the seed, with teacher forcing; the loss of each step."""
    chance = Random(seed)

    def loss() -> Tensor:
        some = chance.choice(batches)
        logits = model(some.source, some.target[:, :-1], lengths=some.lengths)
        return F.cross_entropy(logits.flatten(0, 1), some.target[:, 1:].flatten(), ignore_index=PAD)

    return learn(model, loss, steps=steps, lr=lr, weight_decay=weight_decay)


@torch.no_grad()
def accuracy(model: nn.Module, batches: Sequence[Batch]) -> float:
    """How often the likeliest next word is the right one, given the right words before it."""
    right = total = 0
    for some in batches:
        guess = model(some.source, some.target[:, :-1], lengths=some.lengths).argmax(-1)
        real = some.target[:, 1:] != PAD
        right += int((guess.eq(some.target[:, 1:]) & real).sum())
        total += int(real.sum())
    return right / total


@torch.no_grad()
def translate(model: Any, some: Batch, lexicon: Lexicon) -> list[tuple[str, ...]]:
    """What the model writes by itself, by greedy decoding."""
    first = torch.full((len(some.source),), START)
    limit = some.target.shape[1] + 8
    state = model.start(some.source, lengths=some.lengths)
    return [lexicon.decode(each.words) for each in greedy(model.step, state, first, stop=STOP, limit=limit)]


def attend(model: Any, pairs: Sequence[Pair], lexicon: Lexicon) -> list[Float[Tensor, "m n"]]:
    """What each target word looks at in its source, by the model's one cross-attention of one head."""
    sources, targets = _ids(pairs, lexicon)
    (name,), found = model.cross_attentions, dict[int, Tensor]()
    for group in by_length([len(source) for source in sources], tokens=4096):
        with record(model) as trace:
            force(model, [sources[i] for i in group], [targets[i][1:] for i in group], start=START, pad=PAD)
        weights = trace.weights(name)
        found |= {i: weights[place, 0, : len(pairs[i].target), : len(sources[i])] for place, i in enumerate(group)}
    return [found[i] for i in range(len(pairs))]


def _ids(pairs: Sequence[Pair], lexicon: Lexicon) -> tuple[list[list[int]], list[list[int]]]:
    sources = [lexicon.encode(pair.source) for pair in pairs]
    return sources, [[START, *lexicon.encode(pair.target), STOP] for pair in pairs]
