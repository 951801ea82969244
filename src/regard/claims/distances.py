"""Are two things alike? Convolutions answer worse the farther apart they are; does attention?"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from regard.chance import Chance
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.claims.sights import SIDE, USUAL, VIT, Sights, operations, painted, right, teach
from regard.layers.mimetic import mimetic
from regard.models import resnet, vit
from regard.progress import Progress
from regard.train.small import count_parameters
from regard.world import Scene, scenes
from regard.world.silhouette import turned

CLAIM = Claim(
    name="distances",
    deck="Erdem, A limitation of CNNs",
    sentence="CNNs are built around the idea of locality, and are not well-suited to modeling long distance "
    "relationships. Is the top right bird the same species as the bottom left bird?",
    experiment="Two small things hang before the same backdrop of the world, in pictures of 32 pixels, 7 to 24 pixels "
    "apart: two red discs, two blue crosses, or one of each. A CNN of eight 3×3 convolutions, six of them on a map of "
    "16×16, whose last cells reach 14 pixels either way, so that some cell meets both things at any distance, and a "
    "ViT of patches of 4 with as many weights learn to tell whether they are alike. Both learn by Muon from all "
    "distances alike, and are scored on 2,000 unseen pictures by distance.",
    control="A CNN of as many convolutions and about as many weights that halves its map twice, so that its cells "
    "reach 24 pixels. If it lost as much, the reach of convolutions would not be the reason.",
    criterion="The number is by how much more the CNN's accuracy falls from the nearest fifth of distances to the "
    "farthest than the ViT's, seed by seed. Supported if its interval lies above 2 points, refuted if it lies "
    "below 2 points, otherwise not at this scale; so too if CNN or ViT is not right in 60 % of the nearest, which "
    "would mean that it has not learned the question.",
    measures="more of its accuracy does a CNN lose from near to far than a ViT",
    seeds=3,
)

PLAIN, HALVING = "CNN", "CNN that halves its map"
KINDS = (PLAIN, HALVING, VIT)
EDGES = tuple(round(0.22 + 0.106 * i, 3) for i in range(6))  # of the bins of distances, in sides of a picture
RADIUS, MARGIN = 0.1, 0.11
SPECIES = (("disc", "red"), ("cross", "blue"))
STEPS, NEAR, KNOWN = 500, 0.02, 0.6


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many answers are right in each bin of distances, by kind and seed."""
    steps, runs = 2 if quick else STEPS, []
    tests = pairs("test", 20 if quick else 2000)
    near = np.arange(len(tests)) % (len(EDGES) - 1)
    for seed, whole in parts(progress, seeds):
        seen = pairs("train", 16 if quick else 8000)
        for kind, inner in parts(whole, KINDS):
            torch.manual_seed(seed)
            model = _model(kind)
            track(teach(model, seen, steps=steps, seed=seed, recipe=USUAL), steps, inner)
            found = right(model, tests).numpy()
            rates = [float(found[near == place].mean()) for place in range(len(EDGES) - 1)]
            size = {"parameters": count_parameters(model), "operations": operations(model)}
            runs.append({"kind": kind, "seed": seed, **size, "accuracy": rates})
    middles = [round(SIDE * (low + high) / 2, 1) for low, high in pairwise(EDGES)]
    return {"runs": runs, "steps": steps, "pixels": middles}


def judge(numbers: Numbers) -> Finding:
    losses = {kind: [each[0] - each[-1] for each in _rates(numbers, kind)] for kind in KINDS}
    number, low, high = student([a - b for a, b in zip(losses[PLAIN], losses[VIT], strict=True)])
    ends = {kind: [student(each)[0] for each in zip(*_rates(numbers, kind), strict=True)] for kind in KINDS}
    learned = min(ends[PLAIN][0], ends[VIT][0]) > KNOWN
    told = "; ".join(f"{kind} {ends[kind][0]:.1%} near and {ends[kind][-1]:.1%} far" for kind in KINDS)
    sizes = {run["kind"]: (run["parameters"], run["operations"]) for run in numbers["runs"]}
    costs = ", ".join(f"{kind} {size:,} and {work / 1e6:.1f} million" for kind, (size, work) in sizes.items())
    return Finding(
        verdict(supported=learned and low > NEAR, refuted=learned and high < NEAR),
        number,
        (low, high),
        f"Right answers: {told}. The CNN loses {100 * number:+.1f} points more than the ViT ({100 * low:+.1f} to "
        f"{100 * high:+.1f}). Weights and operations: {costs}.",
    )


def draw(numbers: Numbers) -> str:
    lines = []
    for kind in KINDS:
        found = [student([100 * x for x in each]) for each in zip(*_rates(numbers, kind), strict=True)]
        lines.append(Line(kind, numbers["pixels"], *zip(*found, strict=True)))
    return figure(
        "Are two things alike?",
        [Panel("", "pixels between them, of 32", "right answers, %", lines, bounds=(40, 100), rule=(50, "chance"))],
        f"Two things in pictures of the world, alike or different in kind and colour; {numbers['steps']} steps each. "
        "Bands are 95 % intervals over seeds.",
    )


@lru_cache(maxsize=2)
def pairs(split: str, count: int) -> Sights:
    """Pictures of two things, every other of two that are alike; bins of distances take turns."""
    view, bins = scenes(split=split, things=2), len(EDGES) - 1
    made = [_hung(view[i], Chance(i, f"distances {split}"), i % bins, i // bins % 2 == 1) for i in range(count)]
    alike = np.arange(count) // bins % 2
    return Sights(painted(made), alike, 2)


def _hung(scene: Scene, chance: Chance, place: int, alike: bool) -> Scene:
    """A scene whose two things hang so far apart, of one species or of two."""
    species = chance.sample(SPECIES, 2)
    where = _places(chance, EDGES[place], EDGES[place + 1])
    things = [
        replace(thing, kind=kind, colour=colour, size=RADIUS, fill="plain", x=x, y=y)
        for thing, (kind, colour), (x, y) in zip(
            scene.things, species[:1] * 2 if alike else species, where, strict=True
        )
    ]
    return Scene(tuple(things))


def _places(chance: Chance, low: float, high: float) -> Sequence[tuple[float, float]]:
    """Two places of a picture that are so far from each other."""
    while True:
        away = chance.uniform(low, high)
        cosine, sine = turned(chance.uniform(0.0, 360.0))
        x, y = chance.uniform(MARGIN, 1 - MARGIN), chance.uniform(MARGIN, 1 - MARGIN)
        other = x + away * cosine, y + away * sine
        if all(MARGIN <= each <= 1 - MARGIN for each in other):
            return (x, y), other


def _model(kind: str) -> nn.Module:
    if kind == VIT:
        model = vit.ViT(vit.Config(SIDE, patch=4, width=48, depth=3, heads=4, hidden=96, classes=2, pool="mean"))
        mimetic(model)
        return model
    widths, depths = ((32, 32, 32), (1, 1, 1)) if kind == HALVING else ((32,), (3,))
    shape = resnet.Config(SIDE, stem="fast", stem_width=32, block="basic", widths=widths, depths=depths, classes=2)
    return resnet.ResNet(shape)


def _rates(numbers: Numbers, kind: str) -> list[list[float]]:
    return [run["accuracy"] for run in numbers["runs"] if run["kind"] == kind]
