"""word2vec: a word is known by the company it keeps (Mikolov 2013, arXiv:1301.3781 and 1310.4546).

The network of the lecture: N → n → N, two matrices and nothing between them. A word enters as a one-hot row of N
numbers; times the first matrix that is one row of it, the word's vector of n numbers; times the second matrix it is a
score for every word that might stand near. Skip-gram reads one word and predicts each of its neighbours, CBOW reads the
mean of the neighbours and predicts the word between them.

The softmax over N words is what makes that dear, so it is avoided: negative sampling asks for the true word against a
few drawn ones, the hierarchical softmax asks at each fork of a binary tree which way the word lies. Both are logistic
regressions on rows of the second matrix (`logistic_loss`); in a tree these rows are the N - 1 forks. After the
training the second matrix may be thrown away: with `output="none"` words are scored by the first.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.models.family import Family

Method = Literal["skipgram", "cbow"]
Loss = Literal["negative", "hierarchical", "softmax"]
Output = Literal["words", "none"]


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 692_000  # N, the words that were met five times among a billion
    width: int = 300  # n
    method: Method = "skipgram"
    loss: Loss = "negative"  # what it was trained by; in a tree, the output has a row for each fork
    output: Output = "words"  # none: the second matrix is not kept


class Word2Vec(nn.Module):
    """One row of a matrix for each word, trained to tell which words stand near."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        for name, value, known in (
            ("method", config.method, Method),
            ("loss", config.loss, Loss),
            ("output", config.output, Output),
        ):
            if value not in get_args(known):
                raise ValueError(f"{name} {value!r} is not known; choose {', '.join(get_args(known))}")
        if config.vocab < 2:
            raise ValueError(f"a vocabulary of {config.vocab} has no neighbours; give 2 words or more")
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        nn.init.uniform_(self.embed.weight, -0.5 / config.width, 0.5 / config.width)
        self.output: nn.Linear | None = None
        if config.output == "words":
            rows = config.vocab - (config.loss == "hierarchical")
            self.output = nn.Linear(config.width, rows, bias=False)
            nn.init.zeros_(self.output.weight)

    def forward(self, words: Int[Tensor, "b c"]) -> Float[Tensor, "b n"]:
        """Scores of the words that may stand near these, or of the forks of a tree; c is 1 in skip-gram."""
        hidden: Tensor = self.embed(words).mean(dim=1)
        return F.linear(hidden, self.embed.weight) if self.output is None else self.output(hidden)


def logistic_loss(
    hidden: Float[Tensor, "c d"], rows: Float[Tensor, "t d"], wanted: Float[Tensor, " t"]
) -> Float[Tensor, ""]:
    """The summed cross entropy of answering yes (1) or no (0) to rows of the second matrix."""
    scores = hidden @ rows.T
    return F.binary_cross_entropy_with_logits(scores, wanted.expand_as(scores), reduction="sum")


def example(config: Config) -> dict[str, Any]:
    return {"words": torch.randint(config.vocab, (2, 1 if config.method == "skipgram" else 4))}


PRESETS = {
    "word2vec": Config(),  # 1310.4546 §3
    "word2vec-news": Config(
        vocab=3_000_000, output="none"
    ),  # as it was published, from a hundred billion words of news
    "word2vec-nano": Config(vocab=50, width=8),
}

FAMILY = Family("word2vec", Config, Word2Vec, PRESETS, example)
