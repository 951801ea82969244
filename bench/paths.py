"""Fused kernel or written-out product: the table that the choice in `attention/core.py` was read from."""

from collections.abc import Callable
from unittest.mock import patch

import torch
from torch import Tensor

from bench.clock import Times, race, show
from regard.attention import Look, causal, core, mix

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
TOKENS = 2048  # in all: shorter looks come in larger batches


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    rows: dict[str, dict[str, Times]] = {}
    for dtype in (torch.float32, torch.bfloat16) if bfloat16 else (torch.float32,):
        for n in LENGTHS:
            q, k, v = (torch.randn(max(1, TOKENS // n), 8, n, 64, dtype=dtype, requires_grad=True) for _ in range(3))
            for name, visible in (("all", None), ("causal", causal(n))):
                look = Look(q, k, visible=visible)
                work = f"{str(dtype).removeprefix('torch.')} n{n} {name}, forward + backward"
                rows[work] = race(
                    {"fused": _answer(look, v, written=False), "written out": _answer(look, v, written=True)},
                    seconds=0.3 if quick else 1.5,
                )
    return show("Two ways to the same answer", rows, reference="fused")


def _answer(look: Look, v: Tensor, *, written: bool) -> Callable[[], object]:
    gradient = torch.randn_like(v)

    def once() -> None:
        with patch.object(core, "_written_out_is_faster", lambda look, dropout: written):  # noqa: ARG005
            y = mix(look, v)
        torch.autograd.grad(y, (look.q, look.k, v), gradient)

    return once
