"""Few pictures or many, with a recipe or without: does a ViT need more of them than a ResNet?"""

from functools import partial
from statistics import fmean
from typing import Any

from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.claims.sights import LEAST, RESNET, VIT, Recipe, grade, miniatures, seer
from regard.progress import Progress

CLAIM = Claim(
    name="data",
    deck="Najdenkoska & Asano, Training a ViT is more difficult",
    sentence="Original paper required ImageNet-22k (14M images) to achieve good performances. DeiT paper showed "
    "training with ImageNet-1k possible if more augmentations and regularisations are used.",
    experiment="A ResNet and a ViT of as many operations learn to name the kind of the one big thing in pictures of "
    "the world, of 16 pixels, from 500, 2,000 or 10,000 of them, for equally many steps by Muon. Scored by how many of "
    "1,000 unseen pictures are named right.",
    control="The same with a recipe after DeiT's: pictures mirrored and moved, mixup or CutMix, smoothed labels and "
    "weight decay. If pictures are what a ViT lacks, varying them makes up for some.",
    criterion="The number is the ResNet's lead in accuracy at 500 pictures minus its lead at 10,000, without the "
    "recipe, seed by seed. Supported if its interval lies above zero, refuted if it lies below zero, otherwise not at "
    "this scale; so it is if the ViT does not learn to name 40 % right at 10,000 pictures.",
    measures="more does a ResNet lead a ViT at 500 pictures than at 10,000",
    seeds=3,
)

KINDS = (RESNET, VIT)
COUNTS = (500, 2000, 10_000)
BARE, RECIPE = "bare", "recipe"
RECIPES = {
    BARE: Recipe(),
    RECIPE: Recipe(mirror=True, move=4, mixup=0.8, cutmix=1.0, label_smoothing=0.1, weight_decay=0.1),
}
STEPS = 400


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, by kind, recipe, number of pictures and seed."""
    runs, cases = [], [(count, way, kind) for count in COUNTS for way in RECIPES for kind in KINDS]
    for seed, whole in parts(progress, seeds):
        for (count, way, kind), inner in parts(whole, cases):
            given: dict[str, Any] = dict(of=miniatures, recipe=RECIPES[way], count=count, quick=quick, progress=inner)
            found = grade(partial(seer, kind), steps=STEPS, seed=seed, **given)
            runs.append({"kind": kind, "recipe": way, "count": count, **found})
    return {"runs": runs, "steps": 2 if quick else STEPS}


def judge(numbers: Numbers) -> Finding:
    few, many = COUNTS[0], COUNTS[-1]
    leads = {(way, count): _lead(numbers, way, count) for way in RECIPES for count in COUNTS}
    gaps = {way: student([a - b for a, b in zip(leads[way, few], leads[way, many], strict=True)]) for way in RECIPES}
    number, low, high = gaps[BARE]
    learned = fmean(_rates(numbers, VIT, BARE, many)) >= LEAST
    told = "; ".join(
        f"{kind}, {way} "
        + ", ".join(f"{fmean(_rates(numbers, kind, way, count)):.1%} of {count:,}" for count in COUNTS)
        for way in RECIPES
        for kind in KINDS
    )
    return Finding(
        verdict(supported=learned and low > 0, refuted=learned and high < 0),
        number,
        (low, high),
        f"Named right: {told}. The ResNet leads by {100 * fmean(leads[BARE, few]):+.1f} points at {few} pictures and "
        f"by {100 * fmean(leads[BARE, many]):+.1f} at {many:,}: {100 * number:+.1f} ({100 * low:+.1f} to "
        f"{100 * high:+.1f}); with the recipe {100 * gaps[RECIPE][0]:+.1f}.",
    )


def draw(numbers: Numbers) -> str:
    lines = []
    for way in RECIPES:
        for kind in KINDS:
            found = [student([100 * x for x in _rates(numbers, kind, way, count)]) for count in COUNTS]
            lines.append(Line(f"{kind}, {way}", COUNTS, *zip(*found, strict=True), dashed=way == RECIPE))
    return figure(
        "How many pictures it takes",
        [Panel("", "pictures to learn from", "unseen pictures named right, %", lines, log="x", rule=(12.5, "chance"))],
        f"Kind of the one thing in pictures of the world; {numbers['steps']} steps each. Bands are 95 % intervals "
        "over seeds.",
    )


def _rates(numbers: Numbers, kind: str, way: str, count: int) -> list[float]:
    wanted: dict[str, Any] = {"kind": kind, "recipe": way, "count": count}
    return [run["accuracy"] for run in numbers["runs"] if wanted.items() <= run.items()]


def _lead(numbers: Numbers, way: str, count: int) -> list[float]:
    """How far a ResNet is ahead of a ViT, seed by seed."""
    return [a - b for a, b in zip(*(_rates(numbers, kind, way, count) for kind in KINDS), strict=True)]
