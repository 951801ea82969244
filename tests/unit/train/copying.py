"""A task small enough for a test: copy a few letters. As a program, it trains in a folder by the fields it is given."""

import json
import os
import resource
import signal
import sys
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from regard.data import Batch, Batches, token_batches
from regard.models.transformer import FAMILY, Config, Transformer
from regard.train.loop import Outcome, fit
from regard.train.loss import cross_entropy
from regard.train.plan import Plan
from regard.train.ranks import Ranks
from regard.train.task import Task

LETTERS = 12  # ids 4 to 15, behind those of padding, start, stop and strangers


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy(Plan):
    steps: int = 12
    tokens: int = 60
    warmup: int = 3
    evaluate: int = 4
    save: int = 4
    precision: Any = "float32"
    dropout: float = 0.2
    length: tuple[int, int] = (2, 6)
    scaled: bool = False  # by a single number, as the cosines of a CLIP are


def task(plan: Copy) -> Task:
    dice = np.random.default_rng(0)
    words = [dice.integers(4, 4 + LETTERS, dice.integers(*plan.length)).tolist() for _ in range(120)]
    torch.manual_seed(plan.seed)
    config = Config(vocab=4 + LETTERS, width=16, depth=1, heads=2, hidden=32, dropout=plan.dropout, norm_first=True)
    model = Transformer(config)
    if plan.scaled:
        model.log_scale = nn.Parameter(torch.tensor(0.5))

    def batches(rows: list[Any]) -> Batches[Batch]:
        return token_batches(rows, [[2, *row, 3] for row in rows], tokens=plan.tokens, seed=plan.seed)

    def loss(model: nn.Module, batch: Any) -> Tensor:
        source, target = (torch.as_tensor(side) for side in batch.sides)
        written = model(source, target[:, :-1], lengths=torch.as_tensor(batch.lengths[0]))
        if plan.scaled:
            written = written * cast("Tensor", model.log_scale).exp()
        return cross_entropy(written, target[:, 1:], label_smoothing=0.1, ignore_index=0)

    held = batches(words[100:])

    def score(model: nn.Module) -> dict[str, float]:
        return {"val_loss": sum(loss(model, batch).item() for batch in held.once()) / sum(map(size, held.once()))}

    return Task(
        model=model,
        family=FAMILY,
        dtype="float32",
        batches=batches(words[:100]),
        size=size,
        loss=loss,
        score=score,
        metric="val_loss",
    )


def size(batch: Any) -> int:
    return int(batch.lengths[1].sum()) - len(batch.rows)


def train(folder: Path, plan: Copy, ranks: Ranks | None = None, *, halt: int = 0, quiet: bool = True) -> Outcome:
    """Train; with `halt`, Ctrl-C comes in the middle of so many batches."""
    asked, taken = task(plan), count(1)

    def loss(model: nn.Module, batch: Any) -> Tensor:
        if next(taken) == halt:
            signal.raise_signal(signal.SIGINT)
        return asked.loss(model, batch)

    return fit(replace(asked, loss=loss), plan, folder, recipe="copy", ranks=ranks, quiet=quiet)


def serve() -> None:
    """Run each job that is asked for in a process of its own that need not import torch again."""
    for line in sys.stdin:
        folder, fields, said, limit = json.loads(line)
        pid = os.fork()
        if not pid:
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
            if limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            try:
                code = 0 if train(Path(folder), Copy(**fields), quiet=False).finished else 130
            except Exception as error:
                sys.stderr.write(f"{error}\n")
                sys.stderr.flush()
                code = 1
            os._exit(code)
        sys.stdout.write(f"process {pid}\n")
        sys.stdout.flush()
        sys.stdout.write(f"code {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "serve":
        serve()
    else:
        for folder, fields, halt in json.loads(sys.argv[1]):
            with Ranks() as ranks:
                outcome = train(Path(folder), Copy(**fields), ranks, halt=halt if ranks.first else 0, quiet=False)
        sys.exit(0 if outcome.finished else 130)
