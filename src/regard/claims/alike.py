"""How alike layers are: within a ViT, within a ResNet, and between the two, by CKA."""

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean

import numpy as np
from torch import nn

from regard.analysis.seeing import cka
from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import student
from regard.claims.near_and_far import AFTER, BEFORE, STEPS, learned, unseen
from regard.claims.plot import Heat, figure
from regard.claims.sights import LEAST, RESNET, VIT, portrayed, score
from regard.progress import Progress

CLAIM = Claim(
    name="alike",
    deck="CNS148, Representational Similarity; Centered Kernel Alignment (CKA)",
    sentence="High level: Compute a similarity between the similarities in two different layers. ViT uses a different "
    "method to compute low-level representations.",
    experiment="A ViT and a ResNet of six blocks each learn to name the kind of the one big thing in pictures of the "
    "world, of 32 pixels. What all their blocks give for 400 unseen pictures is compared by CKA, estimated without "
    "bias: each block of the ViT with each, each of the ResNet with each, and each of one with each of the other.",
    control="The same networks before they learn anything. And both networks compared while the ResNet is shown the "
    "pictures in another order, so that all they could have in common is taken away.",
    criterion="The number is by how much two different blocks of the ViT are more alike, on average, than two of the "
    "ResNet, seed by seed. Supported if its interval lies above zero and the networks are more alike on the same "
    "pictures than on shuffled ones. Refuted if it lies below zero, or if the networks are less alike on the same "
    "pictures. Otherwise not at this scale; so it is if either network does not learn to name 40 % of the pictures "
    "right.",
    measures="more CKA is between two blocks of a ViT than between two of a ResNet",
    seeds=3,
)

BOTH, SHUFFLED = "both", "shuffled"
PAIRS = {VIT: (VIT, VIT), RESNET: (RESNET, RESNET), BOTH: (VIT, RESNET), SHUFFLED: (VIT, RESNET)}
TOGETHER = 100  # pictures in a batch


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """The CKA of all pairs of blocks, before and after the networks learn."""
    batches = unseen(16 if quick else 400).split(8 if quick else TOGETHER)
    tests, runs, scores = portrayed("test", 20 if quick else 1000), [], []
    for seed, whole in parts(progress, seeds):
        states = {kind: learned(kind, seed, quick=quick, progress=inner) for kind, inner in parts(whole, (VIT, RESNET))}
        scores += [{"kind": kind, "seed": seed, "accuracy": score(states[kind][AFTER], tests)} for kind in states]
        for state in (BEFORE, AFTER):
            for pair, (one, other) in PAIRS.items():
                models = states[one][state], states[other][state]
                with _reordered(models[1], pair == SHUFFLED):
                    found = cka(*models, batches)
                runs.append({"pair": pair, "state": state, "seed": seed, "cka": found.cka.round(4).tolist()})
    return {"runs": runs, "scores": scores, "pictures": sum(map(len, batches)), "steps": 2 if quick else STEPS}


def judge(numbers: Numbers) -> Finding:
    apart = {state: _between(numbers, VIT, RESNET, state) for state in (BEFORE, AFTER)}
    number, low, high = student(apart[AFTER])
    shared = student(_between(numbers, BOTH, SHUFFLED))
    own = {state: [fmean(_means(numbers, kind, state)) for kind in (VIT, RESNET)] for state in (BEFORE, AFTER)}
    crossed = [fmean(_means(numbers, pair)) for pair in (BOTH, SHUFFLED)]
    nearest = _mean(numbers, BOTH).argmax(axis=1)
    right = [fmean(one["accuracy"] for one in numbers["scores"] if one["kind"] == kind) for kind in (VIT, RESNET)]
    return Finding(
        verdict(
            supported=min(right) >= LEAST and low > 0 and shared[1] > 0,
            refuted=min(right) >= LEAST and (high < 0 or shared[2] < 0),
        ),
        number,
        (low, high),
        f"Two different blocks have a CKA of {own[AFTER][0]:.2f} in the ViT and {own[AFTER][1]:.2f} in the ResNet on "
        f"average ({own[BEFORE][0]:.2f} and {own[BEFORE][1]:.2f} untrained). Between the networks it is "
        f"{crossed[0]:.2f}, and {crossed[1]:.2f} where pictures are shuffled; the first block of the ViT is most like "
        f"block {nearest[0] + 1} of the ResNet, the last most like block {nearest[-1] + 1}. They name {right[0]:.1%} "
        f"and {right[1]:.1%} of unseen pictures right.",
    )


def draw(numbers: Numbers) -> str:
    sides = {VIT: ("block of the ViT", "block of the ViT"), RESNET: ("block of the ResNet", "block of the ResNet")}
    panels = []
    for pair, title in ((VIT, "ViT"), (RESNET, "ResNet"), (BOTH, "ViT and ResNet")):
        x, y = sides.get(pair, ("block of the ResNet", "block of the ViT"))
        cells = _mean(numbers, pair)
        rows, columns = ([str(i + 1) for i in range(count)] for count in cells.shape)
        panels.append(Heat(title, x, y, cells.tolist(), rows, columns))
    shuffled = fmean(_means(numbers, SHUFFLED))
    return figure(
        "How alike blocks are",
        panels,
        f"CKA on {numbers['pictures']} unseen pictures after {numbers['steps']} steps, mean over seeds. Where the "
        f"ResNet sees other pictures than the ViT, it is {shuffled:.2f}.",
    )


@contextmanager
def _reordered(model: nn.Module, really: bool) -> Iterator[None]:
    """A network that is shown each picture of a batch in the place of another."""
    hook = model.register_forward_pre_hook(lambda _, given: (given[0].roll(1, 0),)) if really else None
    try:
        yield
    finally:
        if hook is not None:
            hook.remove()


def _tables(numbers: Numbers, pair: str, state: str = AFTER) -> list[np.ndarray]:
    return [np.array(run["cka"]) for run in numbers["runs"] if run["pair"] == pair and run["state"] == state]


def _mean(numbers: Numbers, pair: str) -> np.ndarray:
    mean: np.ndarray = np.mean(_tables(numbers, pair), axis=0)
    return mean


def _means(numbers: Numbers, pair: str, state: str = AFTER) -> list[float]:
    """The mean of each seed; within a network a block is not compared with itself."""
    found = []
    for table in _tables(numbers, pair, state):
        kept = ~np.eye(len(table), dtype=bool) if pair in (VIT, RESNET) else np.ones(table.shape, bool)
        found.append(float(table[kept].mean()))
    return found


def _between(numbers: Numbers, one: str, other: str, state: str = AFTER) -> list[float]:
    return [a - b for a, b in zip(_means(numbers, one, state), _means(numbers, other, state), strict=True)]
