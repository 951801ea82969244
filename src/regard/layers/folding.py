"""Batch norms behind linear layers and convolutions, and how they become part of them once training is over."""

from copy import deepcopy
from typing import TypeVar

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

Model = TypeVar("Model", bound=nn.Module)


class LinearNorm(nn.Module):
    """A linear map without constants, and a batch norm of its outcome over all tokens (Graham 2021)."""

    def __init__(self, width: int, wider: int, *, zero_init: bool = False) -> None:
        super().__init__()
        self.linear = nn.Linear(width, wider, bias=False)
        self.norm = nn.BatchNorm1d(wider)
        if zero_init:
            nn.init.zeros_(self.norm.weight)

    def forward(self, x: Float[Tensor, "*n w"]) -> Float[Tensor, "*n o"]:
        y = self.linear(x)
        normed: Tensor = self.norm(y.reshape(-1, y.shape[-1])).reshape(y.shape)
        return normed


def fold(model: Model) -> Model:
    """A copy for inference whose batch norms are part of the layers before them; it says the same up to rounding.

    It has other weights than the model of its config, so it is not stored; store the model and fold what was loaded.
    """
    folded = deepcopy(model).eval()
    for module in list(folded.modules()):
        if isinstance(module, nn.Sequential):
            _fold_row(module)
        for name, child in list(module.named_children()):
            if isinstance(child, LinearNorm):
                setattr(module, name, fuse_linear_bn_eval(child.linear, child.norm))
    return folded


def _fold_row(row: nn.Sequential) -> None:
    for i in range(len(row) - 1):
        conv, norm = row[i], row[i + 1]
        if isinstance(conv, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
            row[i], row[i + 1] = fuse_conv_bn_eval(conv, norm), nn.Identity()
