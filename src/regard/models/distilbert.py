"""DistilBERT: a BERT of half the depth, taught by a whole one, without segments and pooler (Sanh 2019).

Deviations: first weights are drawn from a whole normal distribution; what an attention adds is dropped as well as what
an MLP adds, as in BERT, where the authors' code drops the second alone.
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


class DistilBERT(nn.Module):
    """An encoder of one text or of two, with the head that its config names."""

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
        self.span_dropout = Dropout(config.head_dropout if config.head == "spans" else 0.0)
        self.head = EncoderHead(
            config.head,
            config.width,
            classes=config.classes,
            dropout=config.head_dropout if config.head == "classify" else config.dropout,
            pooler=partial(Pooler, config.width, nn.ReLU),
            words=partial(MaskedWords, self.embed, config.width, ACTIVATIONS[config.activation], eps=EPS),
            pools=("classify",),
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
    ) -> Output:
        """The states of all tokens, and what the head says.

        `lengths` are those of rows that are padded behind; `visible` is True at tokens that are no padding, wherever it
        stands, or says that the texts are `packed` in one row. What is not visible is not read. Nor are `segments`:
        they are taken because BERT's tokenizer gives them, and texts are told apart by what stands between them.
        """
        hidden = self.read(ids, segments=segments, lengths=lengths, visible=visible)
        output: Output = self.head(self.span_dropout(hidden), visible)
        return output._replace(hidden=hidden)

    def read(
        self,
        ids: Int[Tensor, "b n"],
        *,
        segments: Int[Tensor, "b n"] | None = None,  # noqa: ARG002  # see `forward`
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
    ) -> Float[Tensor, "b n w"]:
        """The states of all tokens, without the head: a training of `head.words` needs them at hidden words alone."""
        seen, positions = read_visible(lengths, visible, ids.shape[1])
        x = self.position(self.embed(ids), 0 if positions is None else positions)
        hidden: Tensor = self.encoder(self.dropout(self.norm(x)), visible=seen, positions=positions)
        return hidden


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
