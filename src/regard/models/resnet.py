"""ResNet: convolutions around which the picture can pass untouched, the honest rival of vision Transformers (He 2016).

The blocks are those of v1.5, which stride on the 3×3 convolution. The options of its improved recipes are here too:
ResNet-D's stem and shortcut (He 2019, "Bag of tricks"), squeeze-excitation, stochastic depth and dropout (ResNet-RS,
Bello 2021; Wightman 2021), a 3×3 stem without pooling for small pictures (He 2016, §4.2) or a fast one of two that
halves them once, self-attention after chosen stages (Zhang 2019) and deformable convolutions in chosen stages (Dai
2017, Zhu 2018).

Deviation: blocks start as their shortcut (`zero_init`, Goyal 2017), which the paper's did not.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.convolution import BasicBlock, Bottleneck, FeatureAttention, conv_bn
from regard.layers.deformable import DeformableConv
from regard.layers.dropout import Dropout
from regard.layers.vision import VisionModel, classifier
from regard.models.family import Family

STEM_STRIDES = {"plain": 4, "deep": 4, "cifar": 1, "fast": 2}


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 224
    channels: int = 3
    stem: Literal["plain", "deep", "cifar", "fast"] = "plain"  # 7×7 and a pool; three 3×3 and a pool; one 3×3; two
    stem_width: int = 64
    block: Literal["basic", "bottleneck"] = "bottleneck"
    widths: tuple[int, ...] = (256, 512, 1024, 2048)
    depths: tuple[int, ...] = (3, 4, 6, 3)
    classes: int = 1000
    dropout: float = 0.0  # before the classifier
    drop_path: float = 0.0  # of the last block; it grows evenly from 0 at the first
    zero_init: bool = True
    squeeze: float = 0.0  # the share of channels that a squeeze-excitation goes through; 0 for none
    pooled: bool = False  # shortcuts average what they step over, as in ResNet-D
    attend: tuple[int, ...] = ()  # the stages, from 1 on, after which every cell looks at every other
    heads: int = 1  # of these looks
    deformable: tuple[int, ...] = ()  # the stages, from 1 on, whose 3×3 convolutions are deformable

    def __post_init__(self) -> None:
        if len(self.widths) != len(self.depths) or not self.widths or min(self.depths) < 1:
            raise ValueError(
                f"widths {self.widths} and depths {self.depths} do not describe the same stages; give a width and a "
                f"depth of 1 or more for each"
            )
        for name in ("attend", "deformable"):
            stages: tuple[int, ...] = getattr(self, name)
            if any(not 1 <= stage <= len(self.widths) for stage in stages):
                raise ValueError(f"{name}={stages} names stages that are not there; they are 1 to {len(self.widths)}")


class ResNet(VisionModel):
    """A stem, stages of blocks each of which halves the map but for the first, and the mean of the last map."""

    channels_last = False

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.stem = _stem(config)
        block = BasicBlock if config.block == "basic" else Bottleneck
        total, built, before = sum(config.depths), 0, config.stem_width
        stages = []
        for number, (width, depth) in enumerate(zip(config.widths, config.depths, strict=True), start=1):
            blocks = nn.Sequential()
            for i in range(depth):
                blocks.append(
                    block(
                        before,
                        width,
                        stride=2 if number > 1 and i == 0 else 1,
                        zero_init=config.zero_init,
                        conv=DeformableConv if number in config.deformable else nn.Conv2d,
                        squeeze=config.squeeze,
                        pooled=config.pooled,
                        drop_path=config.drop_path * built / max(total - 1, 1),
                    )
                )
                before, built = width, built + 1
            if number in config.attend:
                blocks.append(FeatureAttention(width, config.heads))
            stages.append(blocks)
        self.stages = nn.ModuleList(stages)
        self.dropout = Dropout(config.dropout)
        self.head = classifier(config.widths[-1], config.classes)
        self.apply(draw_convolutions)

    @property
    def stride(self) -> int:
        """How many pixels a cell of the last map stands for, in each direction."""
        return STEM_STRIDES[self.config.stem] << (len(self.config.widths) - 1)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        step = STEM_STRIDES[self.config.stem]
        return -(-height // step), -(-width // step)

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        x: Tensor = self.stem(image)
        for stage in self.stages:
            x = stage(x)
        return x.permute(0, 2, 3, 1)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        logits: Tensor = self.head(self.dropout(self.features(image).mean(dim=(1, 2))))
        return logits


def draw_convolutions(module: nn.Module) -> None:
    """First weights of a convolution by how many numbers read it (He 2015); offsets of deformable ones stay at zero."""
    if isinstance(module, nn.Sequential):
        for part in module:
            if isinstance(part, nn.Conv2d | DeformableConv):
                nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")


def _stem(config: Config) -> nn.Sequential:
    channels, width = config.channels, config.stem_width
    if config.stem == "cifar":
        return nn.Sequential(conv_bn(channels, width, 3), nn.ReLU())
    if config.stem == "fast":
        first, second = conv_bn(channels, width // 2, 3), conv_bn(width // 2, width, 3, stride=2)
        return nn.Sequential(first, nn.ReLU(), second, nn.ReLU())
    pool = nn.MaxPool2d(3, stride=2, padding=1)
    if config.stem == "plain":
        return nn.Sequential(conv_bn(channels, width, 7, stride=2), nn.ReLU(), pool)
    half = width // 2
    convs = (conv_bn(channels, half, 3, stride=2), conv_bn(half, half, 3), conv_bn(half, width, 3))
    return nn.Sequential(*(layer for conv in convs for layer in (conv, nn.ReLU())), pool)


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


_basic = partial(Config, block="basic", widths=(64, 128, 256, 512))
_cifar = partial(Config, size=32, stem="cifar", stem_width=16, block="basic", widths=(16, 32, 64), classes=10)
_world = partial(
    Config,
    size=64,
    stem="fast",
    stem_width=32,
    block="basic",
    widths=(32, 64, 128),
    depths=(1, 1, 1),
    classes=64,
)
# Table 1 of the paper, and §4.2 for CIFAR; the improved ResNet-50 has the parts of ResNet-RS 50 (Bello 2021, table 1).
# With the fast stem for CIFAR and those for the little world are ours.
PRESETS = {
    "resnet-18": _basic(depths=(2, 2, 2, 2)),
    "resnet-34": _basic(depths=(3, 4, 6, 3)),
    "resnet-50": Config(),
    "resnet-101": Config(depths=(3, 4, 23, 3)),
    "resnet-152": Config(depths=(3, 8, 36, 3)),
    "resnet-50-improved": Config(stem="deep", pooled=True, squeeze=0.25, dropout=0.25),
    "resnet-20-cifar": _cifar(depths=(3, 3, 3)),
    "resnet-56-cifar": _cifar(depths=(9, 9, 9)),
    "resnet-12-cifar": _cifar(stem="fast", stem_width=64, widths=(64, 128, 256), depths=(1, 2, 2)),
    "resnet-18-cifar": _basic(size=32, stem="cifar", depths=(2, 2, 2, 2), classes=10),
    "resnet-world": _world(),
    "resnet-world-attending": _world(attend=(2,)),
    "resnet-world-deformable": _world(deformable=(3,)),
    "resnet-nano": Config(
        size=32,
        stem="deep",
        stem_width=8,
        widths=(16, 32),
        depths=(1, 2),
        classes=5,
        squeeze=0.25,
        pooled=True,
        attend=(2,),
        deformable=(2,),
    ),
}

FAMILY = Family("resnet", Config, ResNet, PRESETS, example)
