"""Weights from the data, weights that are learned once for all pictures, or a mean: what does looking gain?"""

from copy import deepcopy
from statistics import fmean
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention
from regard.claims.claim import Claim, Finding, Numbers, verdict
from regard.claims.contest import bars, gains, percent
from regard.claims.interval import student
from regard.claims.plot import Panel, figure
from regard.claims.sights import MINIATURE, VIT, compete, learned, miniatures, seer
from regard.models.vit import ViT
from regard.progress import Progress

CLAIM = Claim(
    name="aggregation",
    deck="Erdem, Attention Layer",
    sentence="W is free parameters. A is a function of some input data. The data tells us which tokens to attend to "
    "(assign high weight in weighted sum).",
    experiment="A ViT learns to name the kind of the one big thing in pictures of the world, of 16 pixels in patches "
    "of 4, with attention; or its patches look by a pattern that is learned like W, one for each head and layer, the "
    "same for all pictures, which begins as attention to positions alone does. Scored by how many of 1,000 unseen "
    "pictures are named right. And attention whose queries are zero is compared with the plain mean, of which it "
    "should be a case.",
    control="The same layers with nothing but the mean of all patches. If it did as well, nothing would be looked for.",
    criterion="The number is how many more pictures are named right by weights from the data than by a learned "
    "pattern, seed by seed. Supported if its interval lies above zero and attention without queries equals the mean "
    "within 0.00001. Refuted if the interval lies below zero or attention cannot be the mean, otherwise not at this "
    "scale; so it is if none learns to name 40 % right.",
    measures="more pictures are named right with weights from the data than with a learned pattern",
    seeds=4,
)

DATA, PATTERN, AVERAGE = "from the data", "learned pattern", "mean"
KINDS = (DATA, PATTERN, AVERAGE)
ALONE = "each patch alone"
STEPS, EXACT = 1000, 1e-5


class Blind:
    """A score that asks nothing: every key suits every query alike."""

    def __call__(self, q: Float[Tensor, "b h q d"], k: Float[Tensor, "b h k d"]) -> Float[Tensor, "b h q k"]:
        return q.new_zeros(*q.shape[:-1], k.shape[-2])


class Pattern(nn.Module):
    """Scores that are weights of the model, the same for all pictures, as a bias."""

    def __init__(self, first: Float[Tensor, "1 h n n"]) -> None:
        super().__init__()
        self.table = nn.Parameter(first.clone())

    def forward(self, _q: Float[Tensor, "b h n d"], _k: Float[Tensor, "b h n d"]) -> Float[Tensor, "1 h n n"]:
        return self.table


def alone(q: Float[Tensor, "b h n d"], _k: Float[Tensor, "b h n d"]) -> Float[Tensor, "n n"]:
    """A bias by which every token sees itself and no other."""
    return q.new_full((q.shape[-2],) * 2, -torch.inf).fill_diagonal_(0.0)


def aggregator(kind: str) -> nn.Module:
    """A ViT whose patches look by the data, by a pattern, at all alike or at themselves alone."""
    model = cast(ViT, seer(VIT))
    return model if kind == DATA else fixed(model, kind)


@torch.no_grad()
def fixed(model: ViT, kind: str) -> ViT:
    """A ViT whose patches no longer look where the picture tells them; it keeps all its weights."""
    where = model.positions[0](*model.grid(MINIATURE, MINIATURE))[None]
    for block in model.blocks:
        attn = cast(Attention, block.attn)
        if kind == PATTERN:
            placed = cast(nn.Module, block.attn_norm)(where)
            look = attn.look(placed, attn.remember(placed))
            attn.bias = Pattern(look.score(look.q, look.k))
        attn.score = Blind()
        if kind == ALONE:
            attn.bias = alone
    return model


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right, by kind and seed; and how far attention without queries is from the mean."""
    numbers = compete(KINDS, aggregator, seeds, of=miniatures, steps=STEPS, quick=quick, progress=progress)
    return numbers | {"differ": [_differ(seed) for seed in seeds]}


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(gains(numbers, DATA, PATTERN))
    more = fmean(gains(numbers, DATA, AVERAGE))
    differ = max(numbers["differ"])
    return Finding(
        verdict(
            supported=learned(numbers, KINDS) and low > 0 and differ < EXACT,
            refuted=differ >= EXACT or (learned(numbers, KINDS) and high < 0),
        ),
        number,
        (low, high),
        f"Pictures named right: {percent(numbers, KINDS)}. Weights from the data gain {100 * number:+.1f} points on a "
        f"learned pattern ({100 * low:+.1f} to {100 * high:+.1f}) and {100 * more:+.1f} on the mean. Attention without "
        f"queries differs from the mean by {differ:.0e}.",
    )


def draw(numbers: Numbers) -> str:
    return figure(
        "Where the weights of attention come from",
        [Panel("", "", "pictures named right, %", [bars(numbers, KINDS)], KINDS, rule=(12.5, "chance"))],
        f"Kind of the one thing in unseen pictures of the world; {numbers['steps']} steps each. Whiskers are 95 % "
        "intervals over seeds.",
    )


@torch.no_grad()
def _differ(seed: int) -> float:
    """How far attention whose queries are zero is from the mean of all patches, in what the model says."""
    torch.manual_seed(seed)
    model = cast(ViT, seer(VIT)).eval()
    mean = fixed(deepcopy(model), AVERAGE)
    for block in model.blocks:
        query = cast(nn.Linear, cast(Attention, block.attn).q)
        query.weight.zero_()
        query.bias.zero_()
    image = torch.rand(4, 3, MINIATURE, MINIATURE) * 2 - 1
    return float((model(image) - mean(image)).abs().max())
