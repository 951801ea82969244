"""A translator with one attention: each word is asked for by the word before it and its place, and nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import multihead, padding
from regard.cli.tour.phrases import ENGLISH, ITALIAN, MARKS, Pair
from regard.layers.position import Sinusoidal

_ENGLISH = {word: number for number, word in enumerate(ENGLISH)}
_ITALIAN = {word: number for number, word in enumerate(ITALIAN)}


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentence pairs as numbers. The two languages need the same number of words in this world."""

    source: Int[Tensor, "b n"]
    target: Int[Tensor, "b n"]
    lengths: Int[Tensor, " b"]

    @property
    def previous(self) -> Int[Tensor, "b n"]:
        """What stands before each target word; before the first one, a full stop."""
        return F.pad(self.target[:, :-1], (1, 0))

    @property
    def real(self) -> Bool[Tensor, "b n"]:
        """True where there is a word, not padding."""
        return padding(self.lengths, self.source.shape[1])[:, 0, 0]

    def __getitem__(self, rows: Int[Tensor, " r"]) -> "Batch":
        return Batch(self.source[rows], self.target[rows], self.lengths[rows])


def batch(pairs: Sequence[Pair]) -> Batch:
    """Pairs side by side, padded at the end."""
    longest = max(len(pair.english) for pair in pairs)
    source = [[_ENGLISH[word] for word in pair.english] + [0] * (longest - len(pair.english)) for pair in pairs]
    target = [[_ITALIAN[word] for word in pair.italian] + [0] * (longest - len(pair.italian)) for pair in pairs]
    lengths = [len(pair.english) for pair in pairs]
    return Batch(torch.tensor(source), torch.tensor(target), torch.tensor(lengths))


class Translator(nn.Module):
    """Two embeddings, places, one look at the source, one linear map to words."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.english = nn.Embedding(len(ENGLISH), width)
        self.italian = nn.Embedding(len(ITALIAN), width)
        self.place = Sinusoidal(width)
        self.attn = multihead(width, heads=1)
        self.to_vocab = nn.Linear(width, len(ITALIAN))

    def forward(
        self, source: Int[Tensor, "b n"], previous: Int[Tensor, "b m"], lengths: Int[Tensor, " b"]
    ) -> Float[Tensor, "b m v"]:
        memory = self.attn.remember(self.place(self.english(source)), visible=padding(lengths, source.shape[1]))
        asking = self.place(self.italian(previous))
        logits: Tensor = self.to_vocab(asking + self.attn(asking, memory))
        return logits


def learn(model: Translator, lessons: Batch, *, steps: int, rows: int = 32, rate: float = 5e-3) -> Iterator[float]:
    """Train on random rows of the lessons; after each step, its loss."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps + 1)
    for _ in range(steps):
        some = lessons[torch.randint(len(lessons.lengths), (rows,))]
        logits = model(some.source, some.previous, some.lengths)
        loss = F.cross_entropy(logits[some.real], some.target[some.real])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        yield loss.item()


@torch.no_grad()
def decode(model: Translator, questions: Batch) -> Int[Tensor, "b n"]:
    """Translate freely: each word is the argmax after those chosen before it."""
    words = torch.zeros_like(questions.target[:, :1])
    for _ in range(questions.target.shape[1]):
        logits = model(questions.source, words, questions.lengths)
        words = torch.cat((words, logits[:, -1:].argmax(dim=-1)), dim=1)
    return words[:, 1:]


def spelled(words: Int[Tensor, " n"]) -> tuple[str, ...]:
    """The Italian of a row of numbers, up to its mark."""
    italian = [ITALIAN[number] for number in words.tolist()]
    end = next((place for place, word in enumerate(italian) if word in MARKS), len(italian) - 1)
    return tuple(italian[: end + 1])
