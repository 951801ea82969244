"""Cached decoding: what a token costs as the past grows, in a memory that grows in place and in one that is copied."""

import time

import torch
from rich.table import Table
from torch import Tensor

from bench.clock import console
from regard.attention import Look, Memory, mix, multihead
from regard.layers.blocks import Block
from regard.layers.mlp import MLP
from regard.layers.stack import Stack

BATCH, WIDTH, HEADS, DEPTH, STEPS = 8, 512, 8, 4, 512


class Copied(Memory):
    """The usual cache: every step makes a new tensor of all that came before."""

    def extend(self, newer: Memory) -> Memory:
        return Copied(torch.cat((self.k, newer.k), dim=-2), torch.cat((self.v, newer.v), dim=-2))


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    model = Stack(Block(WIDTH, multihead(WIDTH, HEADS), MLP(WIDTH)) for _ in range(DEPTH)).eval()
    x = torch.randn(BATCH, STEPS, WIDTH)
    repeats = 1 if quick else 5
    grown, copied = [], []
    with torch.no_grad():
        for _ in range(repeats):  # in turn, and the best of each step
            grown.append(_decode(model, x, Memory))
            copied.append(_decode(model, x, Copied))
        alone = torch.tensor([_attention_alone(n) for n in range(1, STEPS + 1)])
    ours, theirs = torch.stack(grown).amin(dim=0), torch.stack(copied).amin(dim=0)
    title = (
        f"Decoding {STEPS} tokens, batch {BATCH}, width {WIDTH}, {DEPTH} blocks: best of {repeats}, mean of 32 tokens"
    )
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in ("past", "regard ms/token", "of it attention", "the rest", "copied cache ms/token", "ratio"):
        table.add_column(column, justify="right")
    numbers: list[dict[str, object]] = []
    for end in (32, 64, 128, 256, 384, 512):
        span = slice(end - 32, end)
        a, b, c = (float(t[span].mean()) * 1e3 for t in (ours, theirs, alone))
        table.add_row(str(end), f"{a:.2f}", f"{c:.2f}", f"{a - c:.2f}", f"{b:.2f}", f"{b / a:.2f}×")
        numbers.append({"table": "Decoding", "past": end, "ms": a, "attention_ms": c, "copied_ms": b})
    console.print(table)
    return numbers


def _decode(model: Stack, x: Tensor, kind: type[Memory]) -> Tensor:
    """Seconds of each step."""
    _, memories = model.step(x[:, :1])
    past = [kind(memory.k, memory.v) for memory in memories]
    took = []
    for t in range(1, x.shape[1]):
        before = time.perf_counter()
        _, past = model.step(x[:, t : t + 1], past)
        took.append(time.perf_counter() - before)
    return torch.tensor([took[0], *took])


def _attention_alone(past: int) -> float:
    """The kernel's own time for one new query of each block, which must grow with what it looks at."""
    q = torch.randn(BATCH, HEADS, 1, WIDTH // HEADS)
    k, v = (torch.randn(BATCH, HEADS, 2 * STEPS, WIDTH // HEADS)[:, :, :past] for _ in range(2))
    look = Look(q, k)
    mix(look, v)
    took = []
    for _ in range(5):
        before = time.perf_counter()
        mix(look, v)
        took.append(time.perf_counter() - before)
    return DEPTH * min(took)
