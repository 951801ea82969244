"""The Transformer: an encoder and a decoder made of attention, without recurrence (Vaswani 2017).

Deviations: queries, keys and values have biases, as in the implementations that followed; `norm_first` moves the norms
before the branches and adds a final one to either stack (Xiong 2020). As in the paper's text, dropout is applied to
what joins the stream and to the embeddings, not to attention weights; source, target and output share one matrix over
one vocabulary.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Attention, causal, multihead, padding
from regard.layers.blocks import Block, PostNormBlock
from regard.layers.decoder import DecoderState
from regard.layers.dropout import Dropout
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.position import Sinusoidal
from regard.layers.stack import Stack
from regard.layers.tied import Tied
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
    # Of Transformers by others; folders that were written before these fields mean the defaults.
    final_norm: bool = field(default=False, metadata={"later": True})  # also after post-norm stacks, as nn.Transformer
    activation: Literal["relu", "gelu", "silu"] = field(default="relu", metadata={"later": True})
    positions: Literal["interleaved", "halves"] = field(default="interleaved", metadata={"later": True})
    scale_embedding: bool = field(default=True, metadata={"later": True})
    logit_bias: bool = field(default=False, metadata={"later": True})  # a constant for each word, as Marian has it


class Transformer(nn.Module):
    """An encoder that reads all words at once, and a decoder that writes one after another while attending to them.

    `encode` gives features; `start` reads the source, `step` writes on. Between two steps all is in the `DecoderState`,
    and steps equal `forward`.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.position = Sinusoidal(config.width, layout=config.positions)
        self.dropout = Dropout(config.dropout)
        self.encoder = Stack(make_block(config, cross=False) for _ in range(config.depth))
        self.decoder = Stack(make_block(config, cross=True) for _ in range(config.depth))
        self.encoder_norm, self.decoder_norm = (
            nn.LayerNorm(config.width) if config.norm_first or config.final_norm else nn.Identity() for _ in range(2)
        )
        self.to_vocab = Tied(self.embed, bias=config.logit_bias)
        # The paper is silent; as in its code, embeddings are of unit variance once scaled, and matrices Glorot's.
        nn.init.normal_(self.embed.weight, std=config.width**-0.5)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    @property
    def cross_attentions(self) -> tuple[str, ...]:
        """The names of the attentions that look at the source."""
        return tuple(f"decoder.blocks.{i}.cross" for i in range(self.config.depth))

    def forward(
        self, source: Int[Tensor, "b n"], target: Int[Tensor, "b m"], *, lengths: Int[Tensor, " b"] | None = None
    ) -> Float[Tensor, "b m v"]:
        """The logits of what follows each word of a target that opens with the start token.

        `lengths` are those of the source, where it is padded; what stands beyond them is not read.
        """
        contexts = self.start(source, lengths=lengths).contexts
        y = self.decoder(self._embed(target), contexts, visible=causal(target.shape[1]))
        logits: Tensor = self.to_vocab(self.decoder_norm(y))
        return logits

    def encode(self, source: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> Float[Tensor, "b n w"]:
        """The states of all words of a source, which the decoder looks at: its features."""
        visible = None if lengths is None else padding(lengths, source.shape[1])
        x: Tensor = self.encoder_norm(self.encoder(self._embed(source), visible=visible))
        return x

    def start(self, source: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> DecoderState:
        """Read the source once, for all the words that will be written."""
        visible = None if lengths is None else padding(lengths, source.shape[1])
        x = self.encode(source, lengths=lengths)
        contexts = [cast(Attention, block.cross).remember(x, visible=visible) for block in self.decoder.blocks]
        return DecoderState(contexts, torch.arange(source.shape[0], device=source.device))

    def step(self, words: Int[Tensor, "b n"], state: DecoderState) -> tuple[Float[Tensor, "b n v"], DecoderState]:
        """The logits of what follows each of the next words, and the state behind them."""
        y, past = self.decoder.step(self._embed(words, state.length), state.past, state.contexts)
        return self.to_vocab(self.decoder_norm(y)), replace(state, past=past)

    def _embed(self, words: Int[Tensor, "b n"], start: int = 0) -> Float[Tensor, "b n w"]:
        # The scale lets one matrix serve both ends: small enough for the output, large enough beside the positions.
        scale = self.config.width**0.5 if self.config.scale_embedding else 1.0
        x: Tensor = self.dropout(self.position(self.embed(words) * scale, start))
        return x


def make_block(config: Config, *, cross: bool) -> Block:
    """A block of the encoder, or of the decoder with its look across."""
    return (Block if config.norm_first else PostNormBlock)(
        config.width,
        multihead(config.width, config.heads),
        MLP(
            config.width,
            config.hidden,
            activation=ACTIVATIONS[config.activation],
        ),
        cross=multihead(config.width, config.heads) if cross else None,
        dropout=config.dropout,
    )


def example(config: Config) -> dict[str, Any]:
    return {"source": torch.randint(config.vocab, (2, 5)), "target": torch.randint(config.vocab, (2, 4))}


# Table 3 of the paper; `small` and `tiny` suit some tens of thousands of sentences.
PRESETS = {
    "transformer-base": Config(),
    "transformer-big": Config(width=1024, heads=16, hidden=4096, dropout=0.3),
    "transformer-small": Config(vocab=8000, width=256, depth=3, heads=4, hidden=512, dropout=0.3),
    "transformer-tiny": Config(vocab=4000, width=128, depth=4, heads=4, hidden=256, dropout=0.3, norm_first=True),
    "transformer-nano": Config(vocab=48, width=32, depth=2, heads=4, hidden=64),
}

FAMILY = Family("transformer", Config, Transformer, PRESETS, example)
