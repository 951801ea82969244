"""End-to-end memory network: a question attends to the sentences of a story in several hops (Sukhbaatar 2015).

Word 0 is padding, and a sentence of nothing but padding is not there. Deviations: the positions of words are counted
by the length of their own sentence, so that padding cannot move them; "linear start" (training without the softmax
at first) and the random empty sentences of §4.1 are left to whoever trains it; of the two ways to share weights, only
the adjacent one is here, which the paper uses for questions and answers; and times may also be fixed.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, cast, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Attention, Dot, Memory
from regard.layers.position import sinusoid
from regard.models.family import Family

Words = Literal["position", "bag"]
Times = Literal["learned", "fixed"]


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 177  # the words of the twenty bAbI tasks together
    width: int = 50
    hops: int = 3
    context: int = 50  # sentences
    words: Words = "position"  # position encoding, or bag of words, which forgets their order
    times: Times = "learned"  # temporal encoding; fixed ones are sinusoidal, for stories of any length


class Sentences(nn.Module):
    """A sentence as the sum of its words' embeddings, each weighted by its position."""

    def __init__(self, vocab: int, width: int, context: int | None, words: Words) -> None:
        super().__init__()
        self.words = nn.Embedding(vocab, width)
        self.times = None if context is None else nn.Embedding(context, width)
        self.position = words == "position"
        for table in filter(None, (self.words, self.times)):
            nn.init.normal_(table.weight, std=0.1)  # §4.2

    def forward(self, ids: Int[Tensor, "b s w"], age: Int[Tensor, "b s"] | None = None) -> Float[Tensor, "b s d"]:
        """The sentences of a story with their ages, or a question, which has none."""
        summed: Tensor = (self.words(ids) * self._weights(ids)).sum(dim=-2)
        if age is None:
            return summed
        return summed + (self._waves(age) if self.times is None else self.times(age))

    def _waves(self, age: Int[Tensor, "b s"]) -> Float[Tensor, "b s d"]:
        # Of the size that learned times start with, or they would outweigh the words.
        return 0.1 * sinusoid(age, self.words.embedding_dim).to(self.words.weight.dtype)

    def _weights(self, ids: Int[Tensor, "b s w"]) -> Float[Tensor, "b s w #d"]:
        """l_kj = (1 - j/J) - (k/d)(1 - 2j/J) for channel k of word j (§4.1), and nothing for padding."""
        real = ids.ne(0)[..., None]
        if not self.position:
            return real.to(self.words.weight.dtype)
        width = self.words.embedding_dim
        position = real.cumsum(dim=-2) / real.sum(dim=-2, keepdim=True).clamp(min=1)
        channel = torch.arange(1, width + 1, device=ids.device) / width
        return ((1 - position - channel * (1 - 2 * position)) * real).to(self.words.weight.dtype)


class MemoryNetwork(nn.Module):
    """Predicts the word that answers a question about a story."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.words not in get_args(Words) or config.times not in get_args(Times):
            raise ValueError(
                f"words {config.words!r} and times {config.times!r} are not both known; "
                f"words are {' or '.join(get_args(Words))}, times {' or '.join(get_args(Times))}"
            )
        self.config = config
        # Adjacent sharing (§2.2): what a hop reads is what the next one looks for, so k hops need k + 1 embeddings.
        self.embeddings = nn.ModuleList(
            Sentences(config.vocab, config.width, config.context if config.times == "learned" else None, config.words)
            for _ in range(config.hops + 1)
        )
        self.hops = nn.ModuleList(
            Attention(nn.Identity(), nn.Identity(), nn.Identity(), nn.Identity(), score=Dot(1.0))
            for _ in range(config.hops)
        )

    def forward(self, story: Int[Tensor, "b s w"], question: Int[Tensor, "b q"]) -> Float[Tensor, "b v"]:
        """The logits of the vocabulary as answers; the newest sentence of a story is its last."""
        sentences = story.shape[1]
        if self.config.times == "learned" and sentences > self.config.context:
            raise ValueError(
                f"a story of {sentences} sentences is longer than the {self.config.context} it has times for; "
                f"give story[:, -{self.config.context}:], or build it with times='fixed'"
            )
        real = story.ne(0).any(dim=-1)
        encoded = [embedding(story, _age(real))[:, None] for embedding in self.embeddings]
        u: Tensor = self.embeddings[0](question[:, None])
        for hop, (k, v) in zip(self.hops, pairwise(encoded), strict=True):
            u = u + hop(u, Memory(k, v, real[:, None, None]))
        return u[:, 0] @ cast(Sentences, self.embeddings[-1]).words.weight.T


def _age(real: Bool[Tensor, "b s"]) -> Int[Tensor, "b s"]:
    """How many sentences came after each, so that the newest always have the same times."""
    after: Tensor = real.flip(1).cumsum(dim=1).flip(1) - real.long()
    return after


def example(config: Config) -> dict[str, Any]:
    return {"story": torch.randint(1, config.vocab, (2, 4, 3)), "question": torch.randint(1, config.vocab, (2, 3))}


# Section 4.2: width 20 for one task, 50 for all of them together.
PRESETS = {
    "memnet-babi": Config(),
    "memnet-babi-single": Config(width=20),
    "memnet-nano": Config(vocab=16, width=16, context=20),
}

FAMILY = Family("memnet", Config, MemoryNetwork, PRESETS, example)
