"""`multihead` beside `nn.MultiheadAttention` and beside a bare kernel between four linears."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.clock import Times, race, show
from regard.attention import multihead

WORK = [  # batch, tokens, width, heads
    (8, 256, 384, 6),
    (1, 2048, 768, 12),
]


class Bare(nn.Module):
    """The least that this mathematics can be written with: four linears around torch's kernel."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (torch.unflatten(part(x), -1, (self.heads, -1)).transpose(1, 2) for part in (self.q, self.k, self.v))
        y: Tensor = self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return y


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    rows: dict[str, dict[str, Times]] = {}
    for dtype in (torch.float32, torch.bfloat16) if bfloat16 else (torch.float32,):
        for batch, tokens, width, heads in WORK:
            x = torch.randn(batch, tokens, width, dtype=dtype)
            gradient = torch.randn_like(x)
            theirs = nn.MultiheadAttention(width, heads, batch_first=True).to(dtype)
            bare, ours = Bare(width, heads).to(dtype), multihead(width, heads).to(dtype)
            calls: dict[str, tuple[nn.Module, Callable[[], Tensor]]] = {
                "four linears + kernel": (bare, partial(bare, x)),
                "nn.MultiheadAttention": (theirs, partial(_first, theirs, x)),
                "regard multihead": (ours, partial(ours, x)),
            }
            kind = f"{str(dtype).removeprefix('torch.')} b{batch} n{tokens} w{width}"
            seconds = 1.0 if quick else 8.0
            rows[f"{kind} forward"] = race(
                {name: _forward(module, call) for name, (module, call) in calls.items()}, seconds=seconds
            )
            rows[f"{kind} forward + backward"] = race(
                {name: _both(module, call, gradient) for name, (module, call) in calls.items()}, seconds=seconds
            )
    return show("Self-attention", rows, reference="four linears + kernel")


def _first(theirs: nn.MultiheadAttention, x: Tensor) -> Tensor:
    y: Tensor = theirs(x, x, x, need_weights=False)[0]
    return y


def _forward(module: nn.Module, call: Callable[[], Tensor]) -> Callable[[], object]:
    def once() -> None:
        module.eval()
        with torch.no_grad():
            call()

    return once


def _both(module: nn.Module, call: Callable[[], Tensor], gradient: Tensor) -> Callable[[], object]:
    def once() -> None:
        module.train()
        module.zero_grad()
        call().backward(gradient)

    return once
