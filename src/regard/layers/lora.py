"""Low-rank adaptation: a trained matrix stays, and a product of two thin ones is learnt beside it (Hu 2021)."""

from collections.abc import Collection

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

ALPHA = 16.0  # what the product is multiplied with, before it is divided by the rank (§4.1)
LAYERS = ("q", "v")  # what to adapt where parameters are few (§7.1)


class LoRA(nn.Linear):
    """A linear layer whose matrix is frozen: y = x (W + s · up · down)ᵀ + b. At first it is the layer that it was."""

    def __init__(self, linear: nn.Linear, rank: int, *, alpha: float = ALPHA) -> None:
        super().__init__(linear.in_features, linear.out_features, bias=linear.bias is not None, device="meta")
        if not 0 < rank <= min(self.in_features, self.out_features):
            raise ValueError(
                f"a rank of {rank} does not fit a matrix of {self.out_features} × {self.in_features}; give 1 to "
                f"{min(self.in_features, self.out_features)}"
            )
        self.weight, self.bias = linear.weight, linear.bias  # the very same, under the same names
        self.requires_grad_(False)
        self.rank, self.scale = rank, alpha / rank
        self.down = nn.Parameter(linear.weight.new_empty(rank, self.in_features))
        self.up = nn.Parameter(linear.weight.new_zeros(self.out_features, rank))
        nn.init.normal_(self.down, std=self.in_features**-0.5)

    def forward(self, x: Float[Tensor, "*b i"]) -> Float[Tensor, "*b o"]:
        return super().forward(x) + F.linear(F.linear(x, self.down), self.up) * self.scale

    def merged(self) -> nn.Linear:
        """One matrix that does the same."""
        plain = nn.Linear(self.in_features, self.out_features, bias=self.bias is not None, device="meta")
        plain.weight = nn.Parameter((self.weight + self.scale * self.up @ self.down).detach())
        plain.bias = self.bias
        return plain.train(self.training)


def adapt(model: nn.Module, rank: int, *, layers: Collection[str] = LAYERS, alpha: float = ALPHA) -> list[str]:
    """Freeze a model and adapt those of its linear layers whose names end so; their full names are given back."""
    found = [
        name
        for name, module in model.named_modules()
        if type(module) is nn.Linear and name.rpartition(".")[2] in layers
    ]
    if not found:
        names = sorted({name.rpartition(".")[2] for name, part in model.named_modules() if type(part) is nn.Linear})
        raise ValueError(f"no linear layer is called {' or '.join(layers)}; this model has {', '.join(names)}")
    model.requires_grad_(False)
    for name in found:
        linear = model.get_submodule(name)
        assert isinstance(linear, nn.Linear)
        _replace(model, name, LoRA(linear, rank, alpha=alpha))
    return found


@torch.no_grad()
def merge(model: nn.Module) -> None:
    """Put plain layers in the place of adapted ones, so that the model is one of its family again."""
    for name, module in list(model.named_modules()):
        if isinstance(module, LoRA):
            _replace(model, name, module.merged())


def _replace(model: nn.Module, name: str, module: nn.Module) -> None:
    parent, _, child = name.rpartition(".")
    setattr(model.get_submodule(parent), child, module)
