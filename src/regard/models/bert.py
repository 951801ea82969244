"""BERT: a Transformer encoder that reads both ways, trained to guess hidden words and the next sentence (Devlin 2019).

Deviations: first weights are drawn from a whole normal distribution, where the authors' code cuts it at two standard
deviations; one dropout serves embeddings, branches, attention weights and classifiers, as in every published model.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Packed, multihead, read_visible
from regard.layers.blocks import PostNormBlock
from regard.layers.dropout import Dropout
from regard.layers.heads import EncoderHead, Head, MaskedWords, Output, Pooler
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


class BERT(nn.Module):
    """An encoder of one text or of two, with the heads that its config names."""

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
        visible: Bool[Tensor, "b n"] | Packed | None = None,
        masked: Bool[Tensor, "b n"] | None = None,
    ) -> Output:
        """The states of all tokens, and what the head says.

        `segments` are 0 in the first text and 1 in the second; without them there is one text. `lengths` are those of
        rows that are padded behind; `visible` is True at tokens that are no padding, wherever it stands, or says that
        the texts are `packed` in one row. What is not visible is not read. Where `masked` is given, words are guessed
        at its places alone.
        """
        hidden = self.read(ids, segments=segments, lengths=lengths, visible=visible)
        output: Output = self.head(hidden, visible, masked)
        return output

    def read(
        self,
        ids: Int[Tensor, "b n"],
        *,
        segments: Int[Tensor, "b n"] | None = None,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
    ) -> Float[Tensor, "b n w"]:
        """The states of all tokens, without the head: a training of `head.words` needs them at hidden words alone."""
        seen, positions = read_visible(lengths, visible, ids.shape[1])
        x = self.embed(ids) + self.segment(torch.zeros_like(ids) if segments is None else segments)
        x = self.dropout(self.norm(self.position(x, 0 if positions is None else positions)))
        hidden: Tensor = self.encoder(x, visible=seen, positions=positions)
        return hidden


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
