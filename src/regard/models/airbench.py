"""airbench: the small convolution network of the CIFAR-10 speed-runs (Page 2018, Jordan 2024, arXiv:2404.00498).

Its first filters are not learned: they are the principal components of small patches of the training pictures, each
divided by its deviation and taken with both signs, so that what follows sees channels that are uncorrelated and equally
strong. Convolutions begin as the identity as far as they can, and logits are small at first.

Deviation: the map can pass around the second convolution of a group, as in a ResNet (`residual`), of which the paper's
smallest network has none.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.vision import VisionModel, classifier
from regard.models.family import Family

LITTLE = 5e-4  # added to the variance of a component, so that the faintest do not become the loudest


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 32
    channels: int = 3
    patch: int = 2  # side of the whitened patches
    widths: tuple[int, ...] = (64, 256, 256)
    residual: bool = True
    momentum: float = 0.4  # by which the running means of BatchNorm move, faster than usual since trainings are short
    scale: float = 1 / 9  # of the logits
    classes: int = 10


class Airbench(VisionModel):
    """Whitened patches, groups of two convolutions each of which halves the map, and the maximum of the last map."""

    channels_last = False

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__()
        least = config.patch - 1 + 2 ** len(config.widths)
        if config.size < least:
            times = len(config.widths)
            raise ValueError(
                f"a picture of {config.size} pixels does not halve {times} times; give size {least} or more"
            )
        self.config = config
        self.whiten = Whiten(config.channels, config.patch)
        widths = [2 * config.channels * config.patch**2, *config.widths]
        self.stages = nn.ModuleList(
            Group(before, width, residual=config.residual, momentum=config.momentum)
            for before, width in pairwise(widths)
        )
        self.head = classifier(config.widths[-1], config.classes)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        lost = self.config.patch - 1
        return height - lost, width - lost

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        x: Tensor = F.gelu(self.whiten(image))
        for stage in self.stages:
            x = stage(x)
        return x.permute(0, 2, 3, 1)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        seen = self.features(image).amax(dim=(1, 2))
        logits: Tensor = self.head(seen)
        return logits * self.config.scale if self.config.classes else logits


class Whiten(nn.Module):
    """A convolution by fixed filters: the principal components of patches, once `learn` has met some; biases learn."""

    filters: Tensor

    def __init__(self, channels: int, patch: int) -> None:
        super().__init__()
        count = channels * patch**2
        plain = torch.eye(count).view(count, channels, patch, patch)
        self.register_buffer("filters", torch.cat([plain, -plain]))
        self.bias = nn.Parameter(torch.zeros(2 * count))

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o i j"]:
        return F.conv2d(image, self.filters, self.bias)

    @torch.no_grad()
    def learn(self, image: Float[Tensor, "b c h w"]) -> None:
        """Take the filters from pictures."""
        count, channels, patch, _ = self.filters.shape
        patches = F.unfold(image, patch).transpose(1, 2).reshape(-1, count // 2)
        patches = patches - patches.mean(dim=0)
        variance, components = torch.linalg.eigh(patches.T @ patches / len(patches))
        found = (components / (variance + LITTLE).sqrt()).T.flip(0).view(-1, channels, patch, patch)
        self.filters.copy_(torch.cat([found, -found]))


class Group(nn.Module):
    """Two convolutions; a pool behind the first halves the map, and around the second it can pass untouched."""

    def __init__(self, before: int, width: int, *, residual: bool, momentum: float) -> None:
        super().__init__()
        self.residual = residual
        self.first, self.second = (nn.Conv2d(each, width, 3, padding=1, bias=False) for each in (before, width))
        self.first_norm, self.second_norm = (nn.BatchNorm2d(width, momentum=momentum) for _ in range(2))
        for conv in (self.first, self.second):
            nn.init.dirac_(conv.weight[: conv.in_channels])

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o i j"]:
        x = F.gelu(self.first_norm(F.max_pool2d(self.first(x), 2)))
        y = self.second_norm(self.second(x))
        return F.gelu(x + y if self.residual else y)


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


# Table 1 of the paper has the widths of its network for 94 %.
PRESETS = {
    "airbench": Config(),
    "airbench-plain": Config(residual=False),
    "airbench-nano": Config(size=16, widths=(16, 24, 24), classes=5),
}

FAMILY = Family("airbench", Config, Airbench, PRESETS, example)
