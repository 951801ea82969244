"""Patches and no convolution: how near does a ViT come to a ResNet of as many operations?"""

from torch import nn

from regard.claims.aggregation import ALONE, aggregator
from regard.claims.claim import Claim, Finding, Numbers, verdict
from regard.claims.contest import accuracies, bars, gains, percent
from regard.claims.interval import student
from regard.claims.plot import Panel, figure
from regard.claims.sights import CLASSES, RESNET, VIT, compete, learned, miniatures, seer
from regard.progress import Progress

CLAIM = Claim(
    name="patches",
    deck="Najdenkoska & Asano, Vision Transformer",
    sentence="The recently introduced Vision Transformer (ViT) is a pure Transformer model applied directly to "
    "sequences of image patches. It performs well on image tasks without the reliance on convolutional layers.",
    experiment="A ViT of patches of 4 and a ResNet of as many operations learn to name the kind of the one big thing "
    "in 10,000 pictures of the world, of 16 pixels, for equally many steps by Muon. Scored by how many of 1,000 unseen "
    "pictures are named right.",
    control="The same ViT whose patches see themselves alone, a bag of patches. If it did as well, the Transformer "
    "would have no part in it.",
    criterion="The number is the ViT's accuracy above chance as a share of the ResNet's, seed by seed. Supported if "
    "its interval lies above 0.9 and the ViT gains on a bag of patches with an interval above zero. Refuted if it lies "
    "below 0.5, or if the ViT does not gain on a bag of patches on average. Otherwise not at this scale; so it is if "
    "none learns to name 40 % right.",
    measures="of what a ResNet gets right above chance, a ViT does",
    seeds=4,
)

KINDS = (RESNET, VIT, ALONE)
STEPS, WELL, BADLY = 1000, 0.9, 0.5


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, by kind and seed."""
    return compete(KINDS, _model, seeds, of=miniatures, steps=STEPS, quick=quick, progress=progress)


def judge(numbers: Numbers) -> Finding:
    above = {kind: [each - 1 / CLASSES for each in accuracies(numbers, kind)] for kind in KINDS}
    number, low, high = student([a / max(b, 0.01) for a, b in zip(above[VIT], above[RESNET], strict=True)])
    gained, least, most = student(gains(numbers, VIT, ALONE))
    sizes = {run["kind"]: (run["parameters"], run["operations"]) for run in numbers["runs"]}
    costs = ", ".join(f"{kind} {size:,} and {work / 1e6:.1f} million" for kind, (size, work) in sizes.items())
    return Finding(
        verdict(
            supported=learned(numbers, KINDS) and low > WELL and least > 0,
            refuted=learned(numbers, KINDS) and (high < BADLY or gained < 0),
        ),
        number,
        (low, high),
        f"Pictures named right: {percent(numbers, KINDS)}. Above chance the ViT has {number:.0%} of what the ResNet "
        f"has ({low:.0%} to {high:.0%}); looking at each other gains {100 * gained:+.1f} points ({100 * least:+.1f} to "
        f"{100 * most:+.1f}). Weights and operations: {costs}.",
    )


def draw(numbers: Numbers) -> str:
    return figure(
        "Patches without convolutions",
        [Panel("", "", "pictures named right, %", [bars(numbers, KINDS)], KINDS, rule=(100 / CLASSES, "chance"))],
        f"Kind of the one thing in unseen pictures of the world; {numbers['steps']} steps each, about as many "
        "operations. Whiskers are 95 % intervals over seeds.",
    )


def _model(kind: str) -> nn.Module:
    return aggregator(kind) if kind == ALONE else seer(kind)
