"""The smallest way to train: for experiments of seconds, where every model gets the same steps."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from regard.claims.claim import Tell, silent


def learn(
    model: nn.Module,
    loss: Callable[[], Tensor],
    *,
    steps: int,
    rate: float,
    tell: Tell = silent,
) -> float:
    """Follow the loss by Adam, warming up and slowing down; the mean loss of the last tenth of the steps."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    warm = max(1, steps // 10)
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.05, (steps - step) / (steps - warm + 1)))
    )
    losses = []
    model.train()
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        now = loss()
        now.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        plan.step()
        losses.append(float(now.detach()))
        tell((step + 1) / steps, f"step {step + 1} of {steps}")
    model.eval()
    last = losses[-max(1, steps // 10) :]
    return sum(last) / len(last)


def weight(model: nn.Module) -> int:
    """How many numbers it learns."""
    return sum(p.numel() for p in model.parameters())
