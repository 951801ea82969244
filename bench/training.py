"""A training step on real sentence pairs: regard's loop beside the usual one around `nn.Transformer`.

The same batches of Multi30k, the same sizes, dropout 0.3 and label smoothing; each contestant in a process of its own,
since the allocator's settings belong to a process. They take turns. One of them does the matrix products and nothing
else: no loop of the same precision can be faster.

Beside it, the peak memory of one of two processes that train a Transformer of some 100 million parameters together.
"""

import json
import math
import os
import resource
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import torch
import torch.nn.functional as F
from rich.table import Table
from torch import Tensor, nn

from bench.clock import Times, console, show
from regard.data import Batch, pairs, token_batches
from regard.models.transformer import Config, Transformer
from regard.text import Tokenizer
from regard.train import machine
from regard.train.loss import cross_entropy
from regard.train.plan import Parallel
from regard.train.ranks import Ranks

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
    model = Transformer(Config(VOCAB, width, depth, heads, hidden, DROPOUT, norm_first=True))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def step(batch: Batch) -> None:
        source, target = map(torch.as_tensor, batch.sides)
        with machine.autocast(torch.device("cpu"), "auto"):
            logits = model(source, target[:, :-1], lengths=torch.as_tensor(batch.lengths[0]))
            loss = (
                cross_entropy(logits, target[:, 1:], label_smoothing=SMOOTHING, ignore_index=0)
                / (target[:, 1:] != 0).sum()
            )
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def products(sizes: Sizes) -> Callable[[Batch], None]:
    """The products of a step with its linears: forwards, and backwards for what was read and for the weights."""
    width, depth, _, hidden = sizes
    machine.keep_memory()
    square, mlp = [(width, width)], [(width, hidden), (hidden, width)]
    # A block of the decoder also makes keys and values of what the encoder says.
    sides = (square * 6 + mlp) * depth, (square * 6 + mlp) * depth + [(width, VOCAB)]
    weights = {shape: torch.ones(shape) for shape in sides[1]}
    read = {size: torch.ones(TOKENS, size) for size, _ in weights}

    def step(batch: Batch) -> None:
        for words, shapes in zip(batch.sides, sides, strict=True):
            for shape in shapes:
                x, w = read[shape[0]][: words.size], weights[shape]
                y = x @ w
                y @ w.T, x.T @ y

    return step


CONTESTANTS: dict[str, Callable[[Sizes], Callable[[Batch], None]]] = {
    "nn.Transformer float32": partial(usual, bfloat16=False),
    "nn.Transformer bfloat16": partial(usual, bfloat16=True),
    "products alone, float32": products,
    "regard": ours,
}


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    rows = {}
    names = [name for name in CONTESTANTS if bfloat16 or "bfloat16" not in name]
    for sizes in WORK:
        rows[f"width {sizes[0]}, depth {sizes[1]}+{sizes[1]}"] = _race(sizes, names, 4 if quick else 15)
    numbers = show("A training step on Multi30k", rows, reference="nn.Transformer float32")
    numbers += _sharded()
    for work, times in rows.items():
        if bfloat16:
            theirs, mine = times["nn.Transformer bfloat16"], times["regard"]
            best, median = theirs.best / mine.best, theirs.median / mine.median
            console.print(f"{work}: regard is {best:.2f}× (median {median:.2f}×) as fast as nn.Transformer in bfloat16")
    return numbers


def _race(sizes: Sizes, names: list[str], turns: int) -> dict[str, Times]:
    context, ends, times = get_context("spawn"), {}, {name: list[float]() for name in names}
    workers = []
    for name in names:
        ends[name], theirs = context.Pipe()
        workers.append(context.Process(target=_work, args=(theirs, sizes, name, torch.get_num_threads())))
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


def _work(end: Connection, sizes: Sizes, name: str, threads: int) -> None:
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    step = CONTESTANTS[name](sizes)
    rows = list(pairs("multi30k", "de", "en"))
    tokenizer = Tokenizer.train((text for pair in rows for text in pair), vocab=VOCAB)
    batches = token_batches(
        tokenizer.encode([source for source, _ in rows], stop=True),
        tokenizer.encode([target for _, target in rows], start=True, stop=True),
        tokens=TOKENS,
    )
    while end.recv() is not None:
        batch = next(batches)
        began = perf_counter()
        step(batch)
        end.send(perf_counter() - began)


LARGE = Config(vocab=16_000, width=768, depth=6, heads=12, hidden=3072, dropout=0.1, norm_first=True)


def _sharded() -> list[dict[str, object]]:
    """The peak memory of one of two processes that train a large model: a copy in each, or a shard in each."""
    from torch.multiprocessing.spawn import spawn

    found: list[dict[str, object]] = []
    table = Table(title="Peak memory of one of two processes, one step of AdamW")
    for column in ("", "parameters", "before the step", "at its peak"):
        table.add_column(column)
    for parallel in ("ddp", "fsdp"):
        with TemporaryDirectory() as folder:
            spawn(_share, (parallel, folder), nprocs=2)
            row = json.loads((Path(folder) / "0.json").read_text())
        found.append({"title": "peak memory of one of two processes", "parallel": parallel, **row})
        table.add_row(parallel, f"{row['parameters'] / 1e6:.0f} M", *(f"{row[k]:.2f} GB" for k in ("before", "peak")))
    console.print(table)
    return found


def _share(rank: int, parallel: Parallel, folder: str) -> None:
    """One step of one process."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with Ranks() as ranks:
        model = Transformer(LARGE)
        count = sum(p.numel() for p in model.parameters())
        shared = ranks.share(model, parallel)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        before = _gigabytes()
        words = torch.randint(4, LARGE.vocab, (2, 16))
        cross_entropy(shared(words, words[:, :-1]), words[:, 1:]).backward()
        optimizer.step()
        ranks.barrier()
        row = {"parameters": count, "before": before, "peak": _gigabytes()}
        (Path(folder) / f"{rank}.json").write_text(json.dumps(row))


def _gigabytes() -> float:
    """The most memory that this process has had, which is none that it has not used."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
