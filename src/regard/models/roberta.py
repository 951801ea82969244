"""RoBERTa: BERT without its next sentence, trained longer on more text with words hidden anew each time (Liu 2019).

CamemBERT (Martin 2020) and XLM-R (Conneau 2020) are weights of these shapes. Positions count the tokens of a text from
0; the published files keep them behind rows that nothing reads. Deviations: as BERT's here.
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
    vocab: int = 50265
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    context: int = 512
    segments: int = 1  # one: two texts are told apart by what stands between them
    dropout: float = 0.1
    activation: Literal["gelu", "gelu_tanh", "relu", "silu"] = "gelu"
    eps: float = 1e-5  # of the norms
    head: Head = "masked"
    classes: int = 2  # of a sentence, or of each token


class RoBERTa(LanguageEncoder):
    """BERT's layers with one segment, and its heads without the next sentence."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.head == "pretraining":
            raise ValueError("RoBERTa is not trained on next sentences; give head='masked' instead of 'pretraining'")
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
            pooler=partial(Pooler, config.width, dropout=config.dropout if config.head == "classify" else 0.0),
            words=partial(MaskedWords, self.embed, config.width, nn.GELU, eps=config.eps),
            pools=("classify", "none"),
        )
        draw_weights(self)

    def embed_words(
        self, ids: Int[Tensor, "b n"], segments: Int[Tensor, "b n"] | None, positions: int | Int[Tensor, "#b n"]
    ) -> Float[Tensor, "b n w"]:
        x = self.embed(ids) + self.segment(torch.zeros_like(ids) if segments is None else segments)
        embedded: Tensor = self.dropout(self.norm(self.position(x, positions)))
        return embedded


def example(config: Config) -> dict[str, Any]:
    return {"ids": torch.randint(config.vocab, (2, 6)), "lengths": torch.tensor([6, 4])}


# Base and large: table 9 of the paper. Distilled: Sanh 2019. CamemBERT and XLM-R: their published vocabularies.
PRESETS = {
    "roberta-base": Config(),
    "roberta-large": Config(width=1024, depth=24, heads=16, hidden=4096),
    "roberta-distil": Config(depth=6),
    "roberta-camembert-base": Config(vocab=32005),
    "roberta-camembert-large": Config(vocab=32005, width=1024, depth=24, heads=16, hidden=4096),
    "roberta-xlm-base": Config(vocab=250002),
    "roberta-xlm-large": Config(vocab=250002, width=1024, depth=24, heads=16, hidden=4096),
    "roberta-nano": Config(vocab=48, width=32, depth=2, heads=4, hidden=64, context=32),
}

FAMILY = Family("roberta", Config, RoBERTa, PRESETS, example)
