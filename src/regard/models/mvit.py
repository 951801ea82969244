"""MViTv2: attention between pooled queries, keys and values, which makes maps smaller as they get wider (Li 2022).

Deviations: maps whose sides do not halve are rounded up throughout. Positions are learned for one size of pictures, as
in the authors' code, and others are refused. Their large model widens elsewhere in its blocks, and is not here.
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.language import draw_weights
from regard.layers.mlp import MLP
from regard.layers.pooling import PoolingAttention
from regard.layers.residual import Residual
from regard.layers.vision import VisionModel, check_stages, classifier
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 224  # of the pictures, in pixels
    channels: int = 3
    patch: int = 4  # how far apart patches are, which overlap
    widths: tuple[int, ...] = (96, 192, 384, 768)  # of the stages, as are depths and heads
    depths: tuple[int, ...] = (2, 3, 16, 3)
    heads: tuple[int, ...] = (1, 2, 4, 8)
    key_stride: int = 4  # of keys and values in the first stage; it halves with each stage, down to 1
    expansion: int = 4  # of the MLPs
    classes: int = 1000
    dropout: float = 0.0
    drop_path: float = 0.3  # of the last block; those before have less
    eps: float = 1e-6  # of the norms

    def __post_init__(self) -> None:
        check_stages(widths=self.widths, depths=self.depths, heads=self.heads)


class MViT(VisionModel):
    """Overlapping patches, blocks whose first of each stage halves the map, and a classifier of their mean."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        width, side, total = config.widths[0], self.grid(config.size, config.size)[0], sum(config.depths)
        # Patches of 7 pixels that are 4 apart, or as much larger than their distance.
        kernel = 2 * config.patch - 1
        self.stem = nn.Conv2d(config.channels, width, kernel, stride=config.patch, padding=config.patch - 1)
        self.blocks = nn.ModuleList()
        for stage, depth in enumerate(config.depths):
            for i in range(depth):
                stride = 2 if stage and not i else 1
                drop = config.drop_path * len(self.blocks) / max(total - 1, 1)
                self.blocks.append(MViTBlock(config, stage, width, side=side, stride=stride, drop_path=drop))
                width, side = config.widths[stage], -(-side // stride)
        self.norm = nn.LayerNorm(width, eps=config.eps)
        self.head = classifier(width, config.classes)
        draw_weights(self)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        logits: Tensor = self.head(self.features(image).mean(dim=(1, 2)))
        return logits

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        grid, trained = self.grid(*image.shape[-2:]), self.grid(self.config.size, self.config.size)
        if grid != trained:
            raise ValueError(
                f"a picture of {image.shape[-2]}×{image.shape[-1]} has {grid[0]}×{grid[1]} patches, and positions are "
                f"known for {trained[0]}×{trained[1]}; scale it to {self.config.size}×{self.config.size}"
            )
        x = self.stem(image).permute(0, 2, 3, 1)
        for block in self.blocks:
            x = block(x)
        states: Tensor = self.norm(x)
        return states

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return -(-height // self.config.patch), -(-width // self.config.patch)


class MViTBlock(nn.Module):
    """Pooling attention and an MLP; the stream itself is widened and pooled too, where a stage begins."""

    def __init__(self, config: Config, stage: int, channels: int, *, side: int, stride: int, drop_path: float) -> None:
        super().__init__()
        width, self.stride = config.widths[stage], stride
        self.attn_norm = nn.LayerNorm(channels, eps=config.eps)
        self.attn = PoolingAttention(
            channels,
            width,
            config.heads[stage],
            side=side,
            stride=stride,
            key_stride=max(config.key_stride // 2**stage, 1),
            dropout=config.dropout,
            eps=config.eps,
        )
        self.widen = None if channels == width else nn.Linear(channels, width)
        self.attn_join = Residual(width, dropout=config.dropout, drop_path=drop_path)
        self.mlp_norm = nn.LayerNorm(width, eps=config.eps)
        self.mlp = MLP(width, config.expansion * width)
        self.mlp_join = Residual(width, dropout=config.dropout, drop_path=drop_path)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
        read = self.attn_norm(x)
        x = self.attn_join(self.shortcut(x if self.widen is None else self.widen(read)), self.attn(read))
        y: Tensor = self.mlp_join(x, self.mlp(self.mlp_norm(x)))
        return y

    def shortcut(self, x: Float[Tensor, "b h w o"]) -> Float[Tensor, "b i j o"]:
        if self.stride == 1:
            return x
        pooled = F.max_pool2d(x.permute(0, 3, 1, 2), self.stride + 1, self.stride, padding=(self.stride + 1) // 2)
        return pooled.permute(0, 2, 3, 1)


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


# Table 1 of the paper, and the authors' settings.
PRESETS = {
    "mvit-tiny": Config(depths=(1, 2, 5, 2), drop_path=0.1),
    "mvit-small": Config(depths=(1, 2, 11, 2), drop_path=0.1),
    "mvit-base": Config(),
    "mvit-world": Config(64, widths=(48, 96, 192), depths=(1, 2, 2), heads=(1, 2, 4), classes=64, drop_path=0.0),
    "mvit-nano": Config(32, widths=(16, 32), depths=(1, 2), heads=(1, 2), key_stride=2, classes=5, drop_path=0.0),
}

FAMILY = Family("mvit", Config, MViT, PRESETS, example)
