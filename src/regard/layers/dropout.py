"""Dropout, with random numbers that cost an eighth of torch's on a CPU."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

LEVELS = 256  # of one random byte for each element


class Dropout(nn.Module):
    """Zero each element with probability p in training, and scale the others by 1 / (1 - p) (Srivastava 2014).

    On a CPU torch draws a random number of 32 bits for each element, which took a fifth of a Transformer's training
    step; here one draw of 64 bits decides about eight. There p is rounded to a multiple of 1/256, and so is the scale.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0.0 <= p < 1.0:
            raise ValueError(f"dropout {p} is no probability to lose an element; give 0 to below 1")
        self.p = p

    def forward(self, x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        if not self.training or self.p == 0.0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        return drop(x, min(max(round(self.p * LEVELS), 1), LEVELS - 1))

    def extra_repr(self) -> str:
        return f"p={self.p}"


def drop(x: Float[Tensor, "*n"], lost: int) -> Float[Tensor, "*n"]:
    """Zero each element with probability `lost` / LEVELS, and scale the others to keep the mean."""
    words = torch.empty(-(-x.numel() // 8), dtype=torch.int64).random_(-(2**63), None)  # None: all 64 bits
    level = words.view(torch.uint8)[: x.numel()].view(x.shape)
    # Bytes are turned to floats before they are compared, since torch does either slowly with bytes and bools.
    return x * level.to(x.dtype).ge_(lost).mul_(LEVELS / (LEVELS - lost))
