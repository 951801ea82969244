"""GPT: a Transformer decoder alone, which predicts the next word (Radford 2018; GPT-2, 2019; GPT-3, Brown 2020).

GPT-1 has its norms after the branches (`norm_first=False`) and GPT-2 before them, with a last one behind the stack.
Deviations: positions are drawn as wide as words, where GPT-2's code draws them half as wide; every layer of a GPT-3
is dense, where the paper's alternates with banded ones, and none drops anything, of which the paper says nothing.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Dot, Packed, both, causal, multihead, read_visible
from regard.layers.blocks import Block, Norm, PostNormBlock
from regard.layers.decoder import DecoderState
from regard.layers.dropout import Dropout
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.position import Learned
from regard.layers.stack import Stack
from regard.layers.tied import Tied
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 50257
    context: int = 1024
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    dropout: float = 0.1  # of the embeddings, and of what joins the stream
    attn_dropout: float = 0.1  # of attention weights
    activation: Literal["gelu_tanh", "gelu", "relu", "silu"] = "gelu_tanh"
    norm_first: bool = True  # with a last norm behind the stack
    eps: float = 1e-5  # of the norms
    # What scores are divided by: the root of a head's width; that and the number of the layer, counted from 1; nothing.
    scale: Literal["width", "layer", "none"] = "width"
    bias: bool = field(default=True, metadata={"later": True})  # of all layers and norms; nanoGPT may have none
    tied: bool = field(default=True, metadata={"later": True})  # reading and writing share one matrix; not in minGPT


class GPT(nn.Module):
    """A decoder without a source: it reads words from the left and says what follows each of them.

    A state starts empty, and a prompt is its first step; steps equal `forward`::

        _, state = gpt.step(prompt[:, :-1], gpt.start(len(prompt)))
        written = greedy(gpt.step, state, prompt[:, -1], stop=stop, limit=50)
    """

    cross_attentions: tuple[str, ...] = ()  # there is no source to look at

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.position = Learned(config.context, config.width)
        self.dropout = Dropout(config.dropout)
        self.decoder = Stack(_block(config, layer) for layer in range(1, config.depth + 1))
        self.norm = _norm(config)(config.width) if config.norm_first else nn.Identity()
        self.to_vocab = Tied(self.embed) if config.tied else nn.Linear(config.width, config.vocab, bias=False)
        nn.init.normal_(self.embed.weight, std=0.02)
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear):
                # 2 · depth branches add up in a stream that no norm holds back (GPT-2, §2.3).
                joins = config.norm_first and name.endswith((".attn.out", ".mlp.down"))
                nn.init.normal_(module.weight, std=0.02 * (2 * config.depth) ** -0.5 if joins else 0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(
        self,
        ids: Int[Tensor, "b n"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
    ) -> Float[Tensor, "b n v"]:
        """The logits of what follows each word.

        `lengths` are those of rows that are padded behind; `visible` is True at words that are no padding, wherever it
        stands, or says that the texts are `packed` in one row. Nothing looks at what is not visible.
        """
        logits: Tensor = self.to_vocab(self.read(ids, lengths=lengths, visible=visible))
        return logits

    def read(
        self,
        ids: Int[Tensor, "b n"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
    ) -> Float[Tensor, "b n w"]:
        """The states of all words, from which their next ones are guessed."""
        seen, positions = read_visible(lengths, visible, ids.shape[1])
        seen = replace(seen, causal=True) if isinstance(seen, Packed) else both(causal(ids.shape[1]), seen)
        x = self.decoder(self._embed(ids, 0 if positions is None else positions), visible=seen, positions=positions)
        hidden: Tensor = self.norm(x)
        return hidden

    def start(self, rows: int) -> DecoderState:
        """The state of so many rows before their first word."""
        return DecoderState((), torch.arange(rows, device=self.embed.weight.device))

    def step(
        self, words: Int[Tensor, "b n"], state: DecoderState, *, visible: Bool[Tensor, "b n"] | None = None
    ) -> tuple[Float[Tensor, "b n v"], DecoderState]:
        """The logits of what follows each of the next words, and the state behind them."""
        hidden, state = self.advance(words, state, visible=visible)
        return self.to_vocab(hidden), state

    def advance(
        self, words: Int[Tensor, "b n"], state: DecoderState, *, visible: Bool[Tensor, "b n"] | None = None
    ) -> tuple[Float[Tensor, "b n w"], DecoderState]:
        """Go on by some words without saying what follows them: the states of the words, and the state behind them.

        `visible` is False at padding, which every later step will pass over; positions count what is visible.
        """
        positions, new = state.positions(words, visible), None if visible is None else visible[:, None, None]
        x = self._embed(words, state.length if positions is None else positions)
        x, past = self.decoder.step(x, state.past, visible=new, positions=positions)
        return self.norm(x), replace(state, past=past)

    def _embed(self, words: Int[Tensor, "b n"], positions: int | Int[Tensor, "#b n"]) -> Float[Tensor, "b n w"]:
        x: Tensor = self.dropout(self.position(self.embed(words), positions))
        return x


def _block(config: Config, layer: int) -> Block:
    scale = None if config.scale == "width" else 1.0
    if config.scale == "layer":
        scale = (config.width / config.heads) ** -0.5 / layer
    return (Block if config.norm_first else PostNormBlock)(
        config.width,
        multihead(
            config.width,
            config.heads,
            score=Dot(scale),
            dropout=config.attn_dropout,
            qkv_bias=config.bias,
            out_bias=config.bias,
        ),
        MLP(config.width, config.hidden, activation=ACTIVATIONS[config.activation], bias=config.bias),
        norm=_norm(config),
        dropout=config.dropout,
    )


def _norm(config: Config) -> Norm:
    return partial(nn.LayerNorm, eps=config.eps, bias=config.bias)


def example(config: Config) -> dict[str, Any]:
    return {"ids": torch.randint(config.vocab, (2, 5))}


def _sized(depth: int, width: int, heads: int, *, context: int = 1024, dropout: float = 0.1) -> Config:
    return Config(
        context=context,
        width=width,
        depth=depth,
        heads=heads,
        hidden=4 * width,
        dropout=dropout,
        attn_dropout=dropout,
    )


_third = partial(_sized, context=2048, dropout=0.0)

# GPT-1: §4.1 of its paper. GPT-2: table 2, with the heads of the published weights. GPT-3: table 2.1, but for two
# rows that deny themselves: 24 heads of 128 are not the 2048 (and 1.3 billion) of its 1.3B, and 40 not the 5140 of 13B.
PRESETS = {
    "gpt-1": Config(vocab=40478, context=512, norm_first=False),
    "gpt-2": Config(),
    "gpt-2-medium": _sized(24, 1024, 16),
    "gpt-2-large": _sized(36, 1280, 20),
    "gpt-2-xl": _sized(48, 1600, 25),
    "gpt-3-125m": _third(12, 768, 12),
    "gpt-3-350m": _third(24, 1024, 16),
    "gpt-3-760m": _third(24, 1536, 16),
    "gpt-3-1.3b": _third(24, 2048, 16),
    "gpt-3-2.7b": _third(32, 2560, 32),
    "gpt-3-6.7b": _third(32, 4096, 32),
    "gpt-3-13b": _third(40, 5120, 40),
    "gpt-3-175b": _third(96, 12288, 96),
    # For a laptop: some megabytes of text in minutes.
    "gpt-mini": Config(vocab=4000, context=256, width=192, depth=5, heads=6, hidden=768),
    "gpt-nano": Config(vocab=48, context=32, width=32, depth=2, heads=4, hidden=64),
}

FAMILY = Family("gpt", Config, GPT, PRESETS, example)
