"""Convolutions: stems that make tokens of an image, the blocks of a ResNet, and causal ones over a sequence.

Images and feature maps are torch's "b c h w"; the stems hand on maps of tokens, "b h w c", and sequences are "b n w".
"""

from collections.abc import Callable
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

from regard.attention import Attention, Dot, Layout
from regard.layers.dropout import Dropout
from regard.layers.residual import Residual

Conv = Callable[..., nn.Module]  # called as nn.Conv2d is


class PatchEmbed(nn.Module):
    """Patch embedding, ViT's stem: each square of an image becomes a token by one linear map, a strided convolution."""

    def __init__(self, channels: int, patch: int, width: int, *, bias: bool = True) -> None:
        super().__init__()
        self.patch = patch
        self.project = nn.Conv2d(channels, width, patch, stride=patch, bias=bias)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        height, width = image.shape[-2:]
        if height % self.patch or width % self.patch or not height or not width:
            raise ValueError(
                f"an image of {height}×{width} does not divide into patches of {self.patch}; make its height "
                f"{_nearest_multiples(height, self.patch)} and its width {_nearest_multiples(width, self.patch)}"
            )
        return _to_tokens(self.project(image))


class ConvStem(nn.Module):
    """A convolutional stem in place of patches: each layer halves the map and doubles its channels (Xiao 2021).

    With the four of `depth=4`, a token stands for 16×16 pixels, and sees beyond them.
    """

    def __init__(self, channels: int, width: int, *, depth: int = 4) -> None:
        super().__init__()
        if width % 2 ** (depth - 1):
            raise ValueError(
                f"width {width} does not halve {depth - 1} times, as a stem of depth {depth} asks; "
                f"try {_nearest_multiples(width, 2 ** (depth - 1))}"
            )
        widths = [channels, *(width // 2**halvings for halvings in reversed(range(depth)))]
        self.convs = nn.Sequential(
            *(nn.Sequential(conv_bn(before, after, 3, stride=2), nn.ReLU()) for before, after in pairwise(widths))
        )
        self.project = nn.Conv2d(width, width, 1)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        return _to_tokens(self.project(self.convs(image)))


class ShortcutBlock(nn.Module):
    """A branch plus its shortcut, which is the identity where the shapes allow (He 2016)."""

    def __init__(self, branch: nn.Module, shortcut: nn.Module, *, drop_path: float = 0.0) -> None:
        super().__init__()
        self.branch, self.shortcut = branch, shortcut
        self.join = Residual(1, drop_path=drop_path)  # whose width only a LayerScale would have

    def forward(self, x: Float[Tensor, "b c *n"]) -> Float[Tensor, "b o *m"]:
        y: Tensor = self.join(self.shortcut(x), self.branch(x))
        return y.relu()


class BasicBlock(ShortcutBlock):
    """ResNet's block of two 3×3 convolutions (He 2016). `zero_init` starts it as its shortcut alone (Goyal 2017).

    `conv` makes the 3×3 convolutions. With a `squeeze`, the branch ends in a squeeze-excitation through this share of
    its channels; a `pooled` shortcut averages what it steps over (ResNet-D, He 2019); `drop_path` is stochastic depth.
    """

    def __init__(
        self,
        channels: int,
        width: int,
        *,
        stride: int = 1,
        zero_init: bool = True,
        conv: Conv = nn.Conv2d,
        squeeze: float = 0.0,
        pooled: bool = False,
        drop_path: float = 0.0,
    ) -> None:
        super().__init__(
            branch=nn.Sequential(
                conv_bn(channels, width, 3, stride=stride, conv=conv),
                nn.ReLU(),
                conv_bn(width, width, 3, zero_init=zero_init, conv=conv),
                *_excite(width, squeeze),
            ),
            shortcut=_shortcut(channels, width, stride, pooled),
            drop_path=drop_path,
        )


class Bottleneck(ShortcutBlock):
    """ResNet's deep block: narrow by `reduction`, convolve, widen (He 2016), with the stride on the 3×3 (v1.5).

    The other settings are those of `BasicBlock`.
    """

    def __init__(
        self,
        channels: int,
        width: int,
        *,
        stride: int = 1,
        reduction: int = 4,
        zero_init: bool = True,
        conv: Conv = nn.Conv2d,
        squeeze: float = 0.0,
        pooled: bool = False,
        drop_path: float = 0.0,
    ) -> None:
        narrow = _reduce(width, reduction)
        super().__init__(
            branch=nn.Sequential(
                conv_bn(channels, narrow, 1),
                nn.ReLU(),
                conv_bn(narrow, narrow, 3, stride=stride, conv=conv),
                nn.ReLU(),
                conv_bn(narrow, width, 1, zero_init=zero_init),
                *_excite(width, squeeze),
            ),
            shortcut=_shortcut(channels, width, stride, pooled),
            drop_path=drop_path,
        )


class SqueezeExcitation(nn.Module):
    """Each channel is scaled by what the whole map says of it (Hu 2018)."""

    def __init__(self, channels: int, hidden: int, *, activation: Callable[[], nn.Module] = nn.ReLU) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, hidden, 1), nn.Conv2d(hidden, channels, 1)
        self.activation = activation()

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        told: Tensor = self.up(self.activation(self.down(x.mean(dim=(2, 3), keepdim=True))))
        return x * told.sigmoid()


class FrozenNorm(nn.Module):
    """A batch norm whose statistics and weights stay what they were, as detectors have in a trained backbone."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, norm: nn.BatchNorm2d) -> None:
        super().__init__()
        self.eps = norm.eps
        for name in ("weight", "bias", "running_mean", "running_var"):
            setattr(self, name, nn.Buffer(getattr(norm, name).detach().clone()))

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        return x * scale[:, None, None] + (self.bias - self.running_mean * scale)[:, None, None]


def freeze_norms(module: nn.Module) -> None:
    """Replace every batch norm inside of a module by one that learns nothing more."""
    for name, part in module.named_children():
        if isinstance(part, nn.BatchNorm2d):
            setattr(module, name, FrozenNorm(part))
        else:
            freeze_norms(part)


class FeatureAttention(nn.Module):
    """Self-attention over the feature map of a CNN (Zhang 2019, SAGAN): every cell attends to every other.

    The gate starts at zero, so that a trained CNN is at first unchanged by it.
    """

    def __init__(self, channels: int, heads: int = 1, reduction: int = 8) -> None:
        super().__init__()
        narrow = _reduce(channels, reduction)
        if narrow % heads:
            raise ValueError(
                f"{channels} channels reduced by {reduction} are {narrow}, which do not split into {heads} heads; "
                f"give a divisor of {narrow}"
            )
        # A linear map of each cell is a 1×1 convolution of the map. The score is unscaled, as published.
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
        seen: Tensor = self.attn(x.flatten(2).mT, layout=Layout(*x.shape[2:]))
        return x + self.gate * seen.mT.reshape(x.shape)


class TemporalConv(nn.Module):
    """Causal dilated convolutions, each block reaching twice as far back as the one before (Bai 2018, TCN)."""

    def __init__(self, width: int, hidden: int, *, kernel: int = 3, depth: int = 4, dropout: float = 0.0) -> None:
        super().__init__()
        self.kernel = kernel
        self.dilations: list[int] = [2**i for i in range(depth)]
        self.blocks = nn.Sequential(
            *(_temporal_block(width if d == 1 else hidden, hidden, kernel, d, dropout) for d in self.dilations)
        )

    @property
    def receptive_field(self) -> int:
        """How many words an output depends on, its own included; each block has two convolutions."""
        return 1 + 2 * (self.kernel - 1) * sum(self.dilations)

    def forward(self, x: Float[Tensor, "b n w"]) -> Float[Tensor, "b n h"]:
        y: Tensor = self.blocks(x.mT)
        return y.mT


def conv_bn(
    channels: int,
    width: int,
    kernel: int,
    *,
    stride: int = 1,
    zero_init: bool = False,
    conv: Conv = nn.Conv2d,
) -> nn.Sequential:
    """A convolution without bias and its batch norm; `zero_init` starts the output at zero."""
    norm = nn.BatchNorm2d(width)
    if zero_init:
        nn.init.zeros_(norm.weight)
    return nn.Sequential(conv(channels, width, kernel, stride=stride, padding=kernel // 2, bias=False), norm)


def _shortcut(channels: int, width: int, stride: int, pooled: bool = False) -> nn.Module:
    if channels == width and stride == 1:
        return nn.Identity()
    if not pooled or stride == 1:
        return conv_bn(channels, width, 1, stride=stride)
    # At the edge of a map of odd size, the mean is that of the cells there are.
    pool = nn.AvgPool2d(stride, stride, ceil_mode=True, count_include_pad=False)
    return nn.Sequential(pool, conv_bn(channels, width, 1))


def _excite(width: int, squeeze: float) -> tuple[nn.Module, ...]:
    return (SqueezeExcitation(width, max(1, round(squeeze * width))),) if squeeze else ()


def _temporal_block(width: int, hidden: int, kernel: int, dilation: int, dropout: float) -> ShortcutBlock:
    return ShortcutBlock(
        branch=nn.Sequential(
            *_causal_conv(width, hidden, kernel, dilation),
            nn.ReLU(),
            Dropout(dropout),
            *_causal_conv(hidden, hidden, kernel, dilation),
            nn.ReLU(),
            Dropout(dropout),
        ),
        shortcut=nn.Identity() if width == hidden else nn.Conv1d(width, hidden, 1),
    )


def _causal_conv(width: int, hidden: int, kernel: int, dilation: int) -> tuple[nn.Module, nn.Module]:
    """Padding in front alone keeps the length and hides the future."""
    return (
        nn.ConstantPad1d(((kernel - 1) * dilation, 0), 0.0),
        weight_norm(nn.Conv1d(width, hidden, kernel, dilation=dilation)),
    )


def _to_tokens(x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b h w c"]:
    return x.permute(0, 2, 3, 1)


def _reduce(channels: int, reduction: int) -> int:
    if channels % reduction:
        raise ValueError(
            f"{channels} channels do not reduce by {reduction}; try {_nearest_multiples(channels, reduction)} channels"
        )
    return channels // reduction


def _nearest_multiples(size: int, unit: int) -> str:
    """The multiples of a unit nearest to a size."""
    near = {size // unit * unit, -(-size // unit) * unit} - {0}
    return " or ".join(str(multiple) for multiple in sorted(near)) or str(unit)
