"""A training step on real sentence pairs: regard's loop beside the usual one around `nn.Transformer`.

The same batches of Multi30k, the same sizes, dropout 0.3 and label smoothing; each contestant in a process of its own,
since the allocator's settings belong to a process. They take turns.
"""

import math
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.clock import Times, console, show
from regard.data import Batch, Batches, pairs
from regard.models.transformer import Config, Transformer
from regard.text import Tokenizer
from regard.train import machine
from regard.train.loss import cross_entropy

WORK = [  # width, depth, heads, hidden
    (128, 4, 4, 256),
    (256, 3, 4, 512),
]
VOCAB, TOKENS, DROPOUT, SMOOTHING = 8000, 4000, 0.3, 0.1
Sizes = tuple[int, int, int, int]


class Usual(nn.Module):
    """`nn.Transformer` between embeddings and a linear, as tutorials have it."""

    def __init__(self, width: int, depth: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.dropout = nn.Dropout(DROPOUT)
        self.inner = nn.Transformer(width, heads, depth, depth, hidden, DROPOUT, batch_first=True, norm_first=True)
        self.to_vocab = nn.Linear(width, VOCAB)
        places = torch.arange(1000)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        self.register_buffer("places", torch.stack((places.sin(), places.cos()), dim=-1).flatten(1))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        hidden = nn.Transformer.generate_square_subsequent_mask(target.shape[1], dtype=torch.bool)
        y: Tensor = self.to_vocab(
            self.inner(
                self._embedded(source),
                self._embedded(target),
                tgt_mask=hidden,
                src_key_padding_mask=source == 0,
                tgt_key_padding_mask=target == 0,
                memory_key_padding_mask=source == 0,
                tgt_is_causal=True,
            )
        )
        return y

    def _embedded(self, words: Tensor) -> Tensor:
        x = self.embed(words) * math.sqrt(self.embed.embedding_dim)
        y: Tensor = self.dropout(x + self.get_buffer("places")[: words.shape[1]])
        return y


def usual(sizes: Sizes, *, bfloat16: bool) -> Callable[[Batch], None]:
    """The loop that a tutorial would write."""
    model = Usual(*sizes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(batch: Batch) -> None:
        source, target = map(torch.as_tensor, batch.sides)
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            logits = model(source, target[:, :-1])
            loss = F.cross_entropy(
                logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=0, label_smoothing=SMOOTHING
            )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def ours(sizes: Sizes) -> Callable[[Batch], None]:
    """What `regard.train` does in a step."""
    width, depth, heads, hidden = sizes
    machine.keep_memory()
    model = Transformer(Config(VOCAB, width, depth, heads, hidden, DROPOUT, first=True))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def step(batch: Batch) -> None:
        source, target = map(torch.as_tensor, batch.sides)
        with machine.autocast(torch.device("cpu"), "auto"):
            logits = model(source, target[:, :-1], lengths=torch.as_tensor(batch.lengths[0]))
            loss = cross_entropy(logits, target[:, 1:], smoothing=SMOOTHING) / (target[:, 1:] != 0).sum()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    rows = {}
    for sizes in WORK:
        kinds: dict[str, dict[str, Any]] = {"nn.Transformer float32": {"bfloat16": False}, "regard": {}}
        if bfloat16:
            kinds["nn.Transformer bfloat16"] = {"bfloat16": True}
        rows[f"width {sizes[0]}, depth {sizes[1]}+{sizes[1]}"] = _race(sizes, kinds, 4 if quick else 15)
    numbers = show("A training step on Multi30k", rows, reference="nn.Transformer float32")
    for work, times in rows.items():
        if bfloat16:
            theirs, mine = times["nn.Transformer bfloat16"], times["regard"]
            best, median = theirs.best / mine.best, theirs.median / mine.median
            console.print(f"{work}: regard is {best:.2f}× (median {median:.2f}×) as fast as nn.Transformer in bfloat16")
    return numbers


def _race(sizes: Sizes, kinds: dict[str, dict[str, Any]], turns: int) -> dict[str, Times]:
    context, ends, times = get_context("spawn"), {}, {name: list[float]() for name in kinds}
    workers = []
    for name, options in kinds.items():
        ends[name], theirs = context.Pipe()
        workers.append(context.Process(target=_work, args=(theirs, sizes, options, torch.get_num_threads())))
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


def _work(end: Connection, sizes: Sizes, options: dict[str, Any], threads: int) -> None:
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    step = usual(sizes, **options) if options else ours(sizes)
    rows = list(pairs("multi30k", "de", "en"))
    tokenizer = Tokenizer.train((text for pair in rows for text in pair), vocab=VOCAB)
    batches = Batches(
        tokenizer.encode([source for source, _ in rows], stop=True),
        tokenizer.encode([target for _, target in rows], start=True, stop=True),
        tokens=TOKENS,
    )
    while end.recv() is not None:
        batch = next(batches)
        began = perf_counter()
        step(batch)
        end.send(perf_counter() - began)
