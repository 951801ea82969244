"""DistilBERT: a BERT of half the depth, taught by a whole one, without segments and pooler (Sanh 2019).

Deviations: first weights are drawn from a whole normal distribution; what an attention adds is dropped as well as what
an MLP adds, as in BERT, where the authors' code drops the second alone.
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

EPS = 1e-12  # of all norms


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 30522
    width: int = 768
    depth: int = 6
    heads: int = 12
    hidden: int = 3072
    context: int = 512
    dropout: float = 0.1
    head_dropout: float = 0.2  # before the layer that classifies texts, or finds spans
    activation: Literal["gelu", "gelu_tanh", "relu", "silu"] = "gelu"
    head: Head = "masked"
    classes: int = 2  # of a sentence, or of each token


class DistilBERT(LanguageEncoder):
    """BERT's layers without segments and pooler.

    `segments` are taken because BERT's tokenizer gives them, and not read: texts are told apart by what stands between.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.head == "pretraining":
            raise ValueError("DistilBERT is not trained on next sentences; give head='masked' instead of 'pretraining'")
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.position = Learned(config.context, config.width)
        self.norm = nn.LayerNorm(config.width, eps=EPS)
        self.dropout = Dropout(config.dropout)
        self.encoder = Stack(
            PostNormBlock(
                config.width,
                multihead(config.width, config.heads, dropout=config.dropout),
                MLP(config.width, config.hidden, activation=ACTIVATIONS[config.activation]),
                norm=partial(nn.LayerNorm, eps=EPS),
                dropout=config.dropout,
            )
            for _ in range(config.depth)
        )
        self.head = EncoderHead(
            config.head,
            config.width,
            classes=config.classes,
            dropout=config.head_dropout if config.head == "classify" else config.dropout,
            pooler=partial(Pooler, config.width, nn.ReLU),
            words=partial(MaskedWords, self.embed, config.width, ACTIVATIONS[config.activation], eps=EPS),
            pools=("classify",),
            span_dropout=config.head_dropout,
        )
        draw_weights(self)

    def embed_words(
        self,
        ids: Int[Tensor, "b n"],
        segments: Int[Tensor, "b n"] | None,  # noqa: ARG002
        positions: int | Int[Tensor, "#b n"],
    ) -> Float[Tensor, "b n w"]:
        x: Tensor = self.dropout(self.norm(self.position(self.embed(ids), positions)))
        return x


def example(config: Config) -> dict[str, Any]:
    return {"ids": torch.randint(config.vocab, (2, 6)), "lengths": torch.tensor([6, 4])}


# §3 of the paper, and the vocabularies of the other published weights.
PRESETS = {
    "distilbert-base": Config(),
    "distilbert-base-cased": Config(vocab=28996),
    "distilbert-base-multilingual": Config(vocab=119547),
    "distilbert-nano": Config(vocab=48, width=32, depth=2, heads=4, hidden=64, context=32),
}

FAMILY = Family("distilbert", Config, DistilBERT, PRESETS, example)
