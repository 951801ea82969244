"""EfficientNet-Lite: inverted bottlenecks scaled in width, depth and size at once, made for small machines (Tan 2019).

The Lite models leave out squeeze-excitation and take ReLU6 in place of swish; their stem, last convolution, first and
last stage have the same size in all of them (tensorflow/tpu, models/official/efficientnet/lite). Convolutions are
padded as TensorFlow does it: more behind than in front where both cannot be had.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.dropout import Dropout
from regard.layers.residual import Residual
from regard.layers.vision import VisionModel, check_stages, classifier
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 224
    channels: int = 3
    stem_width: int = 32
    widths: tuple[int, ...] = (16, 24, 40, 80, 112, 192, 320)
    depths: tuple[int, ...] = (1, 2, 2, 3, 3, 4, 1)
    kernels: tuple[int, ...] = (3, 3, 5, 3, 5, 5, 3)
    strides: tuple[int, ...] = (1, 2, 2, 2, 1, 2, 1)
    expansions: tuple[int, ...] = (1, 6, 6, 6, 6, 6, 6)  # how many times wider a block is inside
    last_width: int = 1280
    classes: int = 1000
    dropout: float = 0.2  # before the classifier
    drop_path: float = 0.2  # it grows evenly from 0 at the first block and would reach this after the last
    eps: float = 1e-3
    momentum: float = 0.01  # by which the running means of BatchNorm move; trainings of some hundred steps want 0.1

    def __post_init__(self) -> None:
        check_stages(
            widths=self.widths,
            depths=self.depths,
            kernels=self.kernels,
            strides=self.strides,
            expansions=self.expansions,
        )


class SameConv(nn.Conv2d):
    """A convolution without bias that gives one cell for each `stride` cells, a rest included, as TensorFlow's SAME."""

    def __init__(self, channels: int, width: int, kernel: int, *, stride: int = 1, groups: int = 1) -> None:
        super().__init__(channels, width, kernel, stride=stride, groups=groups, bias=False)
        self.step = stride

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o i j"]:
        kernel = self.kernel_size[0]
        missing = [max((-(-side // self.step) - 1) * self.step + kernel - side, 0) for side in x.shape[2:]]
        (above, left), (below, right) = ([each // 2 for each in missing], [each - each // 2 for each in missing])
        return super().forward(F.pad(x, (left, right, above, below)))


class InvertedBlock(nn.Module):
    """Widen, convolve each channel alone, narrow: a bottleneck turned inside out (Sandler 2018)."""

    def __init__(self, before: int, width: int, config: Config, *, stage: int, first: bool, drop_path: float) -> None:
        super().__init__()
        hidden, stride = before * config.expansions[stage], config.strides[stage] if first else 1
        kernel = config.kernels[stage]
        self.expand = _conv(before, hidden, 1, config) if config.expansions[stage] > 1 else None
        self.depthwise = _conv(hidden, hidden, kernel, config, stride=stride, groups=hidden)
        self.project = _conv(hidden, width, 1, config)
        self.join = Residual(width, drop_path=drop_path) if stride == 1 and before == width else None

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o i j"]:
        y: Tensor = x if self.expand is None else F.relu6(self.expand(x))
        y = self.project(F.relu6(self.depthwise(y)))
        return y if self.join is None else self.join(x, y)


class EfficientNet(VisionModel):
    """A stem, stages of inverted bottlenecks, one last widening, and the mean of its map."""

    channels_last = False

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.stem = _conv(config.channels, config.stem_width, 3, config, stride=2)
        total, before = sum(config.depths), config.stem_width
        self.blocks = nn.ModuleList()
        for stage, (width, depth) in enumerate(zip(config.widths, config.depths, strict=True)):
            for i in range(depth):
                rate = config.drop_path * len(self.blocks) / total
                self.blocks.append(InvertedBlock(before, width, config, stage=stage, first=i == 0, drop_path=rate))
                before = width
        self.last = _conv(before, config.last_width, 1, config)
        self.dropout = Dropout(config.dropout)
        self.head = classifier(config.last_width, config.classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")

    @property
    def stride(self) -> int:
        """How many pixels a cell of the last map stands for, in each direction."""
        return 2 * math.prod(self.config.strides)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return -(-height // 2), -(-width // 2)

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        x = F.relu6(self.stem(image))
        for block in self.blocks:
            x = block(x)
        return F.relu6(self.last(x)).permute(0, 2, 3, 1)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        logits: Tensor = self.head(self.dropout(self.features(image).mean(dim=(1, 2))))
        return logits


def _conv(before: int, width: int, kernel: int, config: Config, *, stride: int = 1, groups: int = 1) -> nn.Sequential:
    norm = nn.BatchNorm2d(width, eps=config.eps, momentum=config.momentum)
    return nn.Sequential(SameConv(before, width, kernel, stride=stride, groups=groups), norm)


def _scaled(width: float, depth: float, size: int, dropout: float) -> Config:
    """The first model made wider and deeper: widths are multiples of 8, never below nine tenths of what was asked."""
    base = Config()

    def rounded(channels: int) -> int:
        near = max(8, int(channels * width + 4) // 8 * 8)
        return near + 8 if near < 0.9 * channels * width else near

    inner = [math.ceil(each * depth) for each in base.depths[1:-1]]
    depths = (base.depths[0], *inner, base.depths[-1])
    return Config(size=size, widths=tuple(map(rounded, base.widths)), depths=depths, dropout=dropout)


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


# Factors of width and depth, size and dropout as in efficientnet_lite_builder.py of tensorflow/tpu.
PRESETS = {
    "efficientnet-lite0": _scaled(1.0, 1.0, 224, 0.2),
    "efficientnet-lite1": _scaled(1.0, 1.1, 240, 0.2),
    "efficientnet-lite2": _scaled(1.1, 1.2, 260, 0.3),
    "efficientnet-lite3": _scaled(1.2, 1.4, 280, 0.3),
    "efficientnet-lite4": _scaled(1.4, 1.8, 300, 0.3),
    "efficientnet-world": Config(
        size=64,
        stem_width=16,
        widths=(16, 24, 40, 80),
        depths=(1, 2, 2, 2),
        kernels=(3, 3, 5, 3),
        strides=(1, 2, 2, 2),
        expansions=(1, 4, 4, 4),
        last_width=256,
        classes=64,
        dropout=0.0,
        drop_path=0.0,
        momentum=0.1,
    ),
    "efficientnet-nano": Config(
        size=32,
        stem_width=8,
        widths=(8, 12, 16),
        depths=(1, 2, 2),
        kernels=(3, 3, 5),
        strides=(1, 2, 2),
        expansions=(1, 4, 4),
        last_width=64,
        classes=5,
    ),
}

FAMILY = Family("efficientnet", Config, EfficientNet, PRESETS, example)
