"""A contest of small translators that differ in one thing: all of them learn the same sentences in the same order."""

from collections.abc import Callable, Sequence
from statistics import fmean

import torch

from regard.claims.claim import Numbers, parts, track
from regard.claims.interval import student
from regard.claims.plot import Bars
from regard.claims.translation import Batch, Lexicon, accuracy, batches, train
from regard.models.transformer import Config, Transformer
from regard.progress import Progress
from regard.train.small import count_parameters
from regard.world.language import pairs, vocabulary

SHORT = (4, 7)  # words of an English sentence, so that minutes suffice to learn them
WORDS, LR = 300, 5e-3  # of a batch, and the highest rate


def lexicon() -> Lexicon:
    return Lexicon(vocabulary("it"), vocabulary("en"))


def sentences(known: Lexicon, count: int, *, split: str = "train", seed: int = 0) -> list[Batch]:
    """Short sentences of the world, Italian to English."""
    return batches(list(pairs("it", "en", seed=seed, split=split, length=SHORT)[:count]), known, WORDS)


def settings(vocab: int, width: int, heads: int) -> Config:
    """A Transformer of one layer on either side."""
    return Config(vocab=vocab, width=width, depth=1, heads=heads, hidden=2 * width, dropout=0.0, norm_first=True)


def compete(
    kinds: Sequence[str],
    make: Callable[[str, int], Transformer],
    seeds: Sequence[int],
    *,
    steps: int,
    quick: bool,
    progress: Progress,
) -> Numbers:
    """How often the next word of unseen sentences is right, by kind and seed; `make` gets a kind and a vocabulary."""
    known, count = lexicon(), 24 if quick else 8000
    tests, runs = sentences(known, count // 10, split="test"), []
    steps = 2 if quick else steps
    for seed, whole in parts(progress, seeds):
        some = sentences(known, count, seed=seed)
        for kind, inner in parts(whole, kinds):
            torch.manual_seed(seed)
            model = make(kind, len(known))
            track(train(model, some, steps=steps, lr=LR, seed=seed), steps, inner)
            size = count_parameters(model)
            runs.append({"kind": kind, "seed": seed, "parameters": size, "accuracy": accuracy(model, tests)})
    return {"runs": runs, "steps": steps}


def accuracies(numbers: Numbers, kind: str) -> list[float]:
    return [run["accuracy"] for run in numbers["runs"] if run["kind"] == kind]


def gains(numbers: Numbers, kind: str, over: str) -> list[float]:
    """Of one kind over another, seed by seed: both met the same words in the same order."""
    return [a - b for a, b in zip(*(accuracies(numbers, each) for each in (kind, over)), strict=True)]


def bars(numbers: Numbers, kinds: Sequence[str], label: str = "") -> Bars:
    """What each kind gets right, in percent, with its interval over seeds."""
    found = [student([100 * each for each in accuracies(numbers, kind)]) for kind in kinds]
    return Bars(label, *zip(*found, strict=True))


def percent(numbers: Numbers, kinds: Sequence[str]) -> str:
    """The mean of each kind, as people write it."""
    return ", ".join(f"{kind} {fmean(accuracies(numbers, kind)):.1%}" for kind in kinds)
