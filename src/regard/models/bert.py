"""BERT: a Transformer encoder that reads both ways, trained to guess hidden words and the next sentence (Devlin 2019).

Deviations: first weights are drawn from a whole normal distribution, where the authors' code cuts it at two standard
deviations; one dropout serves embeddings, branches, attention weights and classifiers, as in every published model.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, cast, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import multihead, padding
from regard.layers.blocks import PostNormBlock
from regard.layers.dropout import Dropout
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.position import Learned
from regard.layers.stack import Stack
from regard.layers.tied import Tied
from regard.models.family import Family

# The two heads of the training, the first of them alone, and figure 4: of a sentence or pair, of each token, of spans.
Head = Literal["pretraining", "masked", "classify", "tokens", "spans", "none"]


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 30522
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    context: int = 512
    segments: int = 2
    dropout: float = 0.1
    activation: Literal["gelu", "gelu_tanh", "relu", "silu"] = "gelu"
    eps: float = 1e-12  # of the norms
    head: Head = "pretraining"
    classes: int = 2  # of a sentence, or of each token


class Output(NamedTuple):  # a tuple, which torch exports and shards as it is
    """What BERT has read, and what its heads say of it; where a text is padded, the rest of its row means nothing."""

    hidden: Float[Tensor, "b n w"]
    pooled: Float[Tensor, "b w"] | None  # the first token, [CLS], where a head reads it
    # Of words "b n v"; of classes "b c", or "b n c" for each token; of being the first and the last of a span "b n 2".
    logits: Tensor | None
    next_sentence: Float[Tensor, "b 2"] | None  # the second sentence follows the first, or was drawn at random


class BERT(nn.Module):
    """An encoder of one text or of two, with the heads that its config names."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.head not in get_args(Head):
            raise ValueError(f"BERT has no head {config.head!r}; choose from {', '.join(get_args(Head))}")
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.segment = nn.Embedding(config.segments, config.width)
        self.position = Learned(config.context, config.width)
        self.norm = nn.LayerNorm(config.width, eps=config.eps)
        self.dropout = Dropout(config.dropout)
        self.encoder = Stack(
            PostNormBlock(
                config.width,
                multihead(config.width, config.heads, dropout=config.dropout),
                MLP(config.width, config.hidden, activation=ACTIVATIONS[config.activation]),
                norm=partial(nn.LayerNorm, eps=config.eps),
                dropout=config.dropout,
            )
            for _ in range(config.depth)
        )
        has, width = config.head, config.width
        self.pooler = nn.Linear(width, width) if has in ("pretraining", "classify", "none") else None
        self.words = MaskedWords(config, self.embed) if has in ("pretraining", "masked") else None
        self.next_sentence = nn.Linear(width, 2) if has == "pretraining" else None
        self.classifier = nn.Linear(width, config.classes) if has in ("classify", "tokens") else None
        self.spans = nn.Linear(width, 2) if has == "spans" else None
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(
        self,
        ids: Int[Tensor, "b n"],
        *,
        segments: Int[Tensor, "b n"] | None = None,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> Output:
        """The states of all tokens, and what the heads say.

        `segments` are 0 in the first text and 1 in the second; without them there is one text. `lengths` are those of
        the rows, where they are padded on the right; what stands beyond them is not read.
        """
        hidden = self.read(ids, segments=segments, lengths=lengths)
        pooled = None if self.pooler is None else self.pooler(hidden[:, 0]).tanh()
        return Output(
            hidden,
            pooled,
            self._logits(hidden, pooled),
            None if self.next_sentence is None else self.next_sentence(pooled),
        )

    def read(
        self,
        ids: Int[Tensor, "b n"],
        *,
        segments: Int[Tensor, "b n"] | None = None,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b n w"]:
        """The states of all tokens, without the heads: a training of `words` needs them at hidden words alone."""
        x = self.embed(ids) + self.segment(torch.zeros_like(ids) if segments is None else segments)
        x = self.dropout(self.norm(self.position(x)))
        hidden: Tensor = self.encoder(x, visible=None if lengths is None else padding(lengths, ids.shape[1]))
        return hidden

    def _logits(self, hidden: Float[Tensor, "b n w"], pooled: Float[Tensor, "b w"] | None) -> Tensor | None:
        if self.classifier is not None:
            return cast(Tensor, self.classifier(self.dropout(hidden if pooled is None else pooled)))
        head = self.spans if self.words is None else self.words
        return None if head is None else cast(Tensor, head(hidden))


class MaskedWords(nn.Module):
    """Which word stands at each place: a small layer, and the matrix that embeds the words."""

    def __init__(self, config: Config, embed: nn.Embedding) -> None:
        super().__init__()
        self.dense = nn.Linear(config.width, config.width)
        self.activation = ACTIVATIONS[config.activation]()
        self.norm = nn.LayerNorm(config.width, eps=config.eps)
        self.to_vocab = Tied(embed, bias=True)

    def forward(self, x: Float[Tensor, "b n w"]) -> Float[Tensor, "b n v"]:
        logits: Tensor = self.to_vocab(self.norm(self.activation(self.dense(x))))
        return logits


def example(config: Config) -> dict[str, Any]:
    return {
        "ids": torch.randint(config.vocab, (2, 6)),
        "segments": torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0]]),
        "lengths": torch.tensor([6, 4]),
    }


# Base and large are §3 of the paper with the uncased vocabulary; the smaller ones are of Turc 2019.
PRESETS = {
    "bert-base": Config(),
    "bert-large": Config(width=1024, depth=24, heads=16, hidden=4096),
    "bert-medium": Config(width=512, depth=8, heads=8, hidden=2048),
    "bert-small": Config(width=512, depth=4, heads=8, hidden=2048),
    "bert-mini": Config(width=256, depth=4, heads=4, hidden=1024),
    "bert-tiny": Config(width=128, depth=2, heads=2, hidden=512),
    "bert-nano": Config(vocab=48, width=32, depth=2, heads=4, hidden=64, context=32),
}

FAMILY = Family("bert", Config, BERT, PRESETS, example)
