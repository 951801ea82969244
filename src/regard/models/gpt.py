"""GPT: a Transformer decoder alone, which predicts the next word (Radford 2018; GPT-2, 2019; GPT-3, Brown 2020).

GPT-1 has its norms after the branches (`norm_first=False`) and GPT-2 before them, with a last one behind the stack.
Deviations: positions are drawn as wide as words, where GPT-2's code draws them half as wide; every layer of a GPT-3
is dense, where the paper's alternates with banded ones, and none drops anything, of which the paper says nothing.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Dot, multihead
from regard.layers.blocks import Block, Norm, PostNormBlock
from regard.layers.dropout import Dropout
from regard.layers.language import LanguageDecoder
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.position import Learned
from regard.layers.stack import Stack
from regard.layers.tied import Tied
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Details:
    """What GPT-1, GPT-2 and GPT-3 have in common, and some of their relatives have not."""

    eps: float = 1e-5  # of the norms
    # What scores are divided by: the root of a head's width; that and the number of the layer, counted from 1; nothing.
    scale: Literal["width", "layer", "none"] = "width"
    bias: bool = True  # of all layers and norms; nanoGPT may have none
    tied: bool = True  # reading and writing share one matrix; not in minGPT


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
    details: Details = Details()


class GPT(LanguageDecoder):
    """Words and learned positions, a stack of blocks, and the matrix of the words once more."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.position = Learned(config.context, config.width)
        self.dropout = Dropout(config.dropout)
        self.decoder = Stack(_block(config, layer) for layer in range(1, config.depth + 1))
        self.norm = _norm(config)(config.width) if config.norm_first else nn.Identity()
        self.to_vocab = Tied(self.embed) if config.details.tied else nn.Linear(config.width, config.vocab, bias=False)
        nn.init.normal_(self.embed.weight, std=0.02)
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear):
                # 2 · depth branches add up in a stream that no norm holds back (GPT-2, §2.3).
                joins = config.norm_first and name.endswith((".attn.out", ".mlp.down"))
                nn.init.normal_(module.weight, std=0.02 * (2 * config.depth) ** -0.5 if joins else 0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def embed_words(self, words: Int[Tensor, "b n"], positions: int | Int[Tensor, "#b n"]) -> Float[Tensor, "b n w"]:
        x: Tensor = self.dropout(self.position(self.embed(words), positions))
        return x


def _block(config: Config, layer: int) -> Block:
    details = config.details
    scale = None if details.scale == "width" else 1.0
    if details.scale == "layer":
        scale = (config.width / config.heads) ** -0.5 / layer
    return (Block if config.norm_first else PostNormBlock)(
        config.width,
        multihead(
            config.width,
            config.heads,
            score=Dot(scale),
            dropout=config.attn_dropout,
            qkv_bias=details.bias,
            out_bias=details.bias,
        ),
        MLP(config.width, config.hidden, activation=ACTIVATIONS[config.activation], bias=details.bias),
        norm=_norm(config),
        dropout=config.dropout,
    )


def _norm(config: Config) -> Norm:
    return partial(nn.LayerNorm, eps=config.details.eps, bias=config.details.bias)


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
