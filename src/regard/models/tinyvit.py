"""TinyViT: convolutions first, then attention inside windows, small enough to see on a phone (Wu 2022).

Attention has LeViT's bias for each distance, and a convolution of each channel lies between it and the MLP, which joins
what windows divide. MobileSAM sees with one whose last map is not halved (Zhang 2023).

Deviations: none that we know of. Windows that do not divide a map are padded, and padding is looked at, as published.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention, Distances2d, Layout, Memory, Window, mix
from regard.attention.attention import split_heads
from regard.layers.convolution import conv_bn
from regard.layers.language import draw_weights
from regard.layers.mlp import MLP
from regard.layers.residual import Residual
from regard.layers.vision import VisionModel, check_stages
from regard.models.family import Family

STEM = 4  # pixels of a side that become one cell


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 224  # of the pictures it is trained on, in pixels; others will do
    channels: int = 3
    widths: tuple[int, ...] = (96, 192, 384, 576)  # of the stages, as are depths; the first has convolutions alone
    depths: tuple[int, ...] = (2, 2, 6, 2)
    heads: tuple[int, ...] = (6, 12, 18)  # of the stages from the second on, as are windows
    windows: tuple[int, ...] = (7, 14, 7)  # in cells
    strides: tuple[int, ...] = (2, 2, 2)  # of the steps to these stages
    expansion: int = 4  # of convolutions and MLPs
    classes: int = 1000
    drop_path: float = 0.2  # of the last block; those before have less

    def __post_init__(self) -> None:
        check_stages(widths=self.widths, depths=self.depths)
        check_stages(heads=self.heads, windows=self.windows, strides=self.strides)
        if len(self.heads) + 1 != len(self.widths):
            raise ValueError(
                f"{len(self.heads)} heads do not go with {len(self.widths)} widths; give one number of heads for each "
                "stage but the first"
            )
        for width, heads in zip(self.widths[1:], self.heads, strict=True):
            if width % heads:
                raise ValueError(f"width {width} does not split into {heads} heads; make it a multiple of them")


@dataclass(frozen=True, slots=True)
class Padded(Window):
    """Windows whose padding is looked at like any other cell, as TinyViT and SAM were trained."""

    def visible(self, height: int, width: int, device: torch.device) -> None:
        """Everybody sees everybody."""


class TinyViT(VisionModel):
    """Two convolutions as a stem, a stage of convolutions, stages of windowed attention, a classifier of their mean."""

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        first, last = config.widths[0], config.widths[-1]
        self.stem = nn.Sequential(
            conv_bn(config.channels, first // 2, 3, stride=2), nn.GELU(), conv_bn(first // 2, first, 3, stride=2)
        )
        self.stages = nn.ModuleList(self.make_stage(i) for i in range(len(config.depths)))
        self.merges = nn.ModuleList(
            Merge(before, after, stride)
            for (before, after), stride in zip(pairwise(config.widths), config.strides, strict=True)
        )
        self.head = nn.Sequential(nn.LayerNorm(last), nn.Linear(last, config.classes)) if config.classes else None
        draw_weights(self)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        pooled = self.features(image).mean(dim=(1, 2))
        logits: Tensor = pooled if self.head is None else self.head(pooled)
        return logits

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        # In memory too channels come last from here on, so that no convolution has to move them.
        x: Tensor = self.stem(image).permute(0, 2, 3, 1).contiguous()
        for stage, merge in zip(self.stages, [*self.merges, nn.Identity()], strict=True):
            x = merge(stage(x))
        return x

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return -(-height // STEM), -(-width // STEM)

    def make_stage(self, stage: int) -> nn.Sequential:
        config, width = self.config, self.config.widths[stage]
        before, last = sum(config.depths[:stage]), max(sum(config.depths) - 1, 1)
        rates = [config.drop_path * (before + i) / last for i in range(config.depths[stage])]
        if not stage:
            return nn.Sequential(*(ConvBlock(width, config.expansion, rate) for rate in rates))
        heads, window = config.heads[stage - 1], config.windows[stage - 1]
        return nn.Sequential(*(TinyBlock(width, heads, window, config.expansion, rate) for rate in rates))


class ConvBlock(nn.Module):
    """MBConv: widen, convolve each channel alone, narrow (Sandler 2018); here with an activation after the sum."""

    def __init__(self, width: int, expansion: int, drop_path: float) -> None:
        super().__init__()
        inner = expansion * width
        self.branch = nn.Sequential(
            conv_bn(width, inner, 1),
            nn.GELU(),
            _depthwise(inner),
            nn.GELU(),
            conv_bn(inner, width, 1, zero_init=True),
        )
        self.join = Residual(width, drop_path=drop_path)
        self.activation = nn.GELU()

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b h w c"]:
        y: Tensor = self.activation(self.join(x, _on_channels(self.branch, x)))
        return y


class Merge(nn.Module):
    """Between two stages: cells become wider, and with a stride fewer."""

    def __init__(self, width: int, wider: int, stride: int) -> None:
        super().__init__()
        self.convs = nn.Sequential(
            conv_bn(width, wider, 1),
            nn.GELU(),
            _depthwise(wider, stride),
            nn.GELU(),
            conv_bn(wider, wider, 1),
        )

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
        return _on_channels(self.convs, x)


class TinyBlock(nn.Module):
    """Attention inside windows, a convolution of each channel across them, and an MLP (figure 3)."""

    def __init__(self, width: int, heads: int, window: int, expansion: int, drop_path: float) -> None:
        super().__init__()
        self.attn, self.attn_join = WindowAttention(width, heads, window), Residual(width, drop_path=drop_path)
        self.local = _depthwise(width)
        self.mlp_norm, self.mlp = nn.LayerNorm(width), MLP(width, expansion * width)
        self.mlp_join = Residual(width, drop_path=drop_path)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b h w c"]:
        x = self.attn_join(x, self.attn(x))
        x = _on_channels(self.local, x)
        y: Tensor = self.mlp_join(x, self.mlp(self.mlp_norm(x)))
        return y


class WindowAttention(nn.Module):
    """Attention of the cells of a window to each other; the norm comes after the padding, which thereby is not zero."""

    def __init__(self, width: int, heads: int, window: int) -> None:
        super().__init__()
        self.window = Padded(window)
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)  # head by head
        out, bias = nn.Linear(width, width), Distances2d(window, heads)
        self.attn = Attention(nn.Identity(), nn.Identity(), nn.Identity(), out, heads=heads, bias=bias)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b h w c"]:
        height, width = x.shape[1:3]
        cells = self.norm(self.window.split(x))
        q, k, v = split_heads(self.qkv(cells), self.attn.heads).chunk(3, dim=-1)
        look = self.attn.look(q.transpose(1, 2).flatten(2), Memory(k, v), layout=Layout(height, width, self.window))
        return self.window.merge(self.attn.finish(mix(look, v)), height, width)


def _depthwise(width: int, stride: int = 1) -> nn.Sequential:
    return conv_bn(width, width, 3, stride=stride, conv=partial(nn.Conv2d, groups=width))


def _on_channels(module: nn.Module, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
    """What convolutions make of a map whose channels come last, as attention has them; nothing is copied for it."""
    y: Tensor = module(x.permute(0, 3, 1, 2))
    return y.permute(0, 2, 3, 1)


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


_5M: dict[str, Any] = {"widths": (64, 128, 160, 320), "heads": (4, 5, 10)}
# Table 7 of the paper; the mobile one is MobileSAM's, which has no classifier.
PRESETS = {
    "tinyvit-5m": Config(**_5M, drop_path=0.0),
    "tinyvit-11m": Config(widths=(64, 128, 256, 448), heads=(4, 8, 14), drop_path=0.1),
    "tinyvit-21m": Config(),
    "tinyvit-mobile": Config(1024, **_5M, strides=(2, 2, 1), classes=0, drop_path=0.0),
    "tinyvit-world": Config(
        64,
        widths=(32, 64, 128),
        depths=(1, 2, 2),
        heads=(2, 4),
        windows=(8, 4),
        strides=(2, 2),
        classes=64,
        drop_path=0.0,
    ),
    "tinyvit-nano": Config(
        32, widths=(8, 16, 24), depths=(1, 1, 1), heads=(2, 3), windows=(3, 2), strides=(2, 1), classes=5, drop_path=0.0
    ),
}

FAMILY = Family("tinyvit", Config, TinyViT, PRESETS, example)
