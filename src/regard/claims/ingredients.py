"""DeiT's recipe for little data, and what becomes of a ViT when one ingredient is left out."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.contest import accuracies, bars, gains
from regard.claims.interval import student
from regard.claims.plot import Panel, figure
from regard.claims.sights import VIT, Recipe, grade, learned, miniatures, seer
from regard.progress import Progress

CLAIM = Claim(
    name="ingredients",
    deck="Najdenkoska & Asano, Training a ViT is more difficult: table 8 of Touvron 2021",
    sentence="DeiT paper showed training with ImageNet-1k possible if more augmentations and regularisations are used.",
    experiment="A ViT learns to name the kind of the one big thing from 1,000 pictures of the world, of 16 pixels, by "
    "Muon with a recipe after DeiT's: pictures are mirrored, moved, mixed by mixup and CutMix, and erased in part; "
    "labels are smoothed, blocks left out at random, weights decay, and their running mean is tested. Then with none "
    "of it, and with one ingredient left out at a time. Scored by how many of 1,000 unseen pictures are named right.",
    control="The whole recipe and none of it on 10,000 pictures. If it gained as much there, it would not be for want "
    "of data.",
    criterion="The number is how many more of the unseen pictures are named right with the whole recipe than with none "
    "of it, on 1,000 pictures, seed by seed. Supported if its interval lies above zero and leaving out one ingredient "
    "costs something in the mean over all ingredients, refuted if the interval lies below zero, otherwise not at this "
    "scale; so it is if none learns to name 40 % right.",
    measures="more pictures are named right with the whole recipe than with none of it",
    seeds=3,
)

WHOLE, NONE = "all", "none"
RECIPE = Recipe(
    mirror=True,
    move=4,
    mixup=0.8,
    cutmix=1.0,
    erase=0.25,
    label_smoothing=0.1,
    weight_decay=0.1,
    average=0.98,
)
DEPTH = "drop path"
# What each ingredient is without: fields of the recipe, but for the blocks that are left out, which are the model's.
LEFT_OUT: dict[str, Mapping[str, Any]] = {
    "mirror": {"mirror": False},
    "move": {"move": 0},
    "mixup": {"mixup": 0.0},
    "CutMix": {"cutmix": 0.0},
    "erase": {"erase": 0.0},
    "smoothing": {"label_smoothing": 0.0},
    DEPTH: {},
    "decay": {"weight_decay": 0.0},
    "average": {"average": 0.0},
}
FEW, MANY = "few", "many"
COUNTS = {FEW: 1000, MANY: 10_000}
KINDS = (WHOLE, *LEFT_OUT, NONE)
STEPS, DROP_PATH = 1000, 0.1


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, by what is left out, number of pictures and seed."""
    runs, cases = [], [*((kind, FEW) for kind in KINDS), (WHOLE, MANY), (NONE, MANY)]
    for seed, whole in parts(progress, seeds):
        for (kind, count), inner in parts(whole, cases):
            make = partial(seer, VIT, drop_path=0.0 if kind in (NONE, DEPTH) else DROP_PATH)
            given: dict[str, Any] = dict(
                of=miniatures, recipe=_recipe(kind), count=COUNTS[count], quick=quick, progress=inner
            )
            found = grade(make, steps=STEPS, seed=seed, **given)
            runs.append({"kind": kind if count == FEW else f"{kind}, {MANY}", **found})
    return {"runs": runs, "steps": 2 if quick else STEPS}


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(gains(numbers, WHOLE, NONE))
    many, *_ = student(gains(numbers, f"{WHOLE}, {MANY}", f"{NONE}, {MANY}"))
    lost = {kind: fmean(gains(numbers, WHOLE, kind)) for kind in LEFT_OUT}
    order = sorted(lost, key=lambda kind: -lost[kind])
    told = ", ".join(f"{kind} {-100 * lost[kind]:+.1f}" for kind in order)
    ends = f"{fmean(accuracies(numbers, WHOLE)):.1%} with all and {fmean(accuracies(numbers, NONE)):.1%} with none"
    return Finding(
        verdict(
            supported=learned(numbers, KINDS) and low > 0 and fmean(lost.values()) > 0,
            refuted=learned(numbers, KINDS) and high < 0,
        ),
        number,
        (low, high),
        f"From 1,000 pictures a ViT learns to name right {ends}, {100 * number:+.1f} points ({100 * low:+.1f} to "
        f"{100 * high:+.1f}); from 10,000 the recipe gains {100 * many:+.1f}. Without one, in points: {told}.",
    )


def draw(numbers: Numbers) -> str:
    names = [kind if kind in (WHOLE, NONE) else f"without\n{kind}" for kind in KINDS]
    whole = (100 * fmean(accuracies(numbers, WHOLE)), "")
    return figure(
        "DeiT's recipe, one ingredient left out at a time",
        [Panel("", "", "pictures named right, %", [bars(numbers, KINDS)], names, rule=whole)],
        f"A ViT learns from 1,000 pictures of the world; {numbers['steps']} steps each. Whiskers are 95 % intervals "
        "over seeds.",
    )


def _recipe(kind: str) -> Recipe:
    return Recipe() if kind == NONE else replace(RECIPE, **LEFT_OUT.get(kind, {}))
