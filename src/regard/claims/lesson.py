"""The smallest way to train: for experiments of seconds, where every model gets the same steps."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def learn(model: nn.Module, loss: Callable[[int], Tensor], *, steps: int, rate: float) -> float:
    """Follow the loss of each step by Adam, warming up and slowing down; the mean loss of the last tenth."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    warm = max(1, steps // 10)
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.05, (steps - step) / (steps - warm + 1)))
    )
    losses = []
    model.train()
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        now = loss(step)
        now.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        plan.step()
        losses.append(float(now.detach()))
    model.eval()
    last = losses[-max(1, steps // 10) :]
    return sum(last) / len(last)


def weight(model: nn.Module) -> int:
    """How many numbers it learns."""
    return sum(p.numel() for p in model.parameters())
