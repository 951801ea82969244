"""Convolutions around a Transformer that denoises: fine maps before it and behind it, joined by long skips.

The Transformer works on the smallest map alone, so that outlines need not be learnt patch by patch (U-ViT, Hoogeboom
2023).
"""

from itertools import pairwise

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

GROUPS = 8  # of channels, which a norm keeps apart


class AdaptiveConv(nn.Module):
    """Two 3×3 convolutions beside a shortcut; a vector tells how they are scaled, moved and let through."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(GROUPS, channels, affine=False)
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.inner_norm = nn.GroupNorm(GROUPS, channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.tell = nn.Linear(width, 3 * channels)
        nn.init.zeros_(self.tell.weight)
        nn.init.zeros_(self.tell.bias)

    def forward(self, x: Float[Tensor, "b c h w"], moment: Float[Tensor, "b d"]) -> Float[Tensor, "b c h w"]:
        shift, scale, gate = self.tell(F.silu(moment))[:, :, None, None].chunk(3, dim=1)
        y = self.first(F.silu(torch.addcmul(shift, self.norm(x), 1 + scale)))
        joined: Tensor = x + gate * self.second(F.silu(self.inner_norm(y)))
        return joined


class Pyramid(nn.Module):
    """Maps of a picture, each half as large as the one before with twice its channels; and the way back."""

    def __init__(self, channels: int, fine: int, levels: int, width: int) -> None:
        super().__init__()
        if fine % GROUPS:
            raise ValueError(f"{fine} fine channels do not split into {GROUPS} groups; give a multiple of {GROUPS}")
        self.widths = [fine * 2**level for level in range(levels)]
        self.first = nn.Conv2d(channels, fine, 3, padding=1)
        self.before_blocks = nn.ModuleList(AdaptiveConv(each, width) for each in self.widths)
        self.shrink = nn.ModuleList(nn.Conv2d(a, b, 2, stride=2) for a, b in pairwise(self.widths))
        self.join = nn.ModuleList(nn.Conv2d(2 * each, each, 1) for each in self.widths)
        self.behind_blocks = nn.ModuleList(AdaptiveConv(each, width) for each in self.widths)
        self.grow = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in pairwise(self.widths))
        self.last_norm = nn.GroupNorm(GROUPS, fine)
        self.last = nn.Conv2d(fine, channels, 3, padding=1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)  # type: ignore[arg-type] # which it has

    def before(self, image: Float[Tensor, "b c h w"], moment: Float[Tensor, "b d"]) -> list[Tensor]:
        """All maps, the finest first."""
        x, maps = self.first(image), list[Tensor]()
        for level, block in enumerate(self.before_blocks):
            x = block(self.shrink[level - 1](x) if level else x, moment)
            maps.append(x)
        return maps

    def behind(
        self, x: Float[Tensor, "b f i j"], maps: list[Tensor], moment: Float[Tensor, "b d"]
    ) -> Float[Tensor, "b c h w"]:
        """From a map like the smallest to a picture, by way of all of them."""
        for level in reversed(range(len(maps))):
            x = self.behind_blocks[level](self.join[level](torch.cat((x, maps[level]), dim=1)), moment)
            if level:
                x = self.grow[level - 1](x)
        image: Tensor = self.last(F.silu(self.last_norm(x)))
        return image
