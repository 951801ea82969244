"""BERT: a Transformer encoder that reads both ways, trained to guess hidden words and the next sentence (Devlin 2019).

Deviations: first weights are drawn from a whole normal distribution, where the authors' code cuts it at two standard
deviations; one dropout serves embeddings, branches, attention weights and classifiers, as in every published model.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import multihead
from regard.layers.blocks import PostNormBlock
from regard.layers.dropout import Dropout
from regard.layers.heads import EncoderHead, Head, MaskedWords, Pooler
from regard.layers.language import LanguageEncoder, draw_weights
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.position import Learned
from regard.layers.stack import Stack
from regard.models.family import Family


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


class BERT(LanguageEncoder):
    """Words, segments and learned positions, blocks that look both ways, and the head that the config names."""

    def __init__(self, config: Config) -> None:
        super().__init__()
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
        self.head = EncoderHead(
            config.head,
            config.width,
            classes=config.classes,
            dropout=config.dropout,
            pooler=partial(Pooler, config.width),
            words=partial(MaskedWords, self.embed, config.width, ACTIVATIONS[config.activation], eps=config.eps),
        )
        draw_weights(self)

    def embed_words(
        self, ids: Int[Tensor, "b n"], segments: Int[Tensor, "b n"] | None, positions: int | Int[Tensor, "#b n"]
    ) -> Float[Tensor, "b n w"]:
        x = self.embed(ids) + self.segment(torch.zeros_like(ids) if segments is None else segments)
        embedded: Tensor = self.dropout(self.norm(self.position(x, positions)))
        return embedded


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
