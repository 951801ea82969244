"""Fused kernel or written-out product: the table that the choice in `attention/kernel.py` was read from.

Heads come as the module makes them, transposed views of one projection, which is not how kernels like them best.
"""

from collections.abc import Callable
from unittest.mock import patch

import torch
from torch import Tensor

from bench.clock import Times, race, show
from regard.attention import Look, causal, kernel, mix

LENGTHS = (16, 32, 64, 128, 256, 512)
TOKENS, HEADS, WIDTH = 2048, 8, 64  # shorter looks come in larger batches


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    rows: dict[str, dict[str, Times]] = {}
    for dtype in (torch.float32, torch.bfloat16) if bfloat16 else (torch.float32,):
        for n in LENGTHS:
            q, k, v = (_heads(n, dtype) for _ in range(3))
            for name, visible in (("all", None), ("causal", causal(n))):
                look = Look(q, k, visible=visible)
                for learning in (False, True):
                    work = f"{str(dtype).removeprefix('torch.')} n{n} {name}, {'training' if learning else 'inference'}"
                    rows[work] = race(
                        {
                            "fused": _answer(look, v, written=False, learning=learning),
                            "written out": _answer(look, v, written=True, learning=learning),
                        },
                        seconds=0.3 if quick else 1.0,
                    )
    return show("Two ways to the same answer", rows, reference="fused")


def _heads(n: int, dtype: torch.dtype) -> Tensor:
    projected = torch.randn(max(1, TOKENS // n), n, HEADS, WIDTH, dtype=dtype, requires_grad=True)
    return projected.transpose(1, 2)


def _answer(look: Look, v: Tensor, *, written: bool, learning: bool) -> Callable[[], object]:
    gradient = torch.randn_like(v)

    def once() -> None:
        with (
            patch.object(kernel, "written_out_is_faster", lambda *_: written),
            torch.set_grad_enabled(learning),
        ):
            y = mix(look, v)
        if learning:
            torch.autograd.grad(y, (look.q, look.k, v), gradient)

    return once
