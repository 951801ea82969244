"""MaxViT: each block convolves, attends inside windows, and attends over a grid spread across the picture (Tu 2022).

Deviations: a convolution with a stride pads both sides, where TensorFlow pads the last alone; pictures whose maps
windows do not divide are padded, and the padding is hidden, where the authors' code refuses them; convolutions start
as torch draws them.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Grid, Partition, Partitioned, Relative2d, Window, multihead
from regard.layers.blocks import Block
from regard.layers.language import draw_weights
from regard.layers.mbconv import MBConv, conv_stem
from regard.layers.mlp import MLP
from regard.layers.vision import VisionModel, check_stages, classifier
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 224  # of the pictures it is trained on, in pixels
    channels: int = 3
    stem: int = 64  # the width of its two convolutions
    widths: tuple[int, ...] = (96, 192, 384, 768)  # of the stages, as are depths
    depths: tuple[int, ...] = (2, 6, 14, 2)
    head_width: int = 32
    window: int = 7  # tokens on a side of a window, and of a grid
    expansion: int = 4  # of convolutions and MLPs
    classes: int = 1000
    dropout: float = 0.0
    drop_path: float = 0.4  # of the last block; those before have less
    eps: float = 1e-5  # of the layer norms

    def __post_init__(self) -> None:
        check_stages(widths=self.widths, depths=self.depths)
        odd = [width for width in self.widths if width % self.head_width]
        if odd:
            raise ValueError(f"width {odd[0]} does not split into heads of {self.head_width}; make it a multiple")


class MaxViT(VisionModel):
    """A stem, stages of blocks that each begin with half the map, and a classifier behind a hidden layer."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.stem = conv_stem(config.channels, config.stem)
        channels, total = config.stem, sum(config.depths)
        self.blocks = nn.ModuleList()
        for width, depth in zip(config.widths, config.depths, strict=True):
            for i in range(depth):
                drop = config.drop_path * len(self.blocks) / total
                self.blocks.append(MaxViTBlock(config, channels, width, stride=1 if i else 2, drop_path=drop))
                channels = width
        self.norm = nn.LayerNorm(channels, eps=config.eps)
        self.hidden = nn.Linear(channels, channels)
        self.head = classifier(channels, config.classes)
        draw_weights(self)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        logits: Tensor = self.head(self.hidden(self.norm(self.features(image).mean(dim=(1, 2)))).tanh())
        return logits

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        x: Tensor = self.stem(image).permute(0, 2, 3, 1)
        for block in self.blocks:
            x = block(x)
        return x

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return -(-height // 4), -(-width // 4)


class MaxViTBlock(nn.Module):
    """Near and far by convolution, by windows and by a grid (figure 2)."""

    def __init__(self, config: Config, channels: int, width: int, *, stride: int, drop_path: float) -> None:
        super().__init__()

        def attend(partition: Partition) -> Block:
            heads = width // config.head_width
            attn = multihead(width, heads, bias=Relative2d(config.window, heads), dropout=config.dropout)
            return Block(
                width,
                Partitioned(attn, partition),
                MLP(width, config.expansion * width),
                norm=partial(nn.LayerNorm, eps=config.eps),
                dropout=config.dropout,
                drop_path=drop_path,
            )

        self.conv = MBConv(channels, width, stride=stride, expansion=config.expansion, drop_path=drop_path)
        self.near = attend(Window(config.window))
        self.far = attend(Grid(config.window))

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
        y: Tensor = self.far(self.near(self.conv(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)))
        return y


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


_SMALL: dict[str, Any] = {"depths": (2, 2, 5, 2)}
# Table 1 of the paper; how often the last block is dropped is said in its appendix, but for xlarge.
PRESETS = {
    "maxvit-tiny": Config(widths=(64, 128, 256, 512), **_SMALL, drop_path=0.2),
    "maxvit-small": Config(**_SMALL, drop_path=0.3),
    "maxvit-base": Config(),
    "maxvit-large": Config(stem=128, widths=(128, 256, 512, 1024), drop_path=0.6),
    "maxvit-xlarge": Config(stem=192, widths=(192, 384, 768, 1536), drop_path=0.6),
    "maxvit-world": Config(
        64, stem=16, widths=(32, 64, 128), depths=(1, 1, 1), head_width=16, window=4, classes=64, drop_path=0.0
    ),
    "maxvit-nano": Config(32, stem=8, widths=(16, 32), depths=(1, 1), head_width=8, window=4, classes=5, drop_path=0.0),
}

FAMILY = Family("maxvit", Config, MaxViT, PRESETS, example)
