"""English stories with a German word for each word, and a small encoder that learns to say them.

For “it” the German word is er, ihn, sie or es, as the thing that is meant has it; so the encoder has to find the thing.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import multihead, padding, record
from regard.attention.core import Edit
from regard.claims.translation import PAD, Lexicon
from regard.decode.batching import pad_rows
from regard.layers import MLP, Block, Stack
from regard.layers.position import Sinusoidal
from regard.train.small import learn
from regard.world.language import Story, grammar, pair, vocabulary

WIDTH, HEADS, DEPTH = 64, 4, 2
ENGLISH, GERMAN = Lexicon(vocabulary("en")), Lexicon(vocabulary("de"))
_NOUNS = ("NN", "NNS", "NNP")


class Told(NamedTuple):
    """A story: its words, the ids of their German (PAD for none), the places of nouns, and those of “it”.

    Beside each “it” stands the place of the noun that it stands for, where that was last named before.
    """

    words: list[str]
    german: list[int]
    nouns: list[int]
    its: list[tuple[int, int]]


def tell(story: Story) -> Told:
    words, german, nouns, starts = list[str](), list[int](), list[int](), list[int]()
    for meaning in story.meanings:
        said, start = pair(meaning, "en", "de"), len(words)
        own: dict[int, str] = {}
        for i, j in sorted(said.alignment):
            own.setdefault(i, said.target[j])
        german += [GERMAN.encode([own[i]])[0] if i in own else PAD for i in range(len(said.source))]
        nouns += [start + i for i, token in enumerate(grammar("en")(meaning)) if token[2] in _NOUNS]
        words += said.source
        starts.append(start)
    places = [(starts[here] + i, starts[there] + j) for (here, i), (there, j) in story.antecedents]
    return Told(words, german, nouns, [(i, j) for i, j in places if words[i] == "it"])


class Encoder(nn.Module):
    """Words in, and for each of them logits of its German."""

    def __init__(self) -> None:
        super().__init__()
        blocks = [Block(WIDTH, multihead(WIDTH, HEADS), MLP(WIDTH, 2 * WIDTH)) for _ in range(DEPTH)]
        self.embed, self.stack = nn.Embedding(len(ENGLISH), WIDTH), Stack(blocks, Sinusoidal(WIDTH))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(GERMAN))

    def forward(self, ids: Int[Tensor, "b n"], lengths: Int[Tensor, " b"]) -> Float[Tensor, "b n v"]:
        seen = self.stack(self.embed(ids), visible=padding(lengths, ids.shape[1]))
        logits: Tensor = self.head(self.norm(seen))
        return logits


def train(model: Encoder, told: Sequence[Told], *, steps: int, seed: int) -> Iterator[float]:
    """Learn the German of all words; the loss of each step."""
    chance = Random(seed)

    def loss() -> Tensor:
        some = chance.sample(told, min(24, len(told)))
        wanted, _ = pad_rows([one.german for one in some], PAD)
        return F.cross_entropy(model(*_ids(some)).flatten(0, 1), wanted.flatten(), ignore_index=PAD)

    return learn(model, loss, steps=steps, lr=3e-3)


@torch.no_grad()
def right(model: Encoder, told: Sequence[Told], edits: Mapping[str, Edit]) -> float:
    """How often the German for “it” is right, while some attentions look elsewhere."""
    with record(model, edits=edits):
        said = model(*_ids(told)).argmax(-1).tolist()
    hits = [bool(row[i] == one.german[i]) for row, one in zip(said, told, strict=True) for i, _ in one.its]
    return sum(hits) / max(len(hits), 1)


@torch.no_grad()
def looks(model: Encoder, told: Sequence[Told]) -> list[list[list[int]]]:
    """By head and story, the place that each “it” looks at most."""
    with record(model) as trace:
        model(*_ids(told))
    strongest = torch.cat([trace.weights(name) for name in trace], dim=1).argmax(-1).transpose(0, 1).tolist()
    return [[[row[i] for i, _ in one.its] for row, one in zip(rows, told, strict=True)] for rows in strongest]


def _ids(told: Sequence[Told]) -> tuple[Int[Tensor, "b n"], Int[Tensor, " b"]]:
    return pad_rows([ENGLISH.encode(one.words) for one in told], PAD)
