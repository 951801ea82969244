"""Muon (Jordan 2024): the matrices of the blocks move by momentum made orthogonal, all else by AdamW.

A gradient's few strong directions drown the many weak ones. Here every direction of a matrix takes a step of the same
length, so that small networks need fewer steps. A convolution is the matrix of its filters, one a row; it keeps the
length that it begins with, since a norm follows it and filters that grow would only learn ever more slowly. torch has a
Muon too, in bfloat16 and for matrices alone; ours multiplies in the precision of the weights, which a CPU without
bfloat16 needs, and minds the rest.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

TURNS = (3.4445, -4.7750, 2.0315)  # of the quintic X ← aX + b(XXᵀ)X + c(XXᵀ)²X, which drives singular values to about 1
ROUNDS = 5


class Muon(torch.optim.AdamW):
    """AdamW in which groups with `orthogonal=True` are moved by Muon.

    Their steps are as long as AdamW's usually are (Liu 2025), so one learning rate serves both.
    """

    def __init__(self, groups: Iterable[Mapping[str, Any]], *, momentum: float = 0.95, **settings: Any) -> None:
        super().__init__([{"orthogonal": False, **group} for group in groups], **settings)
        self.momentum = momentum

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        lost = None
        if closure is not None:
            with torch.enable_grad():
                lost = closure()
        taken = []
        for group in self.param_groups:
            for weight in group["params"] if group["orthogonal"] else ():
                if weight.grad is not None:
                    self._move(weight, weight.grad, group["lr"], group["weight_decay"])
                    taken.append((weight, weight.grad))
                    weight.grad = None  # AdamW passes over what has no gradient
        super().step()
        for weight, grad in taken:
            weight.grad = grad
        return lost

    def _move(self, weight: Tensor, grad: Tensor, lr: float, decay: float) -> None:
        state = self.state[weight]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(weight)
        momentum = state["momentum"].lerp_(grad, 1 - self.momentum)
        ahead = grad.lerp(momentum, self.momentum)  # Nesterov's look ahead
        length = weight.norm() if weight.ndim > 2 else None  # of a convolution
        weight.mul_(1 - lr * decay)
        matrix = ahead.flatten(1)
        weight.add_(orthogonal(matrix).view_as(weight), alpha=-0.2 * max(matrix.shape) ** 0.5 * lr)
        if length is not None:
            weight.mul_(length / weight.norm().clamp(min=1e-12))


def orthogonal(matrix: Tensor) -> Tensor:
    """About UVᵀ of a matrix USVᵀ, by Newton and Schulz's iteration: products only, no decomposition."""
    a, b, c = TURNS
    flat = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    flat = flat / flat.norm().clamp(min=1e-7)
    for _ in range(ROUNDS):
        gram = flat @ flat.T
        flat = torch.addmm(flat, torch.addmm(gram, gram, gram, beta=b, alpha=c), flat, beta=a)
    return flat.T if matrix.shape[0] > matrix.shape[1] else flat
