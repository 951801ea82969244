"""Inverted residual convolutions, as the hybrids of convolution and attention have them before each attention.

Maps are torch's "b c h w".
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.convolution import SqueezeExcitation
from regard.layers.residual import Residual

EPS, MOMENTUM = 1e-3, 0.01  # of the batch norms, as in EfficientNet and its relatives


class Depthwise(nn.Module):
    """3×3 convolutions of each channel by itself; with several `dilations`, as many parts of the channels have each."""

    def __init__(self, channels: int, *, stride: int = 1, dilations: tuple[int, ...] = (1,)) -> None:
        super().__init__()
        if channels % len(dilations):
            raise ValueError(
                f"{channels} channels do not split evenly among {len(dilations)} dilations; "
                f"try {channels - channels % len(dilations)} or {channels + -channels % len(dilations)}"
            )
        each = channels // len(dilations)
        self.convs = nn.ModuleList(
            nn.Conv2d(each, each, 3, stride=stride, padding=d, dilation=d, groups=each, bias=False) for d in dilations
        )

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c i j"]:
        parts = x.chunk(len(self.convs), dim=1)
        return torch.cat([conv(part) for conv, part in zip(self.convs, parts, strict=True)], dim=1)


class MBConv(nn.Module):
    """Widen, convolve each channel, weigh the channels, narrow again (Sandler 2018, Tan 2019), normalised in front.

    The inner width is `expansion` times the outer, and a quarter of the outer is what channels are weighed by (Tu
    2022). With a stride, the shortcut is an average.
    """

    def __init__(
        self,
        channels: int,
        width: int,
        *,
        stride: int = 1,
        expansion: int = 4,
        dilations: tuple[int, ...] = (1,),
        drop_path: float = 0.0,
    ) -> None:
        super().__init__()
        inner = expansion * width
        self.branch = nn.Sequential(
            batch_norm(channels),
            nn.Conv2d(channels, inner, 1, bias=False),
            batch_norm(inner),
            nn.GELU(),
            Depthwise(inner, stride=stride, dilations=dilations),
            batch_norm(inner),
            nn.GELU(),
            SqueezeExcitation(inner, max(1, width // 4), activation=nn.SiLU),
            nn.Conv2d(inner, width, 1),
        )
        self.shortcut = nn.Sequential(
            nn.Identity() if stride == 1 else nn.AvgPool2d(stride, ceil_mode=True),  # as the convolution rounds
            nn.Identity() if channels == width else nn.Conv2d(channels, width, 1),
        )
        self.join = Residual(width, drop_path=drop_path)

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o i j"]:
        y: Tensor = self.join(self.shortcut(x), self.branch(x))
        return y


def conv_stem(channels: int, width: int) -> nn.Sequential:
    """Two 3×3 convolutions that halve a picture."""
    return nn.Sequential(
        nn.Conv2d(channels, width, 3, stride=2, padding=1),
        batch_norm(width),
        nn.GELU(),
        nn.Conv2d(width, width, 3, padding=1),
    )


def batch_norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=EPS, momentum=MOMENTUM)
