"""A training step of a small GPT: ours beside one written as nanoGPT's, with its `F.cross_entropy` and fused AdamW.

Each contestant is a process of its own, since the allocator's settings belong to a process. They take turns.
"""

import math
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.clock import Times, show
from regard.models.gpt import GPT, Config, Details
from regard.train import machine
from regard.train.loss import cross_entropy

DEPTH, HEADS, WIDTH, CONTEXT, BATCH = 6, 6, 384, 256, 8
VOCABS = (65, 50257)


class Usual(nn.Module):
    """Karpathy's GPT in its own idiom: joined projections, the fused attention, GELU, tied weights, no biases, no
    dropout."""

    def __init__(self, vocab: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(_Block() for _ in range(DEPTH))
        self.norm = nn.LayerNorm(WIDTH, bias=False)
        self.head = nn.Linear(WIDTH, vocab, bias=False)
        self.words.weight = self.head.weight
        for name, weight in self.named_parameters():
            if weight.ndim > 1:
                last = name.endswith(("out.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * DEPTH) if last else 0.02)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(self.norm(x))
        return logits


class _Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH, bias=False), nn.LayerNorm(WIDTH, bias=False)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.qkv(self.first(x)).split(WIDTH, dim=-1)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        z: Tensor = x + self.down(F.gelu(self.up(self.second(x))))
        return z


def usual(vocab: int) -> Callable[[Tensor], None]:
    model = Usual(vocab)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def step(ids: Tensor) -> None:
        logits = model(ids[:, :-1])
        F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def ours(vocab: int) -> Callable[[Tensor], None]:
    """What `regard.train` does in a step."""
    machine.keep_memory()
    model = GPT(Config(vocab, CONTEXT, WIDTH, DEPTH, HEADS, 4 * WIDTH, 0.0, 0.0, "gelu", details=Details(bias=False)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def step(ids: Tensor) -> None:
        (cross_entropy(model(ids[:, :-1]), ids[:, 1:]) / ids[:, 1:].numel()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


CONTESTANTS: dict[str, Callable[[int], Callable[[Tensor], None]]] = {"nanoGPT float32": usual, "regard float32": ours}


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    rows = {f"vocabulary {vocab}": _race(vocab, 3 if quick else 15) for vocab in VOCABS}
    title = f"A training step: depth {DEPTH}, width {WIDTH}, {BATCH} × {CONTEXT} words"
    return show(title, rows, reference="nanoGPT float32")


def _race(vocab: int, turns: int) -> dict[str, Times]:
    context, times = get_context("spawn"), {name: list[float]() for name in CONTESTANTS}
    ends, workers = {}, []
    for name in CONTESTANTS:
        ends[name], theirs = context.Pipe()
        workers.append(context.Process(target=_work, args=(theirs, vocab, name, torch.get_num_threads())))
        workers[-1].start()
    for turn in range(turns + 2):
        for name, end in ends.items():
            end.send(turn)
            seconds = end.recv()
            if turn >= 2:  # the first two are for warming up
                times[name].append(seconds)
    for end, worker in zip(ends.values(), workers, strict=True):
        end.send(None)
        worker.join()
    return {name: Times(tuple(found)) for name, found in times.items()}


def _work(end: Connection, vocab: int, name: str, threads: int) -> None:
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    step = CONTESTANTS[name](vocab)
    while end.recv() is not None:
        ids = torch.randint(vocab, (BATCH, CONTEXT + 1))
        began = perf_counter()
        step(ids)
        end.send(perf_counter() - began)
