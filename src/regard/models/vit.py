"""ViT: a picture is cut into patches, which are read as a sentence by a Transformer encoder (Dosovitskiy 2021).

Also with average pooling in place of [CLS], or a query that asks all tokens (Zhai 2022), any position encoding put in
anywhere (their table 8), a convolution stem (Xiao 2021), registers (Darcet 2024), LayerScale (Touvron 2021) and
stochastic depth; so it is DINO and DINOv2 too, and the eye of CLIP (with `first_norm`) and of SigLIP.
Deviation: linear layers are drawn from a normal distribution of 0.02, as BERT's.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Attention, Relative2d, multihead
from regard.layers.blocks import Block
from regard.layers.convolution import ConvStem, PatchEmbed
from regard.layers.dropout import Dropout
from regard.layers.language import draw_weights
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.position import LearnedCells, Rotary2d, WaveCells
from regard.layers.probe import Probe
from regard.layers.stack import Injection
from regard.layers.vision import VisionModel, classifier
from regard.models.family import Family

# `learned2d` has a half for the row and a half for the column; `relative` adds to scores and `rotary` turns heads.
Position = Literal["learned", "learned2d", "sinusoidal", "sinusoidal2d", "relative", "rotary", "none"]
ROW = 1 << 12  # numbers between the cells of one row and the next, so that a rotation knows both at any size


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 224  # of the pictures it is trained on, in pixels
    channels: int = 3
    patch: int = 16
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    classes: int = 1000
    stem: Literal["patch", "conv"] = "patch"
    # `mean` has no [CLS]; `both` lays it beside the mean, as DINOv2; `probe` asks all tokens by a learned query.
    pool: Literal["cls", "mean", "both", "probe"] = "cls"
    registers: int = 0
    position: Position = "learned"
    inject: Injection = "once"
    dropout: float = 0.0
    drop_path: float = 0.0  # of the last block; those before have less
    layer_scale: float = 0.0  # what it starts at; 0 is without
    eps: float = 1e-6  # of the norms
    activation: Literal["gelu", "gelu_tanh", "quick_gelu"] = field(default="gelu", metadata={"later": True})
    first_norm: bool = field(default=False, metadata={"later": True})  # before the blocks; patches have no constant


class ViT(VisionModel):
    """Patches, [CLS] and registers as tokens, pre-norm blocks, and a classifier."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.stem = make_stem(config)
        self.cls = nn.Parameter(torch.randn(1, 1, config.width) * 0.02) if has_cls(config) else None
        self.registers = (
            nn.Parameter(torch.randn(1, config.registers, config.width) * 0.02) if config.registers else None
        )
        count = {"once": 1, "every": config.depth, "shared": 1}[config.inject]
        self.positions = nn.ModuleList(self.make_position() for _ in range(count if adds(config) else 0))
        self.first_norm = nn.LayerNorm(config.width, eps=config.eps) if config.first_norm else nn.Identity()
        self.dropout = Dropout(config.dropout)
        self.blocks = nn.ModuleList(
            Block(
                config.width,
                self.make_attention(),
                MLP(config.width, config.hidden, activation=ACTIVATIONS[config.activation]),
                norm=partial(nn.LayerNorm, eps=config.eps),
                dropout=config.dropout,
                drop_path=config.drop_path * i / max(config.depth - 1, 1),
                layer_scale=config.layer_scale or None,
            )
            for i in range(config.depth)
        )
        self.norm = nn.LayerNorm(config.width, eps=config.eps)
        self.probe = make_probe(config) if config.pool == "probe" else None
        self.head = classifier(config.width * (2 if config.pool == "both" else 1), config.classes)
        draw_weights(self)

    @property
    def placed(self) -> tuple[str, ...]:
        """The leading tokens that have a position of their own."""
        return ("[CLS]",) if has_cls(self.config) else ()

    @property
    def leading(self) -> tuple[str, ...]:
        return (*self.placed, *(f"[REG {i}]" for i in range(self.config.registers)))

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        logits: Tensor = self.head(self.pool(self.read(image)))
        return logits

    def read(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b n o"]:
        """The states of all tokens, those of the leading ones first."""
        cells = self.stem(image)
        rows, columns = cells.shape[1:3]
        x = torch.cat((*self.prefix(image.shape[0]), cells.flatten(1, 2)), dim=1)
        turned = self.turn(rows, columns, image.device) if self.config.position == "rotary" else None
        for i, block in enumerate(self.blocks):
            x = self.add_position(x, i, rows, columns)
            x = block(self.dropout(self.first_norm(x)) if i == 0 else x, positions=turned)
        states: Tensor = self.norm(x)
        return states

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        return torch.unflatten(self.read(image)[:, len(self.leading) :], 1, self.grid(*image.shape[-2:]))

    def grid(self, height: int, width: int) -> tuple[int, int]:
        if self.config.stem == "conv":  # which rounds up
            return -(-height // self.config.patch), -(-width // self.config.patch)
        return height // self.config.patch, width // self.config.patch

    def pool(self, states: Float[Tensor, "b n w"]) -> Float[Tensor, "b p"]:
        """What the classifier reads."""
        if self.probe is not None:
            asked: Tensor = self.probe(states[:, len(self.leading) :])
            return asked
        first, mean = states[:, 0], states[:, len(self.leading) :].mean(dim=1)
        if self.config.pool == "both":
            return torch.cat((first, mean), dim=-1)
        return first if self.config.pool == "cls" else mean

    def prefix(self, batch: int) -> list[Float[Tensor, "b n w"]]:
        """The tokens before those of the picture."""
        return [each.expand(batch, -1, -1) for each in (self.cls, self.registers) if each is not None]

    def make_attention(self) -> Attention:
        config = self.config
        bias = rotary = None
        if config.position == "relative":
            bias = Relative2d(self.grid(config.size, config.size), config.heads, leading=len(self.leading))
        elif config.position == "rotary":
            rotary = Rotary2d(config.width // config.heads, ROW)
        return multihead(config.width, config.heads, bias=bias, rotary=rotary, dropout=config.dropout)

    def make_position(self) -> nn.Module:
        config, (rows, columns) = self.config, self.grid(self.config.size, self.config.size)
        if config.position.startswith("sinusoidal"):
            return WaveCells(config.width, leading=len(self.placed), flat=config.position == "sinusoidal")
        full = config.position == "learned"
        return LearnedCells(rows, columns, config.width, leading=len(self.placed), full=full)

    def add_position(self, x: Float[Tensor, "b n w"], block: int, rows: int, columns: int) -> Float[Tensor, "b n w"]:
        """Tokens as a block reads them; positions enter before the first, or before each."""
        if not self.positions or (block > 0 and self.config.inject == "once"):
            return x
        where = self.positions[block if self.config.inject == "every" else 0](rows, columns).to(x)
        if self.registers is not None:  # they stand between [CLS] and the patches, and have no place
            none, first = where.new_zeros(self.config.registers, where.shape[-1]), len(self.placed)
            where = torch.cat((where[:first], none, where[first:]))
        placed: Tensor = x + where
        return placed

    def turn(self, rows: int, columns: int, device: torch.device) -> Int[Tensor, "1 n"]:
        """The numbers by which a rotation knows the row and column of each token; leading ones are not turned."""
        cells = torch.arange(rows, device=device)[:, None] * ROW + torch.arange(columns, device=device)
        return torch.cat((cells.new_zeros(len(self.leading)), cells.flatten()))[None]


def make_stem(config: Config) -> nn.Module:
    """Patches by one linear map, or by convolutions that halve the picture until a token stands for a patch."""
    if config.stem == "patch":
        return PatchEmbed(config.channels, config.patch, config.width, bias=not config.first_norm)
    halvings = config.patch.bit_length() - 1
    if config.patch != 2**halvings:
        raise ValueError(
            f"convolutions that halve a picture make no patches of {config.patch}; "
            f"give {2**halvings} or {2 ** (halvings + 1)}"
        )
    return ConvStem(config.channels, config.width, depth=halvings)


def make_probe(config: Config) -> Probe:
    """A learned query over all tokens, with an MLP as those of the blocks."""
    activation = ACTIVATIONS[config.activation]
    return Probe(config.width, config.heads, config.hidden, activation=activation, eps=config.eps)


def has_cls(config: Config) -> bool:
    """Whether a token stands before the patches to gather what they show."""
    return config.pool in ("cls", "both")


def adds(config: Config) -> bool:
    """Whether positions are added to tokens."""
    return config.position not in ("relative", "rotary", "none")


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


# Base, large and huge are table 1 of the paper; tiny and small are DeiT's (Touvron 2021, table 1). Those for CIFAR
# and for the little world are ours, and learn on a laptop.
PRESETS = {
    "vit-tiny": Config(width=192, heads=3, hidden=768),
    "vit-small": Config(width=384, heads=6, hidden=1536),
    "vit-base": Config(),
    "vit-large": Config(width=1024, depth=24, heads=16, hidden=4096),
    "vit-huge": Config(patch=14, width=1280, depth=32, heads=16, hidden=5120),
    "vit-dinov2-small": Config(518, patch=14, width=384, heads=6, hidden=1536, classes=0, layer_scale=1.0, registers=4),
    "vit-dinov2-base": Config(518, patch=14, classes=0, layer_scale=1.0, registers=4),
    "vit-cifar": Config(32, patch=4, width=128, depth=5, heads=4, hidden=256, classes=10, pool="mean"),
    "vit-world": Config(64, patch=8, width=128, depth=5, heads=4, hidden=256, classes=64),
    "vit-nano": Config(16, patch=4, width=32, depth=2, heads=4, hidden=64, classes=5, registers=2),
}

FAMILY = Family("vit", Config, ViT, PRESETS, example)
