"""A convolution stem in place of patches: does a ViT learn faster with it?"""

from torch import nn

from regard.claims.claim import Claim, Finding, Numbers, verdict
from regard.claims.contest import bars, gains, percent
from regard.claims.interval import student
from regard.claims.plot import Panel, figure
from regard.claims.sights import HYBRID, VIT, compete, learned, miniatures, seer
from regard.progress import Progress

CLAIM = Claim(
    name="stem",
    deck="Najdenkoska & Asano, Hybrid Architectures",
    sentence="Models with convolutional layers show a faster convergence in the early stages compared to their DeiT "
    "counterpart.",
    experiment="ViTs of three blocks and width 48 learn to name the kind of the one big thing in pictures of the "
    "world, of 16 pixels. Their tokens come from patches of 4 by one linear map, or from two convolutions that halve "
    "the picture each; who has convolutions has narrower MLPs, so that it needs no more operations. Scored after 150 "
    "steps by how many of 1,000 unseen pictures are named right.",
    control="The same after four times as many steps. If the gain was as large there, it would be no matter of speed.",
    criterion="The number is how many more pictures are named right with convolutions after 150 steps, seed by seed. "
    "Supported if its interval lies above zero, refuted if it lies below zero, otherwise not at this scale; so it is "
    "if none learns to name 40 % right after four times as many.",
    measures="more pictures are named right with a convolution stem after few steps",
    seeds=4,
)

PATCHES, STEM = "patches", "convolutions"
EARLY, LATE = "early", "late"
STEPS = 150
KINDS = tuple(f"{stem}, {when}" for when in (EARLY, LATE) for stem in (PATCHES, STEM))


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, by kind and seed."""
    lasting = {kind: 4.0 if kind.endswith(LATE) else 1.0 for kind in KINDS}
    return compete(
        KINDS, _model, seeds, of=miniatures, steps=STEPS, quick=quick, progress=progress, lasting=lasting.__getitem__
    )


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(gains(numbers, f"{STEM}, {EARLY}", f"{PATCHES}, {EARLY}"))
    later, *_ = student(gains(numbers, f"{STEM}, {LATE}", f"{PATCHES}, {LATE}"))
    return Finding(
        verdict(supported=learned(numbers, KINDS) and low > 0, refuted=learned(numbers, KINDS) and high < 0),
        number,
        (low, high),
        f"Pictures named right: {percent(numbers, KINDS)}. Convolutions gain {100 * number:+.1f} points early "
        f"({100 * low:+.1f} to {100 * high:+.1f}) and {100 * later:+.1f} late.",
    )


def draw(numbers: Numbers) -> str:
    marks = [bars(numbers, [f"{stem}, {when}" for when in (EARLY, LATE)], stem) for stem in (PATCHES, STEM)]
    steps = numbers["steps"]
    return figure(
        "Patches or convolutions first",
        [Panel("", "", "pictures named right, %", marks, (f"after {steps} steps", f"after {4 * steps}"))],
        "Kind of the one thing in unseen pictures of the world. Whiskers are 95 % intervals over seeds.",
    )


def _model(kind: str) -> nn.Module:
    return seer(HYBRID if kind.startswith(STEM) else VIT)
