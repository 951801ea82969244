"""Accuracy against operations: ViTs, ResNets and hybrids in three sizes."""

from functools import partial
from statistics import fmean

from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.claims.sights import CLASSES, HYBRID, RESNET, SIZES, VIT, grade, learned, miniatures, seer
from regard.progress import Progress

CLAIM = Claim(
    name="compute",
    deck="Hoàng, Vision Transformers vs. ResNets: figure 5 of Dosovitskiy 2021",
    sentence="Vision Transformers generally outperform ResNets with the same computational budget. Hybrids improve "
    "upon pure Transformers for smaller model sizes, but the gap vanishes for larger models.",
    experiment="ViTs, ResNets and hybrids, which are ViTs whose tokens come from two convolutions, learn to name the "
    "kind of the one big thing in 10,000 pictures of the world, of 16 pixels, for equally many steps by Muon. Each "
    "comes in three sizes, whose operations agree within 2 % and span a factor of 14. Nothing is trained on other "
    "pictures before, where the paper's models saw 300 million. Scored by how many of 1,000 unseen pictures are named "
    "right.",
    control="The small ViT and ResNet once more for three times as many steps, which is the budget of the next size "
    "spent on longer training. If the order turned there, it would be one of speed.",
    criterion="The number is the ViT's lead over the ResNet of as many operations, a mean over the three sizes, seed "
    "by seed. Supported if its interval lies above zero and the hybrid gains more on the small ViT than on the large "
    "one on average, refuted if the interval lies below zero, otherwise not at this scale; so it is if none learns to "
    "name 40 % right.",
    measures="more pictures are named right by a ViT than by a ResNet of as many operations",
    seeds=3,
)

KINDS = (VIT, RESNET, HYBRID)
STEPS, LONGER = 300, 3
BRIEF, LONG = "brief", "long"


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, by kind, size, length of training and seed."""
    cases = [(kind, size, BRIEF) for kind in KINDS for size in SIZES] + [(kind, SIZES[0], LONG) for kind in KINDS[:2]]
    runs = []
    for seed, whole in parts(progress, seeds):
        for (kind, size, length), inner in parts(whole, cases):
            steps = STEPS * (LONGER if length == LONG else 1)
            found = grade(partial(seer, kind, size), of=miniatures, steps=steps, seed=seed, quick=quick, progress=inner)
            runs.append({"kind": kind, "size": size, "length": length, **found})
    return {"runs": runs, "steps": 2 if quick else STEPS}


def judge(numbers: Numbers) -> Finding:
    leads = [_gains(numbers, VIT, RESNET, size) for size in SIZES]
    number, low, high = student([fmean(each) for each in zip(*leads, strict=True)])
    mixed = [fmean(_gains(numbers, HYBRID, VIT, size)) for size in SIZES]
    later = fmean(_gains(numbers, VIT, RESNET, SIZES[0], LONG))
    told = "; ".join(
        f"{kind} " + ", ".join(f"{fmean(_rates(numbers, kind, size)):.1%}" for size in SIZES) for kind in KINDS
    )
    return Finding(
        verdict(
            supported=learned(numbers, KINDS) and low > 0 and mixed[0] > mixed[-1],
            refuted=learned(numbers, KINDS) and high < 0,
        ),
        number,
        (low, high),
        f"Pictures named right, from small to large: {told}. ViTs lead ResNets by {100 * number:+.1f} points "
        f"({100 * low:+.1f} to {100 * high:+.1f}), the small one by {100 * fmean(leads[0]):+.1f}, and by "
        f"{100 * later:+.1f} after {LONGER} times as many steps. Hybrids lead ViTs by {100 * mixed[0]:+.1f} small and "
        f"{100 * mixed[-1]:+.1f} large.",
    )


def draw(numbers: Numbers) -> str:
    lines = []
    for kind in KINDS:
        found = [student([100 * each for each in _rates(numbers, kind, size)]) for size in SIZES]
        lines.append(Line(kind, [_work(numbers, kind, size) for size in SIZES], *zip(*found, strict=True)))
    level = (100 / CLASSES, "chance")
    return figure(
        "Accuracy against operations",
        [Panel("", "million operations a picture", "pictures named right, %", lines, log="x", rule=level)],
        f"Kind of the one thing in unseen pictures of the world; {numbers['steps']} steps each. Bands are 95 % "
        "intervals over seeds.",
    )


def _rates(numbers: Numbers, kind: str, size: str, length: str = BRIEF) -> list[float]:
    wanted = {"kind": kind, "size": size, "length": length}
    return [run["accuracy"] for run in numbers["runs"] if wanted.items() <= run.items()]


def _gains(numbers: Numbers, kind: str, over: str, size: str, length: str = BRIEF) -> list[float]:
    """How far one kind is ahead of another, seed by seed."""
    return [a - b for a, b in zip(*(_rates(numbers, each, size, length) for each in (kind, over)), strict=True)]


def _work(numbers: Numbers, kind: str, size: str) -> float:
    """Million operations for one picture."""
    found: int = next(run["operations"] for run in numbers["runs"] if (run["kind"], run["size"]) == (kind, size))
    return round(found / 1e6, 2)
