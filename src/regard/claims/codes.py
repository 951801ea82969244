"""Positions of patches: any kind is better than none, and which kind, or where it enters, matters little."""

from typing import Any

from torch import nn

from regard.claims.claim import Claim, Finding, Numbers, verdict
from regard.claims.contest import accuracies, bars, gains, percent
from regard.claims.interval import student
from regard.claims.plot import Panel, figure
from regard.claims.sights import VIT, compete, learned, miniatures, seer
from regard.progress import Progress

CLAIM = Claim(
    name="codes",
    deck="Najdenkoska & Asano, Vision Transformer: table 8 of Dosovitskiy 2021",
    sentence="No Pos. Emb. 0.61382; 1-D Pos. Emb. 0.64206, every layer 0.63964, every layer-shared 0.64292; 2-D Pos. "
    "Emb. 0.64001; Rel. Pos. Emb. 0.64032.",
    experiment="ViTs of three blocks and width 48 learn to name the kind of the one big thing in pictures of the "
    "world, of 16 pixels in patches of 4, with learned positions put in before the first block, before each, or "
    "before each by one shared table; with learned halves for row and column, fixed waves, relative ones, rotary "
    "ones, and none. Scored by how many of 1,000 unseen pictures are named right.",
    control="None: a ViT that sees the same patches in a heap.",
    criterion="The number is how many more pictures are named right by the worst kind of positions than by none, seed "
    "by seed. Supported if its interval lies above zero and all kinds lie within 5 points of each other on average, "
    "refuted if it lies below zero, otherwise not at this scale; so it is if none learns to name 40 % right.",
    measures="more pictures are named right by the worst position encoding than by none",
    seeds=3,
)

NONE = "none"
CODES: dict[str, tuple[Any, Any]] = {
    "learned": ("learned", "once"),
    "learned, every layer": ("learned", "every"),
    "learned, shared": ("learned", "shared"),
    "learned, 2-D": ("learned2d", "once"),
    "waves, 2-D": ("sinusoidal2d", "once"),
    "relative": ("relative", "once"),
    "rotary": ("rotary", "once"),
    NONE: ("none", "once"),
}
KINDS = tuple(CODES)
NEAR, STEPS = 0.05, 600


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, by kind and seed."""
    return compete(KINDS, _model, seeds, of=miniatures, steps=STEPS, quick=quick, progress=progress)


def judge(numbers: Numbers) -> Finding:
    means = {kind: student(accuracies(numbers, kind))[0] for kind in KINDS if kind != NONE}
    worst = min(means, key=lambda kind: means[kind])
    number, low, high = student(gains(numbers, worst, NONE))
    spread = max(means.values()) - min(means.values())
    return Finding(
        verdict(
            supported=learned(numbers, KINDS) and low > 0 and spread < NEAR,
            refuted=learned(numbers, KINDS) and high < 0,
        ),
        number,
        (low, high),
        f"Pictures named right: {percent(numbers, KINDS)}. The worst, {worst}, gains {100 * number:+.1f} on none "
        f"({100 * low:+.1f} to {100 * high:+.1f}); the kinds lie within {100 * spread:.1f} points.",
    )


def draw(numbers: Numbers) -> str:
    return figure(
        "Positions of patches",
        [Panel("", "", "pictures named right, %", [bars(numbers, KINDS)], KINDS)],
        f"Kind of the one thing in unseen pictures of the world; {numbers['steps']} steps each. Whiskers are 95 % "
        "intervals over seeds.",
    )


def _model(kind: str) -> nn.Module:
    position, inject = CODES[kind]
    return seer(VIT, position=position, inject=inject)
