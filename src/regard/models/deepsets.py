"""DeepSets: a function of a set, computed from the sum of its embedded members (Zaheer 2017).

The simplest token net: tokens meet only in the sum, so that no order of them can matter. Attention replaces the plain
sum by a weighted one. This is the invariant form of the paper's theorem 2; its equivariant layers are not
here, since self-attention is one.
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    inputs: int = 3
    width: int = 256
    depth: int = 3
    classes: int = 40
    pooling: Literal["sum", "mean"] = "sum"  # a sum can count, a mean cannot


class DeepSets(nn.Module):
    """ρ(Σ φ(x)) of the members x of a set, in any order."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.pooling not in ("sum", "mean"):
            raise ValueError(f"pooling {config.pooling!r} is not known; choose sum or mean")
        self.config = config
        self.phi = _network(config.inputs, config.width, config.width, config.depth)
        self.rho = _network(config.width, config.width, config.classes, config.depth)

    def forward(
        self, x: Float[Tensor, "b n f"], *, visible: Bool[Tensor, "#b 1 1 n"] | None = None
    ) -> Float[Tensor, "b c"]:
        """One output for each set; `visible` is the padding of sets of different sizes, as attention takes it."""
        members = self.phi(x)
        count: Tensor | int = x.shape[1]
        if visible is not None:
            real = visible[:, 0, 0, :, None]
            members, count = members.masked_fill(~real, 0.0), real.sum(dim=1).clamp(min=1)
        whole = members.sum(dim=1)
        output: Tensor = self.rho(whole if self.config.pooling == "sum" else whole / count)
        return output


def _network(inputs: int, width: int, outputs: int, depth: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for i in range(depth - 1):
        layers += [nn.Linear(inputs if i == 0 else width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(inputs if depth == 1 else width, outputs))


def example(config: Config) -> dict[str, Any]:
    return {"x": torch.randn(2, 5, config.inputs)}


PRESETS = {
    "deepsets": Config(),  # clouds of points in space, forty shapes to tell apart
    "deepsets-nano": Config(inputs=2, width=16, depth=2, classes=3),
}

FAMILY = Family("deepsets", Config, DeepSets, PRESETS, example)
