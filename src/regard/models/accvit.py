"""ACC-ViT: each token attends inside windows of several dilations at once, and gates what they tell it (Ibtehaz 2024).

Each block convolves with several dilations too, and one MLP serves all the attentions of a block. The authors' code was
not at hand, and these are choices of ours: each dilation of attention has projections of its own; the gate is one
linear map of the token and a softmax; the inner channels of a convolution are six times the outer, a third for each of
its dilations, a number that was chosen because it comes to the published count of parameters; stem and strides are
MaxViT's. The widths and depths of stages were not compared with the paper's table either. Padding inside windows is
hidden. Convolutions start as torch draws them.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Dilated, Partitioned, Relative2d, multihead, weigh
from regard.attention.masks import Visible
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
    widths: tuple[int, ...] = (64, 128, 256, 512)  # of the stages, as are depths
    depths: tuple[int, ...] = (2, 3, 6, 2)
    head_width: int = 32
    window: int = 7  # tokens on a side
    dilations: tuple[int, ...] = (1, 2, 3)  # of the convolutions; those of attention double until they span the map
    expansion: int = 4  # of the MLPs
    classes: int = 1000
    dropout: float = 0.0
    drop_path: float = 0.2  # of the last block; those before have less
    eps: float = 1e-5  # of the layer norms

    def __post_init__(self) -> None:
        check_stages(widths=self.widths, depths=self.depths)
        if self.window < 1:
            raise ValueError(f"a window of {self.window} tokens on a side holds none; give 1 or more")
        odd = [width for width in self.widths if width % self.head_width]
        if odd:
            raise ValueError(f"width {odd[0]} does not split into heads of {self.head_width}; make it a multiple")

    def rates(self, stage: int) -> tuple[int, ...]:
        """The dilations of a stage's attention: 1, 2, 4, … as long as one window fits the map of a trained picture."""
        side, rates = -(-self.size // 2 ** (stage + 2)), [1]
        while 2 * rates[-1] * self.window <= side:
            rates.append(2 * rates[-1])
        return tuple(rates)


class ACCViT(VisionModel):
    """A stem, stages of blocks that each begin with half the map, and a classifier of their mean."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.stem = conv_stem(config.channels, config.stem)
        channels, total = config.stem, sum(config.depths)
        self.blocks = nn.ModuleList()
        for stage, (width, depth) in enumerate(zip(config.widths, config.depths, strict=True)):
            for i in range(depth):
                drop = config.drop_path * len(self.blocks) / max(total - 1, 1)
                self.blocks.append(ACCViTBlock(config, stage, channels, stride=1 if i else 2, drop_path=drop))
                channels = width
        self.norm = nn.LayerNorm(channels, eps=config.eps)
        self.head = classifier(channels, config.classes)
        draw_weights(self)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        logits: Tensor = self.head(self.features(image).mean(dim=(1, 2)))
        return logits

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        x = self.stem(image).permute(0, 2, 3, 1)
        for block in self.blocks:
            x = block(x)
        states: Tensor = self.norm(x)
        return states

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return -(-height // 4), -(-width // 4)


class ACCViTBlock(nn.Module):
    """A convolution of several dilations, an attention of several dilations, and an MLP."""

    def __init__(self, config: Config, stage: int, channels: int, *, stride: int, drop_path: float) -> None:
        super().__init__()
        width = config.widths[stage]
        self.conv = MBConv(
            channels,
            width,
            stride=stride,
            expansion=2 * len(config.dilations),
            dilations=config.dilations,
            drop_path=drop_path,
        )
        self.attend = Block(
            width,
            AtrousAttention(width, width // config.head_width, config.window, config.rates(stage), config.dropout),
            MLP(width, config.expansion * width),
            norm=partial(nn.LayerNorm, eps=config.eps),
            dropout=config.dropout,
            drop_path=drop_path,
        )

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b i j o"]:
        y: Tensor = self.attend(self.conv(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1))
        return y


class AtrousAttention(nn.Module):
    """Attentions inside windows of several dilations, mixed for each token as it wants them."""

    def __init__(self, width: int, heads: int, window: int, rates: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        self.branches = nn.ModuleList(
            Partitioned(multihead(width, heads, bias=Relative2d(window, heads), dropout=dropout), Dilated(window, rate))
            for rate in rates
        )
        self.gate = nn.Linear(width, len(rates)) if len(rates) > 1 else None  # nothing to choose from

    def forward(
        self,
        x: Float[Tensor, "b h w c"],
        *,
        where: Float[Tensor, "#b h w c"] | None = None,
        visible: Visible | None = None,
        positions: None = None,
    ) -> Float[Tensor, "b h w c"]:
        told: list[Tensor] = [branch(x, where=where, visible=visible, positions=positions) for branch in self.branches]
        if self.gate is None:
            return told[0]
        shares = weigh(self.gate(x)).unbind(dim=-1)
        return sum((y * share[..., None] for y, share in zip(told, shares, strict=True)), torch.zeros_like(x))


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


# Meant to be the paper's tiny one, with its 28.4 million parameters; see above for what was not compared.
PRESETS = {
    "accvit-tiny": Config(),
    "accvit-world": Config(
        64, stem=16, widths=(32, 64, 128), depths=(1, 1, 1), head_width=16, window=4, classes=64, drop_path=0.0
    ),
    "accvit-nano": Config(32, stem=8, widths=(16, 32), depths=(1, 1), head_width=8, window=4, classes=5, drop_path=0.0),
}

FAMILY = Family("accvit", Config, ACCViT, PRESETS, example)
