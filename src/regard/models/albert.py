"""ALBERT: BERT with one layer for its whole depth, and words in narrow vectors that are widened (Lan 2020).

Trained on hidden words, and on whether two sentences stand in their order: the second logits of the head
`pretraining`. What is shared looks once for each pass: `trace["encoder.blocks.0.attn"]` has `depth` looks.
Deviations: as BERT's here; nothing is dropped before the order of sentences is judged.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import multihead
from regard.attention.masks import Visible
from regard.layers.blocks import Block, PostNormBlock
from regard.layers.dropout import Dropout
from regard.layers.heads import EncoderHead, Head, MaskedWords, Pooler
from regard.layers.language import LanguageEncoder, draw_weights
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.position import Learned
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Details:
    """What all published models have in common, and others may not."""

    segments: int = 2
    eps: float = 1e-12  # of the norms
    classifier_dropout: float = 0.1  # also where nothing else is dropped
    groups: int = 1  # of passes, each with layers of its own
    layers: int = 1  # of a group, all of which a pass runs through


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 30000
    embedding: int = 128  # the width of the vectors of words
    width: int = 768
    depth: int = 12  # passes through the shared layers
    heads: int = 12
    hidden: int = 3072
    context: int = 512
    dropout: float = 0.0
    activation: Literal["gelu", "gelu_tanh", "relu", "silu"] = "gelu_tanh"
    details: Details = Details()
    head: Head = "pretraining"
    classes: int = 2  # of a sentence, or of each token


class Shared(nn.Module):
    """Blocks that are run through again and again: a group of them for each stretch of the depth."""

    def __init__(self, blocks: Iterable[Block], *, depth: int, groups: int) -> None:
        super().__init__()
        self.blocks, self.depth, self.groups = nn.ModuleList(blocks), depth, groups
        if not self.blocks or groups > depth:
            raise ValueError(
                f"{groups} groups with {len(self.blocks)} layers do not share {depth} passes; give 1 group or more, "
                f"each 1 layer or more, and no more groups than passes"
            )

    def forward(
        self,
        x: Float[Tensor, "b n w"],
        *,
        visible: Visible | None = None,
        positions: Int[Tensor, "#b n"] | None = None,
    ) -> Float[Tensor, "b n w"]:
        layers = len(self.blocks) // self.groups
        for i in range(self.depth):
            group = int(i / (self.depth / self.groups))  # rounded as the authors' code rounds
            for block in self.blocks[group * layers : (group + 1) * layers]:
                x = block(x, visible=visible, positions=positions)
        return x


class ALBERT(LanguageEncoder):
    """Narrow words that are widened, layers that are passed again and again, and the head that the config names."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        details = config.details
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.embedding)
        self.segment = nn.Embedding(details.segments, config.embedding)
        self.position = Learned(config.context, config.embedding)
        self.norm = nn.LayerNorm(config.embedding, eps=details.eps)
        self.dropout = Dropout(config.dropout)
        self.widen = nn.Linear(config.embedding, config.width)
        self.encoder = Shared(
            (
                PostNormBlock(
                    config.width,
                    multihead(config.width, config.heads, dropout=config.dropout),
                    MLP(config.width, config.hidden, activation=ACTIVATIONS[config.activation]),
                    norm=partial(nn.LayerNorm, eps=details.eps),
                    dropout=config.dropout,
                )
                for _ in range(details.groups * details.layers)
            ),
            depth=config.depth,
            groups=details.groups,
        )
        self.head = EncoderHead(
            config.head,
            config.width,
            classes=config.classes,
            dropout=details.classifier_dropout,
            pooler=partial(Pooler, config.width),
            words=partial(MaskedWords, self.embed, config.width, ACTIVATIONS[config.activation], eps=details.eps),
        )
        draw_weights(self)

    def embed_words(
        self, ids: Int[Tensor, "b n"], segments: Int[Tensor, "b n"] | None, positions: int | Int[Tensor, "#b n"]
    ) -> Float[Tensor, "b n w"]:
        x = self.embed(ids) + self.segment(torch.zeros_like(ids) if segments is None else segments)
        embedded: Tensor = self.widen(self.dropout(self.norm(self.position(x, positions))))
        return embedded


def example(config: Config) -> dict[str, Any]:
    return {
        "ids": torch.randint(config.vocab, (2, 6)),
        "segments": torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0]]),
        "lengths": torch.tensor([6, 4]),
    }


# Table 1 of the paper, with the heads, the activation and the dropout of version 2 of the published weights.
PRESETS = {
    "albert-base": Config(),
    "albert-large": Config(width=1024, depth=24, heads=16, hidden=4096),
    "albert-xlarge": Config(width=2048, depth=24, heads=16, hidden=8192),
    "albert-xxlarge": Config(width=4096, heads=64, hidden=16384),
    "albert-nano": Config(vocab=48, embedding=16, width=32, depth=3, heads=4, hidden=64, context=32),
}

FAMILY = Family("albert", Config, ALBERT, PRESETS, example)
