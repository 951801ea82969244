"""MonoDepth: how far away all that one picture shows is, learnt from what two eyes see and no depth (Godard 2017).

An encoder halves the picture again and again, a decoder doubles it again with what the encoder saw at each size. At the
last sizes it says disparities of both eyes: by which share of the width each pixel of the left picture is found further
left in the right one, and each pixel of the right one further right in the left. What teaches it is the other eye's
picture, warped by them (`regard.train.stereo`). The encoder is the paper's own, "VGG"; nothing in it attends.

Deviation: a picture of any size will do, since the decoder grows to the size that the encoder had.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.vision import check_stages
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 256  # rows of a picture, and its
    columns: int = 512
    channels: int = 3
    widths: tuple[int, ...] = (32, 64, 128, 256, 512, 512, 512)  # of the encoder, each of which halves
    kernels: tuple[int, ...] = (7, 5, 3, 3, 3, 3, 3)
    decoder_widths: tuple[int, ...] = (16, 32, 64, 128, 256, 512, 512)  # of the decoder at the same sizes, one larger
    scales: int = 4  # sizes at which disparities are said: the whole picture, a half, a quarter …
    most: float = 0.3  # the largest disparity, as a share of the width

    def __post_init__(self) -> None:
        check_stages(widths=self.widths, kernels=self.kernels, decoder_widths=self.decoder_widths)
        if not 1 <= self.scales <= len(self.widths):
            raise ValueError(
                f"{self.scales} scales are not among the {len(self.widths)} of the decoder; give 1 to "
                f"{len(self.widths)}"
            )
        if not 0 < self.most <= 1:
            raise ValueError(f"a disparity of up to {self.most} of the width is none; give more than 0 and up to 1")


class Disparities(NamedTuple):
    """What is said of both eyes at the finest size, without a bound; and as shares of the width, the finest first."""

    logits: Float[Tensor, "b 2 h w"]
    scales: tuple[Float[Tensor, "b 2 _ _"], ...]

    @property
    def left(self) -> Float[Tensor, "b h w"]:
        """The finest ones of the left eye."""
        return self.scales[0][:, 0]

    @property
    def right(self) -> Float[Tensor, "b h w"]:
        """The finest ones of the right eye."""
        return self.scales[0][:, 1]


class MonoDepth(nn.Module):
    """An encoder, a decoder, and what it says at its last sizes."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        widths, back = config.widths, config.decoder_widths
        before = (config.channels, *widths)
        self.encoder = nn.ModuleList(
            Down(*ends, kernel) for ends, kernel in zip(pairwise(before), config.kernels, strict=True)
        )
        below = (*back[1:], widths[-1])
        # At the finest size there is no map to join, only what was said at the size below.
        skips = (0, *widths[:-1])
        self.decoder = nn.ModuleList(
            Up(below[i], back[i], skips[i] + (2 if i + 1 < config.scales else 0)) for i in range(len(back))
        )
        self.to_disparity = nn.ModuleDict({str(i): nn.Conv2d(back[i], 2, 3, padding=1) for i in range(config.scales)})
        self.apply(_draw)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """The rows and columns of the map in the middle."""
        for _ in self.config.widths:
            height, width = -(-height // 2), -(-width // 2)
        return height, width

    def forward(self, image: Float[Tensor, "b c h w"]) -> Disparities:
        maps = [image]
        for down in self.encoder:
            maps.append(down(maps[-1]))
        x, logits, said = maps.pop(), image, list[Tensor]()
        for i in reversed(range(len(self.decoder))):
            skip = maps.pop()
            joined = [skip] if i else []
            if said:
                joined.append(F.interpolate(said[-1], size=skip.shape[-2:], mode="bilinear", align_corners=False))
            x = cast(Up, self.decoder[i])(x, joined, (skip.shape[-2], skip.shape[-1]))
            if i < self.config.scales:
                logits = self.to_disparity[str(i)](x)
                said.append(self.config.most * logits.sigmoid())
        return Disparities(logits, tuple(reversed(said)))


class Down(nn.Module):
    """Two convolutions, of which the second halves the map."""

    def __init__(self, inputs: int, width: int, kernel: int) -> None:
        super().__init__()
        self.see = nn.Conv2d(inputs, width, kernel, padding=kernel // 2)
        self.halve = nn.Conv2d(width, width, kernel, stride=2, padding=kernel // 2)

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o i j"]:
        return F.elu(self.halve(F.elu(self.see(x))))


class Up(nn.Module):
    """The map grown and convolved, joined with what is known at its new size, and convolved again."""

    def __init__(self, inputs: int, width: int, joined: int) -> None:
        super().__init__()
        self.grow = nn.Conv2d(inputs, width, 3, padding=1)
        self.join = nn.Conv2d(width + joined, width, 3, padding=1)

    def forward(
        self, x: Float[Tensor, "b c i j"], joined: list[Float[Tensor, "b _ h w"]], size: tuple[int, int]
    ) -> Float[Tensor, "b o h w"]:
        grown = F.elu(self.grow(F.interpolate(x, size=size)))
        return F.elu(self.join(torch.cat((grown, *joined), dim=1)))


def _draw(module: nn.Module) -> None:
    """First weights that keep how much a map varies."""
    if isinstance(module, nn.Conv2d):
        nn.init.xavier_uniform_(module.weight)
        assert module.bias is not None
        nn.init.zeros_(module.bias)


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.columns)}


_small = Config(64, 64, widths=(16, 32, 64, 64, 64), kernels=(3,) * 5, decoder_widths=(8, 16, 32, 48, 48), scales=3)
# §3.1 of the paper; the ones for pictures of the world and for a few photographs are ours.
PRESETS = {
    "monodepth-vgg": Config(),
    "monodepth-tiny": replace(_small, size=96, columns=128),
    "monodepth-world": _small,
    "monodepth-nano": Config(16, 16, widths=(8, 16), kernels=(3, 3), decoder_widths=(8, 8), scales=2),
}

FAMILY = Family("monodepth", Config, MonoDepth, PRESETS, example)
