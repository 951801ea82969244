"""Dropout that does not wait for its dice."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

SIDES = 256  # of the dice: one byte for each number


class Dropout(nn.Module):
    """Zero each number with a chance in training, and make up for it in the others (Srivastava 2014).

    On a CPU torch draws one random number of 32 bits for each, which took a fifth of a Transformer's training step;
    here one draw of 64 bits decides about eight. The chance is therefore a multiple of 1/256, and the scale is its own.
    """

    def __init__(self, chance: float = 0.5) -> None:
        super().__init__()
        if not 0.0 <= chance < 1.0:
            raise ValueError(f"dropout {chance} is no chance to lose a number; give 0 to below 1")
        self.chance = chance

    def forward(self, x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        if not self.training or self.chance == 0.0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.chance)
        return thinned(x, min(max(round(self.chance * SIDES), 1), SIDES - 1))

    def extra_repr(self) -> str:
        return str(self.chance)


def thinned(x: Float[Tensor, "*n"], lost: int) -> Float[Tensor, "*n"]:
    """Each number of x survives `SIDES - lost` of the faces of a die."""
    words = torch.empty(-(-x.numel() // 8), dtype=torch.int64).random_(-(2**63), None)  # None: all 64 bits
    dice = words.view(torch.uint8)[: x.numel()].view(x.shape)
    # Bytes are turned to numbers before they are compared, since torch does either slowly with bytes and bools.
    return x * dice.to(x.dtype).ge_(lost).mul_(SIDES / (SIDES - lost))
