"""Things in a strange texture: does a ResNet lean on texture more than a ViT?"""

from dataclasses import replace
from functools import lru_cache
from statistics import fmean

import numpy as np
import torch

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.sights import (
    LEAST,
    MINIATURE,
    RESNET,
    USUAL,
    VIT,
    Sights,
    miniatures,
    operations,
    score,
    seer,
    teach,
)
from regard.data.painted import portraits
from regard.progress import Progress
from regard.train.small import count_parameters
from regard.world import render, shifted

CLAIM = Claim(
    name="texture",
    deck="Najdenkoska & Asano, A SSL pretraining method",
    sentence="Also here: ImageNet can (more or less) be solved with textures.",
    experiment="A ResNet and a ViT of as many operations learn to name the kind of the one big thing in pictures of "
    "the world, of 16 pixels, where things are plain, striped or dotted. Nothing about a kind can be told from its "
    "texture, so that whoever reads shapes alone need not mind another one. Both are tested on 1,000 unseen pictures, "
    "and on the same pictures with every thing in a chessboard that neither has ever seen.",
    control="The same pictures under three shifts that leave the textures of things as they were: opposite colours, "
    "a grainy film and an unseen backdrop. If the ResNet loses more under these too, it is frail, and texture is not "
    "the reason.",
    criterion="The number is how many more points of accuracy the ResNet loses by strange textures than the ViT, seed "
    "by seed. Supported (what a CNN has learned hangs on texture more than what a ViT has) if its interval lies above "
    "zero and the number above the mean of the same under the three other shifts, refuted if the interval lies below "
    "zero, otherwise not at this scale; so it is if either does not learn to name 40 % right.",
    measures="more of all pictures does a ResNet lose by a strange texture than a ViT",
    seeds=4,
)

KINDS = (RESNET, VIT)
SAME, TEXTURE = "as trained", "textures"
OTHERS = ("inverted", "noise", "backgrounds")
TESTS = (SAME, TEXTURE, *OTHERS)
STEPS = 1000


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right under each shift, by kind and seed."""
    steps, runs = 2 if quick else STEPS, []
    seen, tests = (
        miniatures("train", 16 if quick else 10_000),
        {name: shown(name, 10 if quick else 1000) for name in TESTS},
    )
    for seed, whole in parts(progress, seeds):
        for kind, inner in parts(whole, KINDS):
            torch.manual_seed(seed)
            model = seer(kind)
            track(teach(model, seen, steps=steps, seed=seed, recipe=USUAL), steps, inner)
            size = {"parameters": count_parameters(model), "operations": operations(model, MINIATURE)}
            rates = {name: score(model, some) for name, some in tests.items()}
            runs.append({"kind": kind, "seed": seed, **size, "accuracy": rates})
    return {"runs": runs, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(_differences(numbers, TEXTURE))
    known = min(fmean(_rates(numbers, kind, SAME)) for kind in KINDS) >= LEAST
    others = {name: fmean(_differences(numbers, name)) for name in OTHERS}
    told = "; ".join(
        f"{kind} {fmean(_rates(numbers, kind, SAME)):.1%}, "
        + ", ".join(f"{name} {fmean(_rates(numbers, kind, name)):.1%}" for name in TESTS[1:])
        for kind in KINDS
    )
    rest = ", ".join(f"{100 * value:+.1f} by {name}" for name, value in others.items())
    return Finding(
        verdict(supported=known and low > 0 and number > fmean(others.values()), refuted=known and high < 0),
        number,
        (low, high),
        f"Pictures named right: {told}. The ResNet loses {100 * number:+.1f} points more by textures than the ViT "
        f"({100 * low:+.1f} to {100 * high:+.1f}), {rest}.",
    )


def draw(numbers: Numbers) -> str:
    bars = []
    for kind in KINDS:
        found = [student([100 * x for x in _rates(numbers, kind, name)]) for name in TESTS]
        bars.append(Bars(kind, *zip(*found, strict=True)))
    return figure(
        "Things in a strange texture",
        [Panel("", "", "pictures named right, %", bars, TESTS, rule=(12.5, "chance"))],
        f"Kind of the one thing in unseen pictures of the world, and in the same pictures shifted; "
        f"{numbers['steps']} steps each. Whiskers are 95 % intervals over seeds.",
    )


@lru_cache(maxsize=len(TESTS))
def shown(name: str, count: int) -> Sights:
    """Unseen pictures under a shift, or as they are."""
    plain = miniatures("test", count)
    if name == SAME:
        return plain
    strange = [shifted(render(scene, MINIATURE), name, i).rgb for i, scene in enumerate(portraits("test", count))]
    return replace(plain, pixels=np.stack(strange))


def _rates(numbers: Numbers, kind: str, name: str) -> list[float]:
    return [run["accuracy"][name] for run in numbers["runs"] if run["kind"] == kind]


def _differences(numbers: Numbers, name: str) -> list[float]:
    """How much more a ResNet loses under a shift than a ViT, seed by seed."""
    lost = [
        [before - after for before, after in zip(_rates(numbers, kind, SAME), _rates(numbers, kind, name), strict=True)]
        for kind in KINDS
    ]
    return [a - b for a, b in zip(*lost, strict=True)]
