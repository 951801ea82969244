"""Convolutions: how an image becomes tokens, the blocks of a ResNet, and the past of a sequence.

Images and feature maps are torch's "b c h w"; the stems hand on maps of tokens, "b h w c", and sequences are "b n w".
"""

from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

from regard.attention import Attention, Dot
from regard.layers.dropout import Dropout


class PatchEmbed(nn.Module):
    """Cut an image into squares and carry each to a token by one linear map, as a strided convolution (ViT's stem)."""

    def __init__(self, channels: int, patch: int, width: int) -> None:
        super().__init__()
        self.patch = patch
        self.project = nn.Conv2d(channels, width, patch, stride=patch)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        height, width = image.shape[-2:]
        if height % self.patch or width % self.patch or not height or not width:
            raise ValueError(
                f"an image of {height}×{width} does not divide into patches of {self.patch}; "
                f"make its height {_multiples(height, self.patch)} and its width {_multiples(width, self.patch)}"
            )
        return _tokens(self.project(image))


class ConvStem(nn.Module):
    """Small convolutions in place of patches: each halves the map and doubles its channels (Xiao 2021).

    With the four of `depth=4`, a token stands for 16×16 pixels, and sees beyond them.
    """

    def __init__(self, channels: int, width: int, *, depth: int = 4) -> None:
        super().__init__()
        if width % 2 ** (depth - 1):
            raise ValueError(
                f"width {width} does not halve {depth - 1} times, as a stem of depth {depth} asks; "
                f"try {_multiples(width, 2 ** (depth - 1))}"
            )
        widths = [channels, *(width // 2**halvings for halvings in reversed(range(depth)))]
        self.steps = nn.Sequential(
            *(nn.Sequential(conv_bn(before, after, 3, stride=2), nn.ReLU()) for before, after in pairwise(widths))
        )
        self.project = nn.Conv2d(width, width, 1)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        return _tokens(self.project(self.steps(image)))


class Shortcut(nn.Module):
    """A branch beside a way around it. The way around is the identity where the shapes allow (He 2016)."""

    def __init__(self, branch: nn.Module, around: nn.Module) -> None:
        super().__init__()
        self.branch, self.around = branch, around

    def forward(self, x: Float[Tensor, "b c *n"]) -> Float[Tensor, "b o *m"]:
        y: Tensor = self.branch(x) + self.around(x)
        return y.relu()


class BasicBlock(Shortcut):
    """ResNet's block of two 3×3 convolutions (He 2016). `zero_init` starts it as its shortcut alone (Goyal 2017)."""

    def __init__(self, channels: int, width: int, *, stride: int = 1, zero_init: bool = True) -> None:
        super().__init__(
            branch=nn.Sequential(
                conv_bn(channels, width, 3, stride=stride),
                nn.ReLU(),
                conv_bn(width, width, 3, zero_init=zero_init),
            ),
            around=_around(channels, width, stride),
        )


class Bottleneck(Shortcut):
    """ResNet's deep block: narrow by `reduction`, convolve, widen (He 2016), with the stride on the 3×3 (v1.5)."""

    def __init__(
        self, channels: int, width: int, *, stride: int = 1, reduction: int = 4, zero_init: bool = True
    ) -> None:
        narrow = _reduced(width, reduction)
        super().__init__(
            branch=nn.Sequential(
                conv_bn(channels, narrow, 1),
                nn.ReLU(),
                conv_bn(narrow, narrow, 3, stride=stride),
                nn.ReLU(),
                conv_bn(narrow, width, 1, zero_init=zero_init),
            ),
            around=_around(channels, width, stride),
        )


class FeatureAttention(nn.Module):
    """Self-attention over the feature map of a CNN (Zhang 2019, SAGAN): every place may look at every other.

    The gate starts closed, so a trained CNN that takes it in goes on as before and learns to open it.
    """

    def __init__(self, channels: int, heads: int = 1, reduction: int = 8) -> None:
        super().__init__()
        narrow = _reduced(channels, reduction)
        if narrow % heads:
            raise ValueError(
                f"{channels} channels reduced by {reduction} are {narrow}, which do not split into {heads} heads; "
                f"give a divisor of {narrow}"
            )
        # A linear map of each place is a 1×1 convolution of the map. The score is unscaled, as published.
        self.attn = Attention(
            q=nn.Linear(channels, narrow, bias=False),
            k=nn.Linear(channels, narrow, bias=False),
            v=nn.Linear(channels, narrow, bias=False),
            out=nn.Linear(narrow, channels, bias=False),
            heads=heads,
            score=Dot(1.0),
        )
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        seen: Tensor = self.attn(x.flatten(2).mT)
        return x + self.gate * seen.mT.reshape(x.shape)


class TemporalConv(nn.Module):
    """Convolve over the past alone, each block looking twice as far back as the one before (Bai 2018, TCN)."""

    def __init__(self, width: int, hidden: int, *, kernel: int = 3, depth: int = 4, dropout: float = 0.0) -> None:
        super().__init__()
        self.kernel = kernel
        self.dilations: list[int] = [2**i for i in range(depth)]
        self.blocks = nn.Sequential(
            *(_block(width if d == 1 else hidden, hidden, kernel, d, dropout) for d in self.dilations)
        )

    @property
    def receptive_field(self) -> int:
        """How many words an output depends on, its own included: two convolutions in each of the blocks."""
        return 1 + 2 * (self.kernel - 1) * sum(self.dilations)

    def forward(self, x: Float[Tensor, "b n w"]) -> Float[Tensor, "b n h"]:
        y: Tensor = self.blocks(x.mT)
        return y.mT


def conv_bn(channels: int, width: int, kernel: int, *, stride: int = 1, zero_init: bool = False) -> nn.Sequential:
    """A convolution and its batch norm, which takes the place of a constant term; `zero_init` starts it at zero."""
    norm = nn.BatchNorm2d(width)
    if zero_init:
        nn.init.zeros_(norm.weight)
    return nn.Sequential(
        nn.Conv2d(channels, width, kernel, stride=stride, padding=kernel // 2, bias=False),
        norm,
    )


def _around(channels: int, width: int, stride: int) -> nn.Module:
    return nn.Identity() if channels == width and stride == 1 else conv_bn(channels, width, 1, stride=stride)


def _block(width: int, hidden: int, kernel: int, dilation: int, dropout: float) -> Shortcut:
    return Shortcut(
        branch=nn.Sequential(
            *_past(width, hidden, kernel, dilation),
            nn.ReLU(),
            Dropout(dropout),
            *_past(hidden, hidden, kernel, dilation),
            nn.ReLU(),
            Dropout(dropout),
        ),
        around=nn.Identity() if width == hidden else nn.Conv1d(width, hidden, 1),
    )


def _past(width: int, hidden: int, kernel: int, dilation: int) -> tuple[nn.Module, nn.Module]:
    """Padding in front alone keeps the length, and keeps the future out."""
    return (
        nn.ConstantPad1d(((kernel - 1) * dilation, 0), 0.0),
        weight_norm(nn.Conv1d(width, hidden, kernel, dilation=dilation)),
    )


def _tokens(x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b h w c"]:
    return x.permute(0, 2, 3, 1)


def _reduced(channels: int, reduction: int) -> int:
    if channels % reduction:
        raise ValueError(
            f"{channels} channels do not reduce by {reduction}; try {_multiples(channels, reduction)} channels"
        )
    return channels // reduction


def _multiples(size: int, unit: int) -> str:
    """The multiples of a unit nearest to a size."""
    near = {size // unit * unit, -(-size // unit) * unit} - {0}
    return " or ".join(str(multiple) for multiple in sorted(near)) or str(unit)
