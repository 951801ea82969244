"""Llama and its relatives: a decoder with rotations for positions, RMSNorm and SwiGLU (Touvron 2023).

Llama 2 and 3 share keys and values between heads (Touvron 2023b; Grattafiori 2024), Mistral sees a window of the past
(Jiang 2023), Qwen2 adds constants to queries, keys and values (Yang 2024), Qwen3 normalises queries and keys (Yang
2025). The papers do not say how weights are drawn: here as GPT-2's, with a standard deviation of 0.02.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Packed, multihead, padding
from regard.layers.blocks import Block
from regard.layers.language import LanguageDecoder, draw_weights
from regard.layers.mlp import ACTIVATIONS, GatedMLP
from regard.layers.position import Llama3, Rotary, Scaling
from regard.layers.position.scaling import longest
from regard.layers.stack import Stack
from regard.layers.tied import Tied
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Turn:
    """How queries and keys are turned by their positions."""

    base: float = 10000.0
    scaling: Scaling | None = None  # for longer texts than were trained


@dataclass(frozen=True, slots=True)
class Details:
    """Where Llama's relatives differ from it."""

    eps: float = 1e-6  # of the norms
    head_width: int | None = None  # where heads do not share the width
    qk_norm: bool = False  # of query and key heads
    qkv_bias: bool = False
    out_bias: bool = False
    mlp_bias: bool = False
    activation: Literal["silu", "gelu", "gelu_tanh", "relu"] = "silu"


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 32000
    context: int = 2048  # what was trained; nothing ends there
    width: int = 4096
    depth: int = 32
    heads: int = 32
    groups: int = 32  # of heads that share keys and values
    hidden: int = 11008
    attn_dropout: float = 0.0
    sliding_window: int | tuple[int | None, ...] | None = None  # of every layer, or of each
    tied: bool = False  # reading and writing share one matrix
    turn: Turn = Turn()
    details: Details = Details()


class Llama(LanguageDecoder):
    """Words, a stack of blocks that turn queries and keys by their positions, and a matrix over the vocabulary."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.decoder = Stack(_block(config, window) for window in _windows(config))
        self.norm = nn.RMSNorm(config.width, eps=config.details.eps)
        self.to_vocab = Tied(self.embed) if config.tied else nn.Linear(config.width, config.vocab, bias=False)
        draw_weights(self)

    def embed_words(self, words: Int[Tensor, "b n"], positions: int | Int[Tensor, "#b n"]) -> Float[Tensor, "b n w"]:  # noqa: ARG002
        x: Tensor = self.embed(words)  # positions turn queries and keys later
        return x

    def read(
        self,
        ids: Int[Tensor, "b n"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
    ) -> Float[Tensor, "b n w"]:
        if lengths is not None and visible is None and longest(self.config.turn.scaling) is not None:
            # Each text is turned by its own length, and not by that of the longest beside it.
            visible, lengths = padding(lengths, ids.shape[1])[:, 0, 0], None
        return super().read(ids, lengths=lengths, visible=visible)


def _windows(config: Config) -> tuple[int | None, ...]:
    """How many of the newest words each layer sees; None is all of them."""
    given = config.sliding_window
    windows = given if isinstance(given, tuple) else (given,) * config.depth
    if len(windows) != config.depth:
        raise ValueError(f"{len(windows)} windows do not go with {config.depth} layers; give one for each, or a number")
    return windows


def _block(config: Config, window: int | None) -> Block:
    details = config.details
    norm = partial(nn.RMSNorm, eps=details.eps)
    head = config.width // max(config.heads, 1) if details.head_width is None else details.head_width
    if details.head_width is None and head * config.heads != config.width:
        head = 2  # any: heads that do not split the width are refused below, in words of their own
    return Block(
        config.width,
        multihead(
            config.width,
            config.heads,
            groups=config.groups,
            head_width=details.head_width,
            qk_norm=norm if details.qk_norm else None,
            rotary=Rotary(head, config.turn.base, scaling=config.turn.scaling),
            sliding_window=window,
            dropout=config.attn_dropout,
            qkv_bias=details.qkv_bias,
            out_bias=details.out_bias,
        ),
        GatedMLP(config.width, config.hidden, activation=ACTIVATIONS[details.activation], bias=details.mlp_bias),
        norm=norm,
    )


def example(config: Config) -> dict[str, Any]:
    return {"ids": torch.randint(config.vocab, (2, 5))}


def _sized(
    depth: int,
    width: int,
    heads: int,
    groups: int,
    hidden: int,
    *,
    vocab: int = 32000,
    context: int = 4096,
    base: float = 10000.0,
    factor: float | None = None,
    tied: bool = False,
    window: int | None = None,
    details: Details = Details(eps=1e-5),
) -> Config:
    turn = Turn(base, None if factor is None else Llama3(factor, 8192))
    return Config(vocab, context, width, depth, heads, groups, hidden, 0.0, window, tied, turn, details)


_first = partial(_sized, context=2048, details=Details())
_third = partial(_sized, vocab=128256, context=8192, base=500000.0)
_longer = partial(_third, context=131072, factor=8.0)
_small = partial(_longer, factor=32.0, tied=True)
_smol = partial(_sized, vocab=49152, context=8192, base=100000.0, tied=True)
_qwen = partial(_sized, vocab=151936, context=32768, base=1e6, tied=True)
_qwen2 = partial(_qwen, details=Details(qkv_bias=True))
_qwen3 = partial(_qwen, details=Details(head_width=128, qk_norm=True))

# Layers, widths and heads: table 2 of Llama's paper, table 3 of Llama 3's and the published files of 2 and 3.2; table 1
# of the reports of Mistral, Qwen2 and Qwen3, with the trained contexts; the published files of SmolLM2. The widths of
# MLPs, which Llama's paper rounds up from two thirds of four widths, are those of the published files.
PRESETS = {
    "llama-7b": Config(),
    "llama-13b": _first(40, 5120, 40, 40, 13824),
    "llama-33b": _first(60, 6656, 52, 52, 17920),
    "llama-65b": _first(80, 8192, 64, 64, 22016, details=Details(eps=1e-5)),
    "llama-2-7b": _sized(32, 4096, 32, 32, 11008),
    "llama-2-13b": _sized(40, 5120, 40, 40, 13824),
    "llama-2-70b": _sized(80, 8192, 64, 8, 28672),
    "llama-3-8b": _third(32, 4096, 32, 8, 14336),
    "llama-3-70b": _third(80, 8192, 64, 8, 28672),
    "llama-3.1-8b": _longer(32, 4096, 32, 8, 14336),
    "llama-3.1-70b": _longer(80, 8192, 64, 8, 28672),
    "llama-3.1-405b": _longer(126, 16384, 128, 8, 53248),
    "llama-3.2-1b": _small(16, 2048, 32, 8, 8192),
    "llama-3.2-3b": _small(28, 3072, 24, 8, 8192),
    "llama-mistral-7b": _sized(32, 4096, 32, 8, 14336, context=8192, window=4096),
    "llama-qwen2-0.5b": _qwen2(24, 896, 14, 2, 4864),
    "llama-qwen2-1.5b": _qwen2(28, 1536, 12, 2, 8960),
    "llama-qwen2-7b": _qwen2(28, 3584, 28, 4, 18944, vocab=152064, tied=False),
    "llama-qwen3-0.6b": _qwen3(28, 1024, 16, 8, 3072),
    "llama-qwen3-1.7b": _qwen3(28, 2048, 16, 8, 6144),
    "llama-qwen3-4b": _qwen3(36, 2560, 32, 8, 9728),
    "llama-qwen3-8b": _qwen3(36, 4096, 32, 8, 12288, tied=False),
    "llama-smollm2-135m": _smol(30, 576, 9, 3, 1536),
    "llama-smollm2-360m": _smol(32, 960, 15, 5, 2560),
    "llama-smollm2-1.7b": _smol(24, 2048, 32, 32, 8192, base=130000.0),
    "llama-nano": Config(vocab=48, context=32, width=32, depth=2, heads=4, groups=2, hidden=64),
}

FAMILY = Family("llama", Config, Llama, PRESETS, example)
