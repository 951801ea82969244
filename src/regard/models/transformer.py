"""The Transformer: attention alone carries a sentence into another language (Vaswani 2017).

Deviations: queries, keys and values have constant terms, as in the implementations that followed; `norm_first` moves
the norms before the branches and adds a final one to either stack (Xiong 2020). As in the paper's text, dropout thins
what joins the stream and the embeddings, not the attention; source, target and output share one matrix over one
vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, arange, nn

from regard.attention import Attention, Memory, causal, multihead, padding
from regard.layers.blocks import Block, PostNormBlock
from regard.layers.dropout import Dropout
from regard.layers.mlp import MLP
from regard.layers.position import Sinusoidal
from regard.layers.stack import Stack
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 37000
    width: int = 512
    depth: int = 6  # of the encoder, and of the decoder
    heads: int = 8
    hidden: int = 2048
    dropout: float = 0.1
    norm_first: bool = False  # norms before the branches, which trains without a warm-up


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where the writing of a batch stands: the source, read once, and what has been written so far."""

    contexts: Sequence[Memory]  # the source, as each block of the decoder sees it
    sentences: Int[Tensor, " b"]  # which source each row translates
    past: Sequence[Memory] | None = None

    def select(self, rows: Int[Tensor, " r"]) -> "State":
        """These rows, in this order and as often as they are named. Neighbours of one sentence share its source."""
        sentences = self.sentences[rows]
        return State(
            self.contexts if sentences.equal(self.sentences) else [memory.share(rows) for memory in self.contexts],
            sentences,
            None if self.past is None else [memory.select(rows) for memory in self.past],
        )


class Tied(nn.Module):
    """How much a state means each word, by the matrix that embeds them (Press and Wolf 2017)."""

    def __init__(self, embed: nn.Embedding) -> None:
        super().__init__()
        self._embed = (embed,)  # in a tuple: the matrix belongs to the embedding, and is stored once

    @property
    def weight(self) -> Float[Tensor, "v w"]:
        return self._embed[0].weight

    def forward(self, x: Float[Tensor, "b n w"]) -> Float[Tensor, "b n v"]:
        return F.linear(x, self.weight)


class Transformer(nn.Module):
    """An encoder that reads all words at once, and a decoder that writes one after another while looking at them.

    `start` reads the source, `step` writes on; between two steps all is in the `State`, and steps equal `forward`.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.place = Sinusoidal(config.width)
        self.dropout = Dropout(config.dropout)
        self.encoder = Stack(_block(config, cross=False) for _ in range(config.depth))
        self.decoder = Stack(_block(config, cross=True) for _ in range(config.depth))
        self.encoder_norm, self.decoder_norm = (
            nn.LayerNorm(config.width) if config.norm_first else nn.Identity() for _ in range(2)
        )
        self.to_vocab = Tied(self.embed)
        self._initialise()

    @property
    def cross_attentions(self) -> tuple[str, ...]:
        """The names of the attentions that look at the source."""
        return tuple(f"decoder.blocks.{i}.cross" for i in range(self.config.depth))

    def forward(
        self,
        source: Int[Tensor, "b n"],
        target: Int[Tensor, "b m"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b m v"]:
        """The logits of what follows each word of a target that opens with the start token.

        `lengths` are those of the source, where it is padded; what stands beyond them is not read.
        """
        contexts = self.start(source, lengths=lengths).contexts
        logits: Tensor = self.to_vocab(
            self.decoder_norm(self.decoder(self._embedded(target), contexts, visible=causal(target.shape[1])))
        )
        return logits

    def start(self, source: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> State:
        """Read the source once, for all the words that will be written."""
        visible = None if lengths is None else padding(lengths, source.shape[1])
        encoded = self.encoder_norm(self.encoder(self._embedded(source), visible=visible))
        return State(
            [cast(Attention, block.cross).remember(encoded, visible=visible) for block in self.decoder.blocks],
            arange(len(source), device=source.device),
        )

    def step(self, words: Int[Tensor, "b n"], state: State) -> tuple[Float[Tensor, "b n v"], State]:
        """The logits of what follows each of the next words, and where the writing stands then."""
        written = 0 if state.past is None else len(state.past[0])
        x, past = self.decoder.step(self._embedded(words, written), state.past, state.contexts)
        return self.to_vocab(self.decoder_norm(x)), replace(state, past=past)

    def _embedded(self, words: Int[Tensor, "b n"], start: int = 0) -> Float[Tensor, "b n w"]:
        # The scale lets one matrix serve both ends: small enough for the output, large enough beside the positions.
        x: Tensor = self.dropout(self.place(self.embed(words) * self.config.width**0.5, start))
        return x

    def _initialise(self) -> None:
        """The paper is silent; as in its code, embeddings become of unit variance once scaled, matrices Glorot's."""
        nn.init.normal_(self.embed.weight, std=self.config.width**-0.5)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)


def _block(config: Config, *, cross: bool) -> Block:
    return (Block if config.norm_first else PostNormBlock)(
        config.width,
        multihead(config.width, config.heads),
        MLP(config.width, config.hidden, activation=nn.ReLU),
        cross=multihead(config.width, config.heads) if cross else None,
        dropout=config.dropout,
    )


# Table 3 of the paper; `small` suits some tens of thousands of sentences.
PRESETS = {
    "transformer-base": Config(),
    "transformer-big": Config(width=1024, heads=16, hidden=4096, dropout=0.3),
    "transformer-small": Config(vocab=8000, width=256, depth=3, heads=4, hidden=512, dropout=0.3),
    "transformer-tiny": Config(vocab=4000, width=128, depth=4, heads=4, hidden=256, dropout=0.3, norm_first=True),
    "transformer-nano": Config(vocab=48, width=32, depth=2, heads=4, hidden=64),
}

FAMILY = Family("transformer", Config, Transformer, PRESETS)
