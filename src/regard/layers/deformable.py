"""A convolution that looks where it wants to: what stands there moves the taps of its kernel (Dai 2017, Zhu 2018).

Deviation: the modulation of the second version runs from 0 to 2 and starts at 1, so that a fresh one is a plain
convolution; theirs runs to 1 and starts at a half.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class DeformableConv(nn.Module):
    """A convolution whose taps are moved by offsets, and with `modulated` weighed too, that another convolution reads.

    It is made as `nn.Conv2d` is, and starts as one: the offsets begin at zero.
    """

    def __init__(
        self,
        channels: int,
        width: int,
        kernel: int,
        *,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        bias: bool = True,
        modulated: bool = True,
    ) -> None:
        super().__init__()
        self.kernel, self.stride, self.padding, self.dilation = kernel, stride, padding, dilation
        plain = nn.Conv2d(channels, width, kernel, bias=bias)
        self.weight, self.bias = plain.weight, plain.bias
        taps = kernel**2
        self.offset = nn.Conv2d(channels, 2 * taps, kernel, stride=stride, padding=padding, dilation=dilation)
        self.strength = (
            nn.Conv2d(channels, taps, kernel, stride=stride, padding=padding, dilation=dilation) if modulated else None
        )
        for conv in (self.offset, self.strength):
            if conv is not None and conv.bias is not None:
                nn.init.zeros_(conv.weight)
                nn.init.zeros_(conv.bias)

    def places(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j taps 2"]:
        """The row and the column at which each tap of each output cell reads x; both are seldom whole numbers."""
        moved: Tensor = self.offset(x).unflatten(1, (-1, 2)).permute(0, 3, 4, 1, 2)
        taps = torch.arange(self.kernel, device=x.device) * self.dilation - self.padding
        down, across = (torch.arange(side, device=x.device) * self.stride for side in moved.shape[1:3])
        rows = (down[:, None] + taps)[:, None, :, None]  # i 1 k 1
        columns = (across[:, None] + taps)[None, :, None]  # 1 j 1 k
        unmoved = torch.stack(torch.broadcast_tensors(rows, columns), dim=-1).flatten(2, 3)
        return unmoved + moved

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o i j"]:
        down, across = self.places(x).unbind(-1)
        height, width = x.shape[2:]
        # Torch counts from -1 to 1 between the outer edges of a map, and columns first. The sides stay numbers of their
        # own, since a tensor made of them would hold for the traced size alone.
        relative = torch.stack(((2 * across + 1) / width - 1, (2 * down + 1) / height - 1), dim=-1)
        seen = F.grid_sample(x, relative.flatten(2, 3), align_corners=False)  # b c i (j taps)
        if self.strength is not None:
            weights = 2 * self.strength(x).sigmoid()
            seen = seen * weights.permute(0, 2, 3, 1).flatten(2)[:, None]
        # The taps of a cell lie side by side, so that what is left is a convolution without overlaps.
        return F.conv2d(seen, self.weight.flatten(2)[:, :, None], self.bias, stride=(1, self.kernel**2))
