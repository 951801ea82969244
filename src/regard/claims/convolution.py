"""Attention as a superset of convolutions: a layer set by hand that is one, and layers that should learn to be."""

from itertools import product
from statistics import fmean

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import multihead
from regard.attention.attention import Attention
from regard.attention.bias import Quadratic2d, Relative2d
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Line, Panel, figure
from regard.progress import Progress
from regard.train.small import learn

CLAIM = Claim(
    name="convolution",
    deck="Najdenkoska & Asano, Attention as a superset of convolutions (Cordonnier 2020)",
    sentence="A multi-head self-attention layer with N_h heads of dimension D_h, output dimension D_out and a relative "
    "positional encoding of dimension D_p ≥ 3 can express any convolutional layer of kernel size √N_h × √N_h and "
    "min(D_h, D_out) output channels.",
    experiment="Convolutions of 2 × 2 and 3 × 3 with random kernels are written into attention layers of 4 and 9 "
    "heads: each head looks at one cell of the kernel by the paper's quadratic encoding, and its values are that "
    "cell's weights. The largest difference on random maps is measured while heads look ever more sharply. Then a "
    "layer of 9 heads that begins at random learns to do what a random 3 × 3 convolution does, by 1,000 steps on "
    "random maps, with quadratic encodings or a learned table of offsets.",
    control="A layer written by hand with one head too few, which leaves out the weakest cell. A convolution that "
    "learns the same in the same way: what it cannot find, the training is to blame for. And a layer without "
    "positions.",
    criterion="The number is the share of what the convolution does that the layer with quadratic encodings misses "
    "after training, seed by seed. Supported if every construction errs by less than 0.00001 at its sharpest, and the "
    "interval of the number lies below 0.05. Refuted if a construction errs by more than 0.001. Otherwise not at this "
    "scale: the layer can, and training does not find it.",
    measures="of what a convolution does is missed by a layer of attention that was trained to do it",
    seeds=3,
)

CHANNELS, SIDE = 4, 8  # of the maps; cells at the border, whose neighbours are missing, are not compared
SHARP = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
QUADRATIC, TABLE, BLIND, SAME = "quadratic", "table of offsets", "no positions", "convolution"
LAYERS = (QUADRATIC, TABLE, BLIND, SAME)
STEPS, BATCH = 1000, 16

Maps = Float[Tensor, "b h w c"]
Inside = Float[Tensor, "b i j o"]  # without the border


def by_hand(kernel: Float[Tensor, "o c k k"], sharpness: float) -> Attention:
    """A layer of attention that is a convolution, as nearly as its heads look sharply: one head for each cell."""
    outputs, channels, side, _ = kernel.shape
    heads = side * side
    bias = Quadratic2d(SIDE, heads, sharpness=sharpness)
    attention = _layer(heads, outputs, bias, channels).to(kernel)
    with torch.no_grad():
        bias.centre.copy_(cells(side))
        for projection in (attention.q, attention.k):
            projection.weight.zero_()  # type: ignore[operator] # a linear layer
        # A head hands on its cell of the kernel's outputs, and the heads are summed.
        attention.v.weight.copy_(kernel.permute(2, 3, 0, 1).flatten(0, 2))  # type: ignore[operator]
        attention.out.weight.copy_(torch.eye(outputs).repeat(1, heads))  # type: ignore[operator]
    return attention


def cells(side: int) -> Float[Tensor, "k 2"]:
    """Where the cells of a kernel lie from its middle, row by row."""
    steps = torch.arange(side) - (side - 1) // 2
    return torch.cartesian_prod(steps, steps).float()


def convolve(maps: Maps, kernel: Float[Tensor, "o c k k"]) -> Inside:
    """The convolution itself, over cells that have all their neighbours."""
    return F.conv2d(maps.permute(0, 3, 1, 2), kernel).permute(0, 2, 3, 1)


def inside(maps: Maps, side: int) -> Float[Tensor, "b i j c"]:
    """The cells of a map that have all the neighbours that a kernel of this side asks for."""
    before = (side - 1) // 2
    end = SIDE - (side - 1 - before)
    return maps[:, before:end, before:end]


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Errors of layers set by hand, and what trained ones miss, by seed."""
    steps = 2 if quick else STEPS
    hand = [_construct(seed, side) for seed in seeds for side in (2, 3)]
    runs = []
    for (seed, kind), inner in parts(progress, list(product(seeds, LAYERS))):
        runs.append({"kind": kind, "seed": seed} | _train(kind, seed, steps, inner))
    return {"hand": hand, "runs": runs, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    worst = max(each["errors"][-1] for each in numbers["hand"])
    fewer = fmean(each["fewer"] for each in numbers["hand"] if each["side"] == 3)
    missed = {kind: student(_missed(numbers, kind)) for kind in LAYERS}
    number, low, high = missed[QUADRATIC]
    found = fmean(run["cells"] for run in numbers["runs"] if run["kind"] == QUADRATIC)
    others = ", ".join(f"{kind} {missed[kind][0]:.1%}" for kind in LAYERS[1:])
    return Finding(
        verdict(supported=worst < 1e-5 and high < 0.05, refuted=worst > 1e-3),
        number,
        (low, high),
        f"Set by hand, no layer errs by more than {worst:.0e}; with 8 heads for 9 cells it misses {fewer:.1%} of the "
        f"convolution. Trained, the layer with quadratic encodings misses {number:.1%} and its heads look at "
        f"{found:.1f} of 9 cells; {others}.",
    )


def draw(numbers: Numbers) -> str:
    lines = []
    for side in (2, 3):
        rows = zip(*(each["errors"] for each in numbers["hand"] if each["side"] == side), strict=True)
        lines.append(Line(f"{side} × {side}, {side * side} heads", SHARP, [max(row) for row in rows]))
    bars = Bars("trained", *zip(*(student(_missed(numbers, kind)) for kind in LAYERS), strict=True))
    names = [kind.replace(" ", "\n", 1) for kind in LAYERS]
    return figure(
        "Attention that is a convolution",
        [
            Panel("set by hand", "sharpness of the looks", "largest difference", lines, log="xy"),
            Panel("trained", "", "share of the convolution that is missed", [bars], names, bounds=(0, 1)),
        ],
        f"{CHANNELS} channels, maps of {SIDE} × {SIDE}; {numbers['steps']} steps. Whiskers are 95 % intervals over "
        "seeds.",
    )


def _layer(heads: int, outputs: int, bias: nn.Module | None, channels: int = CHANNELS) -> Attention:
    """Heads as wide as the output, as in the paper."""
    attention = multihead(channels, heads, head_width=outputs, bias=bias, qkv_bias=False, out_bias=False)
    attention.out = nn.Linear(heads * outputs, outputs, bias=False)
    return attention


def _kernel(seed: int, side: int) -> tuple[Float[Tensor, "o c k k"], torch.Generator]:
    """A random convolution whose outputs have about the power of its inputs, and the dice to go on with."""
    chance = torch.Generator().manual_seed(seed)
    return torch.randn(CHANNELS, CHANNELS, side, side, generator=chance) / (CHANNELS * side * side) ** 0.5, chance


@torch.no_grad()
def _construct(seed: int, side: int) -> Numbers:
    """In double precision, how far a layer set by hand is from its convolution, and what a head too few misses."""
    kernel, chance = _kernel(seed, side)
    kernel, maps = kernel.double(), torch.randn(BATCH, SIDE, SIDE, CHANNELS, generator=chance).double()
    right = convolve(maps, kernel)
    errors = []
    for sharpness in SHARP:
        said = by_hand(kernel, sharpness)(maps.flatten(1, 2)).view(BATCH, SIDE, SIDE, -1)
        errors.append(float((inside(said, side) - right).abs().max()))
    # A head that looks at one cell passes on that cell alone, so the weakest one is best left out.
    power = kernel.square().sum(dim=(0, 1)).flatten()
    return {"seed": seed, "side": side, "errors": errors, "fewer": float(power.min() / power.sum())}


def _learner(kind: str) -> "_Same | _Layer":
    if kind == SAME:
        return _Same()
    bias = Quadratic2d(SIDE, 9) if kind == QUADRATIC else Relative2d(SIDE, 9) if kind == TABLE else None
    return _Layer(_layer(9, CHANNELS, bias))


class _Same(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(CHANNELS, CHANNELS, 3, bias=False)

    def forward(self, maps: Maps) -> Inside:
        return convolve(maps, self.convolution.weight)


class _Layer(nn.Module):
    def __init__(self, attention: Attention) -> None:
        super().__init__()
        self.attention = attention

    def forward(self, maps: Maps) -> Inside:
        said: Tensor = self.attention(maps.flatten(1, 2))
        return inside(torch.unflatten(said, 1, (SIDE, SIDE)), 3)


def _train(kind: str, seed: int, steps: int, progress: Progress) -> Numbers:
    """The share of a convolution that a layer misses after it learned to do the same, and the cells it looks at."""
    kernel, chance = _kernel(seed, 3)
    torch.manual_seed(seed)
    model = _learner(kind)

    def draw_maps(count: int) -> tuple[Maps, Inside]:
        maps = torch.randn(count, SIDE, SIDE, CHANNELS, generator=chance)
        return maps, convolve(maps, kernel)

    def loss() -> Tensor:
        maps, right = draw_maps(BATCH)
        return F.mse_loss(model(maps), right)

    track(learn(model, loss, steps=steps, lr=1e-2), steps, progress)
    with torch.no_grad():
        maps, right = draw_maps(20 * BATCH)
        missed = float((model(maps) - right).square().mean() / right.square().mean())
    return {"missed": missed, "cells": _cells_found(model)}


def _cells_found(model: nn.Module) -> int:
    """How many cells of the kernel a head looks at, where heads have centres."""
    centres = [module.centre for module in model.modules() if isinstance(module, Quadratic2d)]
    return sum(bool(((centre - cell).abs() < 0.5).all(dim=-1).any()) for centre in centres for cell in cells(3))


def _missed(numbers: Numbers, kind: str) -> list[float]:
    return [run["missed"] for run in numbers["runs"] if run["kind"] == kind]
