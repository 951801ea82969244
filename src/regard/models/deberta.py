"""DeBERTa: a BERT that scores what words are apart from where they stand (He 2021; v2; He 2023, v3).

Words are placed by their distances alone. Absolute positions may enter with the words, as in BERT, or in the last block
while hidden words are guessed, which is the paper's enhanced mask decoder. `transformers` has no such decoder, and
checkpoints in its form are loaded without: their masked words are guessed as it guesses them.

Deviations: both terms of positions look up the same distance, as the authors' code does and the paper does not; v3's
training, to find words that a generator replaced, is no head of its own but `tokens`; one dropout serves embeddings,
distances, branches, attention weights and classifiers, as in every published model.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Attention, Memory, Packed, multihead
from regard.attention.disentangled import Distances, Terms, disentangled
from regard.attention.masks import Visible
from regard.layers.blocks import NO_CROSS, Norm, PostNormBlock
from regard.layers.dropout import Dropout
from regard.layers.heads import EncoderHead, Head, MaskedWords, Pooler
from regard.layers.language import LanguageEncoder, draw_weights
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.position import Learned
from regard.layers.stack import Stack
from regard.models.family import Family

ROUNDS = 2  # of the mask decoder (He 2021, §3.2)


@dataclass(frozen=True, slots=True)
class Positions:
    """How a word knows where it stands."""

    absolute: Literal["none", "input", "decoder"] = "none"  # the decoder is asked for hidden words alone
    relative: Terms | Literal["none"] = "both"
    buckets: int | None = 256  # of distances each way
    reach: int = 512  # farther ones are alike
    shared: bool = True  # distances and words have the same projections
    norm: bool = True  # of the vectors of distances


@dataclass(frozen=True, slots=True)
class Convolution:
    """What v2 puts beside the first block, so that neighbours make words of their pieces."""

    kernel: int = 3
    groups: int = 1
    activation: Literal["tanh", "gelu", "gelu_tanh", "relu", "silu"] = "gelu"


@dataclass(frozen=True, slots=True)
class Details:
    """What all models of the papers have in common, and others may not."""

    segments: int = 0  # none: two texts are told apart by what stands between them
    embedding: int | None = None  # the width of the vectors of words, where it is another
    activation: Literal["gelu", "gelu_tanh", "relu", "silu"] = "gelu"
    eps: float = 1e-7  # of the norms
    pooler_dropout: float = 0.0


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 128100
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    context: int = 512
    dropout: float = 0.1
    positions: Positions = Positions()
    convolution: Convolution | None = None
    details: Details = Details()
    head: Head = "masked"
    classes: int = 2  # of a sentence, or of each token


class ConvolvedBlock(PostNormBlock):
    """A block whose answer is joined by a convolution of what it read (the nGiE of v2)."""

    def __init__(
        self, width: int, attn: nn.Module, mlp: nn.Module, *, convolution: Convolution, norm: Norm, dropout: float
    ) -> None:
        super().__init__(width, attn, mlp, norm=norm, dropout=dropout)
        if convolution.kernel < 1 or convolution.kernel % 2 == 0:
            raise ValueError(f"a convolution over {convolution.kernel} words has no middle; give an odd number")
        self.conv = nn.Conv1d(
            width, width, convolution.kernel, padding=convolution.kernel // 2, groups=convolution.groups
        )
        self.conv_activation = nn.Tanh() if convolution.activation == "tanh" else ACTIVATIONS[convolution.activation]()
        self.conv_dropout, self.conv_norm = Dropout(dropout), norm(width)

    def forward(
        self,
        x: Float[Tensor, "b n w"],
        context: Memory | None = None,
        *,
        where: Float[Tensor, "#b n w"] | None = None,
        visible: Visible | None = None,
        context_visible: Visible | None = None,
        positions: Int[Tensor, "#b n"] | None = None,
    ) -> Float[Tensor, "b n w"]:
        y = super().forward(
            x, context, where=where, visible=visible, context_visible=context_visible, positions=positions
        )
        # A convolution sees its neighbours whoever may look at whom: padding must be nothing to it.
        seen = x * visible[:, 0, 0, :, None] if isinstance(visible, Tensor) else x
        joined: Tensor = self.conv_norm(y + self.conv_activation(self.conv_dropout(self.conv(seen.mT).mT)))
        return joined


class MaskDecoder(PostNormBlock):
    """The enhanced mask decoder: a last block that asks as often as `ROUNDS`, first by where words stand (§3.2).

    Absolute positions reach the queries, and not the keys and values, which are the same in each round.
    """

    def __init__(
        self, width: int, attn: Attention, mlp: nn.Module, *, context: int, norm: Norm, dropout: float
    ) -> None:
        super().__init__(width, attn, mlp, norm=norm, dropout=dropout)
        self.attn: Attention
        self.position = Learned(context, width)

    def forward(
        self,
        x: Float[Tensor, "b n w"],
        context: Memory | None = None,
        *,
        where: Float[Tensor, "#b n w"] | None = None,
        visible: Visible | None = None,
        context_visible: Visible | None = None,  # noqa: ARG002
        positions: Int[Tensor, "#b n"] | None = None,
    ) -> Float[Tensor, "b n w"]:
        if context is not None:
            raise ValueError(NO_CROSS)
        memory = self.attn.remember(x)
        y: Tensor = self.position(x, 0 if positions is None else positions)
        for _ in range(ROUNDS):
            y = self.attn_norm(self.attn_join(y, self.attn(y, memory, where=where, visible=visible)))
            y = self.mlp_norm(self.mlp_join(y, self.mlp(y)))
        return y


class DeBERTa(LanguageEncoder):
    """Words, blocks that score words and distances apart, and the head that the config names.

    A model without segments, as published, tells two texts apart by what stands between them.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.head == "pretraining":
            raise ValueError("a DeBERTa guesses no next sentence; its head is 'masked' where it is trained first")
        self.config = config
        details, absolute = config.details, config.positions.absolute
        embedding = config.width if details.embedding is None else details.embedding
        self.embed = nn.Embedding(config.vocab, embedding)
        self.segment = nn.Embedding(details.segments, embedding) if details.segments else None
        self.position = Learned(config.context, embedding) if absolute == "input" else None
        self.widen = None if embedding == config.width else nn.Linear(embedding, config.width, bias=False)
        self.norm = nn.LayerNorm(config.width, eps=details.eps)
        self.dropout = Dropout(config.dropout)
        self.distances = _distances(config)
        self.encoder = Stack(_block(config, i, self.distances) for i in range(config.depth))
        self.head = EncoderHead(
            config.head,
            config.width,
            classes=config.classes,
            dropout=config.dropout,
            pooler=partial(Pooler, config.width, nn.GELU, dropout=details.pooler_dropout),
            words=partial(MaskedWords, self.embed, config.width, ACTIVATIONS[details.activation], eps=details.eps),
            pools=("classify",),
        )
        draw_weights(self)

    def embed_words(
        self, ids: Int[Tensor, "b n"], segments: Int[Tensor, "b n"] | None, positions: int | Int[Tensor, "#b n"]
    ) -> Float[Tensor, "b n w"]:
        x = self.embed(ids)
        if self.position is not None:
            x = self.position(x, positions)
        if self.segment is not None:
            x = x + self.segment(torch.zeros_like(ids) if segments is None else segments)
        embedded: Tensor = self.dropout(self.norm(x if self.widen is None else self.widen(x)))
        return embedded

    def read(
        self,
        ids: Int[Tensor, "b n"],
        *,
        segments: Int[Tensor, "b n"] | None = None,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
    ) -> Float[Tensor, "b n w"]:
        if isinstance(visible, Packed):
            return self._read_packed(ids, segments, visible)
        return super().read(ids, segments=segments, lengths=lengths, visible=visible)

    def _read_packed(self, ids: Tensor, segments: Tensor | None, texts: Packed) -> Tensor:
        """Texts of equal length are a batch: scores between all tokens of a row would be too many."""
        answers = []
        for start, count, length in texts.runs():
            run = slice(start, start + count * length)
            rows = ids[0, run].view(count, length)
            kinds = None if segments is None else segments[0, run].view(count, length)
            answers.append(self.read(rows, segments=kinds).flatten(0, 1))
        return torch.cat(answers)[None]


def _distances(config: Config) -> Distances | None:
    positions = config.positions
    if positions.relative == "none":
        return None
    norm = nn.LayerNorm(config.width, eps=config.details.eps) if positions.norm else None
    return Distances(config.width, buckets=positions.buckets, reach=positions.reach, norm=norm, dropout=config.dropout)


def _block(config: Config, i: int, distances: Distances | None) -> PostNormBlock:
    """The i-th block: the first may be convolved, and the last decodes where hidden words are guessed so."""
    positions, dropout, norm = config.positions, config.dropout, partial(nn.LayerNorm, eps=config.details.eps)
    if distances is None or positions.relative == "none":
        attn = multihead(config.width, config.heads, dropout=dropout)
    else:
        attn = disentangled(
            config.width, config.heads, distances, terms=positions.relative, shared=positions.shared, dropout=dropout
        )
    mlp = MLP(config.width, config.hidden, activation=ACTIVATIONS[config.details.activation])
    if positions.absolute == "decoder" and config.head == "masked" and i == config.depth - 1:
        return MaskDecoder(config.width, attn, mlp, context=config.context, norm=norm, dropout=dropout)
    if config.convolution is not None and i == 0:
        return ConvolvedBlock(config.width, attn, mlp, convolution=config.convolution, norm=norm, dropout=dropout)
    return PostNormBlock(config.width, attn, mlp, norm=norm, dropout=dropout)


def example(config: Config) -> dict[str, Any]:
    return {"ids": torch.randint(config.vocab, (2, 6)), "lengths": torch.tensor([6, 4])}


# He 2023, table 1 and the authors' repository; those of v2 are published there alone.
PRESETS = {
    "deberta-v3-base": Config(),
    "deberta-v3-large": Config(width=1024, depth=24, heads=16, hidden=4096),
    "deberta-v3-small": Config(depth=6),
    "deberta-v3-xsmall": Config(width=384, heads=6, hidden=1536),
    "deberta-v2-xlarge": Config(width=1536, depth=24, heads=24, hidden=6144, convolution=Convolution()),
    "deberta-v2-xxlarge": Config(width=1536, depth=48, heads=24, hidden=6144, convolution=Convolution()),
    "deberta-nano": Config(
        vocab=48, width=32, depth=2, heads=4, hidden=64, context=32, positions=Positions(buckets=8, reach=32)
    ),
}

FAMILY = Family("deberta", Config, DeBERTa, PRESETS, example)
