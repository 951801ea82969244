"""ConvNeXt: a ResNet brought up to date with all that Transformers had but attention (Liu 2022).

Maps are kept with their channels last, "b i j w", where norms and linear layers want them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.convolution import PatchEmbed
from regard.layers.mlp import ACTIVATIONS, MLP
from regard.layers.residual import Residual
from regard.layers.vision import VisionModel, check_stages, classifier
from regard.models.family import Family

EPS = 1e-6  # of every norm but the last


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 224
    channels: int = 3
    patch: int = 4
    widths: tuple[int, ...] = (96, 192, 384, 768)
    depths: tuple[int, ...] = (3, 3, 9, 3)
    kernel: int = 7
    classes: int = 1000
    drop_path: float = 0.1  # of the last block; it grows evenly from 0 at the first
    layer_scale: float | None = 1e-6
    activation: Literal["gelu", "gelu_tanh", "relu", "silu"] = "gelu"
    eps: float = 1e-6  # of the norm before the classifier

    def __post_init__(self) -> None:
        check_stages(widths=self.widths, depths=self.depths)
        if self.kernel % 2 == 0:
            raise ValueError(f"a kernel of {self.kernel} has no middle; give an odd one")


class ConvNeXtBlock(nn.Module):
    """A wide convolution of each channel alone, then an MLP of each cell alone (figure 4)."""

    def __init__(self, width: int, config: Config, drop_path: float) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, config.kernel, padding=config.kernel // 2, groups=width)
        self.norm = nn.LayerNorm(width, eps=EPS)
        self.mlp = MLP(width, activation=ACTIVATIONS[config.activation])
        self.join = Residual(width, layer_scale=config.layer_scale, drop_path=drop_path)

    def forward(self, x: Float[Tensor, "b i j w"]) -> Float[Tensor, "b i j w"]:
        mixed = self.conv(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        y: Tensor = self.join(x, self.mlp(self.norm(mixed)))
        return y


class Halve(nn.Module):
    """A norm, and a convolution over squares of two by two cells; what is left over at the edge is dropped."""

    def __init__(self, before: int, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(before, eps=EPS)
        self.conv = nn.Conv2d(before, width, 2, stride=2)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
        y: Tensor = self.conv(self.norm(x).permute(0, 3, 1, 2))
        return y.permute(0, 2, 3, 1)


class Stage(nn.Module):
    """Blocks of one width, behind a halving of the map where there was a stage before."""

    def __init__(self, before: int | None, width: int, config: Config, rates: Sequence[float]) -> None:
        super().__init__()
        self.halve = None if before is None else Halve(before, width)
        self.blocks = nn.Sequential(*(ConvNeXtBlock(width, config, rate) for rate in rates))

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
        y: Tensor = self.blocks(x if self.halve is None else self.halve(x))
        return y


class ConvNeXt(VisionModel):
    """Patches, stages of blocks with a halving between two of them, and a norm of the mean of the last map."""

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.stem = PatchEmbed(config.channels, config.patch, config.widths[0])
        self.stem_norm = nn.LayerNorm(config.widths[0], eps=EPS)
        total, stages = sum(config.depths), list[Stage]()
        for i, (width, depth) in enumerate(zip(config.widths, config.depths, strict=True)):
            built = sum(config.depths[:i])
            rates = [config.drop_path * (built + j) / max(total - 1, 1) for j in range(depth)]
            stages.append(Stage(config.widths[i - 1] if i else None, width, config, rates))
        self.stages = nn.ModuleList(stages)
        self.norm = nn.LayerNorm(config.widths[-1], eps=config.eps)
        self.head = classifier(config.widths[-1], config.classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    @property
    def stride(self) -> int:
        """How many pixels a cell of the last map stands for, in each direction."""
        return self.config.patch << (len(self.config.widths) - 1)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return height // self.config.patch, width // self.config.patch

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        x: Tensor = self.stem_norm(self.stem(image))
        for stage in self.stages:
            x = stage(x)
        return x

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        logits: Tensor = self.head(self.norm(self.features(image).mean(dim=(1, 2))))
        return logits


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


# §3 of the paper; stochastic depth for ImageNet-1K is that of its table 5.
PRESETS = {
    "convnext-tiny": Config(),
    "convnext-small": Config(depths=(3, 3, 27, 3), drop_path=0.4),
    "convnext-base": Config(widths=(128, 256, 512, 1024), depths=(3, 3, 27, 3), drop_path=0.5),
    "convnext-large": Config(widths=(192, 384, 768, 1536), depths=(3, 3, 27, 3), drop_path=0.5),
    "convnext-world": Config(64, widths=(48, 96, 192), depths=(2, 2, 2), classes=64, drop_path=0.0),
    "convnext-nano": Config(size=32, widths=(16, 32), depths=(1, 2), classes=5),
}

FAMILY = Family("convnext", Config, ConvNeXt, PRESETS, example)
