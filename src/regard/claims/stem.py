"""A convolution stem in place of patches: does a ViT learn faster with it?"""

from typing import Any

from torch import nn

from regard.claims.claim import Claim, Finding, Numbers, verdict
from regard.claims.contest import accuracies, gains, percent
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.sights import CLASSES, SIDE, compete
from regard.models.vit import Config, ViT
from regard.progress import Progress

CLAIM = Claim(
    name="stem",
    deck="Najdenkoska & Asano, Hybrid Architectures",
    sentence="Models with convolutional layers show a faster convergence in the early stages compared to their DeiT "
    "counterpart.",
    experiment="ViTs of width 48 learn to name the kind of the one big thing in pictures of the world, of 32 pixels. "
    "Their tokens come from patches of 4 by one linear map, or from two convolutions that halve the picture each; who "
    "has convolutions has one block less of four, so that it has no more weights. Scored after 150 steps by how many "
    "of 1,000 unseen pictures are named right.",
    control="The same after four times as many steps. If the gain was as large there, it would be no matter of speed.",
    criterion="The number is how many more pictures are named right with convolutions after 150 steps, seed by seed. "
    "Supported if its interval lies above zero, refuted if it lies below zero, otherwise not at this scale.",
    measures="more pictures are named right with a convolution stem after few steps",
    seeds=4,
)

PATCHES, STEM = "patches", "convolutions"
EARLY, LATE = "early", "late"
KINDS = tuple(f"{stem}, {when}" for when in (EARLY, LATE) for stem in (PATCHES, STEM))


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, by kind and seed."""
    lasting = {kind: 4.0 if kind.endswith(LATE) else 1.0 for kind in KINDS}
    return compete(KINDS, _model, seeds, steps=150, quick=quick, progress=progress, lasting=lasting.__getitem__)


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(gains(numbers, f"{STEM}, {EARLY}", f"{PATCHES}, {EARLY}"))
    later, *_ = student(gains(numbers, f"{STEM}, {LATE}", f"{PATCHES}, {LATE}"))
    return Finding(
        verdict(supported=low > 0, refuted=high < 0),
        number,
        (low, high),
        f"Pictures named right: {percent(numbers, KINDS)}. Convolutions gain {100 * number:+.1f} points early "
        f"({100 * low:+.1f} to {100 * high:+.1f}) and {100 * later:+.1f} late.",
    )


def draw(numbers: Numbers) -> str:
    bars = []
    for stem in (PATCHES, STEM):
        found = [student([100 * x for x in accuracies(numbers, f"{stem}, {when}")]) for when in (EARLY, LATE)]
        bars.append(Bars(stem, *zip(*found, strict=True)))
    steps = numbers["steps"]
    return figure(
        "Patches or convolutions first",
        [Panel("", "", "pictures named right, %", bars, (f"after {steps} steps", f"after {4 * steps}"))],
        "Kind of the one thing in unseen pictures of the world. Whiskers are 95 % intervals over seeds.",
    )


def _model(kind: str) -> nn.Module:
    stem = kind.startswith(STEM)
    sizes: dict[str, Any] = dict(patch=4, width=48, depth=3 if stem else 4, heads=4, hidden=96, classes=CLASSES)
    return ViT(Config(SIDE, **sizes, pool="mean", stem="conv" if stem else "patch"))
