"""The smallest training loop, for experiments of seconds: AdamW, warmup, linear decay and clipped gradients.

And what a model costs: its parameters, and the operations of a call.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


def learn(
    model: nn.Module, loss: Callable[[], Tensor], *, steps: int, lr: float, weight_decay: float = 0.0
) -> Iterator[float]:
    """Train step by step, and yield the loss of each; `loss` draws a batch and returns its mean loss.

    The learning rate rises during the first tenth of the steps and then falls on a line. Between two steps the model is
    in eval mode, so that it can be measured while it learns.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=weight_decay)
    warmup = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, max(0.05, (steps - step) / (steps - warmup + 1)))
    )
    for _ in range(steps):
        model.train()
        optimizer.zero_grad()
        now = loss()
        now.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        model.eval()
        yield now.item()


def count_parameters(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def count_operations(call: Callable[[], object]) -> int:
    """Multiplications and additions of products and convolutions (FLOPs), as torch counts them."""
    # The fused kernel is one operation to the counter, so what it does is counted written out.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        call()
    return int(counter.get_total_flops())
