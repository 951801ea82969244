"""A contest of small models that see: all of them learn the same pictures of the world in the same order."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.claims.claim import Numbers, parts, track
from regard.data.pictures import pictures
from regard.progress import Progress
from regard.train.small import count_parameters, learn
from regard.world import KINDS

SIDE, BATCH, LR = 32, 64, 2e-3
CLASSES = len(KINDS)  # what kind of thing the largest is


@lru_cache(maxsize=4)
def album(split: str, count: int) -> tuple[Tensor, Tensor]:
    """Pictures from -1 to 1, and the kind of the largest thing in each."""
    known = pictures("world", split)
    rows = np.arange(min(count, len(known)))
    shown = known.arrays(SIDE) if len(rows) == len(known) else known.part(rows).arrays(SIDE)
    image = torch.from_numpy(shown.transpose(0, 3, 1, 2).astype(np.float32)) / 127.5 - 1
    kinds = [KINDS.index(known.labels[target].rpartition(" ")[2]) for target in known.targets[rows].tolist()]
    return image, torch.tensor(kinds)


def train(model: nn.Module, *, steps: int, seed: int, count: int, lr: float = LR) -> Iterator[float]:
    """Learn from so many pictures, mirrored by chance; yields the loss of each step."""
    image, kinds = album("train", count)
    chance = torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        rows = torch.randint(len(image), (BATCH,), generator=chance)
        shown = image[rows]
        if torch.rand((), generator=chance) < 0.5:
            shown = shown.flip(-1)
        return F.cross_entropy(model(shown), kinds[rows])

    return learn(model, loss, steps=steps, lr=lr, weight_decay=0.05)


@torch.no_grad()
def accuracy(model: nn.Module, *, count: int) -> float:
    """How many unseen pictures are named right."""
    image, kinds = album("test", count)
    right = [(model(some).argmax(-1) == real) for some, real in zip(image.split(250), kinds.split(250), strict=True)]
    return float(torch.cat(right).float().mean())


def compete(
    kinds: Sequence[str],
    make: Callable[[str], nn.Module],
    seeds: Sequence[int],
    *,
    steps: int,
    quick: bool,
    progress: Progress,
    lasting: Callable[[str], float] = lambda _: 1.0,
) -> Numbers:
    """How many unseen pictures each kind of model names right, by seed; `lasting` says how much longer one learns."""
    runs, steps, count = [], 2 if quick else steps, 40 if quick else 10_000
    for seed, whole in parts(progress, seeds):
        for kind, inner in parts(whole, kinds):
            torch.manual_seed(seed)
            model = make(kind)
            length = max(1, round(steps * lasting(kind)))
            track(train(model, steps=length, seed=seed, count=count), length, inner)
            found = accuracy(model.eval(), count=20 if quick else 1000)
            runs.append({"kind": kind, "seed": seed, "parameters": count_parameters(model), "accuracy": found})
    return {"runs": runs, "steps": steps}
