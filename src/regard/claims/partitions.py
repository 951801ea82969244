"""Regional, sparse and atrous attention: does it matter which patches share a group?"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.analysis.seeing import covers, gradcam
from regard.attention import Dilated, Grid, Partition, Shifted, Window
from regard.claims.claim import Claim, Finding, Numbers, verdict
from regard.claims.contest import accuracies, bars, gains, percent
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.sights import LEAST
from regard.claims.windows import SIDE, Cut, contest
from regard.data.painted import portraits
from regard.progress import Progress
from regard.world import render_batch

CLAIM = Claim(
    name="partitions",
    deck="Zimmermann, Attention used for images; Attention in different Vision transformers (visu by gradCAM)",
    sentence="(a) Regional Attention (b) Sparse Attention (c) Atrous Attention; Swin Transformer, MaxViT, ACC-ViT.",
    experiment="ViTs of six blocks and width 32, equal in every weight and operation, learn to name the kind of the "
    "one big thing in pictures of the world, of 48 pixels in 12 × 12 patches of 4. A patch looks at nine: in windows "
    "that are shifted in every other block, as in Swin; in windows and in grids over the whole picture by turns, as in "
    "MaxViT; or in windows whose patches lie 1, 2 and 4 apart by turns, as in ACC-ViT, but without its gates and "
    "convolutions. Scored by how many of 1,000 unseen pictures are named right; and by how well Grad-CAM covers the "
    "thing, as the deck shows them.",
    control="Groups of nine patches drawn by chance, others in each block: they join the whole picture, and know "
    "nothing of near and far.",
    criterion="The number is how many more pictures are named right by atrous attention than by regional, seed by "
    "seed. Supported (the order of their papers: atrous, sparse, regional) if its interval lies above zero, sparse is "
    "between the two on average, and none is worse than chance groups on average. Refuted if its interval lies below "
    "zero. Otherwise not at this scale; so it is if the best does not learn to name 40 % right.",
    measures="more pictures are named right by atrous attention than by regional",
    seeds=3,
)

REGIONAL, SPARSE, ATROUS, CHANCE = "regional", "sparse", "atrous", "by chance"
KINDS = (REGIONAL, SPARSE, ATROUS, CHANCE)
WINDOW, STEPS = 3, 200


@dataclass(frozen=True)
class Scattered(Window):
    """Groups as large as windows, of cells drawn by chance."""

    seed: int

    def merge(self, groups: Float[Tensor, "g n c"], height: int, width: int) -> Float[Tensor, "b h w c"]:
        back = self._order(height * width).argsort()
        return torch.unflatten(super().merge(groups, height, width).flatten(1, 2)[:, back], 1, (height, width))

    def _cut(self, x: Tensor, padding: int) -> Tensor:
        height, width = x.shape[1:3]
        dealt = x.flatten(1, 2)[:, self._order(height * width)]
        return super()._cut(torch.unflatten(dealt, 1, (height, width)), padding)

    def _order(self, cells: int) -> Tensor:
        return torch.randperm(cells, generator=torch.Generator().manual_seed(self.seed))


PARTITIONS: dict[str, list[Partition]] = {
    REGIONAL: [Window(WINDOW), Shifted(WINDOW, 1)] * 3,
    SPARSE: [Window(WINDOW), Grid(WINDOW)] * 3,
    ATROUS: [Dilated(WINDOW, 1), Dilated(WINDOW, 2), Dilated(WINDOW, 4)] * 2,
    CHANCE: [Scattered(WINDOW, seed) for seed in range(6)],
}


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right and how well Grad-CAM covers the thing, by kind and seed."""
    numbers, models = contest(PARTITIONS, seeds, steps=STEPS, quick=quick, progress=progress)
    shown = render_batch(portraits("test", 2 if quick else 100), SIDE, outputs=("rgb", "instance"))
    for run in numbers["runs"]:
        run["covers"] = _covered(models[run["kind"], run["seed"]], shown)
    return numbers


def judge(numbers: Numbers) -> Finding:
    number, low, high = student(gains(numbers, ATROUS, REGIONAL))
    means = {kind: fmean(accuracies(numbers, kind)) for kind in KINDS}
    ordered = means[ATROUS] >= means[SPARSE] >= means[REGIONAL] >= means[CHANCE]
    learned = max(means.values()) >= LEAST
    covered = ", ".join(f"{kind} {fmean(_covers(numbers, kind)):.2f}" for kind in KINDS)
    count = numbers["runs"][0]
    return Finding(
        verdict(supported=learned and low > 0 and ordered, refuted=learned and high < 0),
        number,
        (low, high),
        f"Pictures named right: {percent(numbers, KINDS)}. Atrous attention gains {100 * number:+.1f} points on "
        f"regional ({100 * low:+.1f} to {100 * high:+.1f}). IoU of Grad-CAM with the thing: {covered}. Each "
        f"has {count['parameters']:,} weights and needs {count['operations'] / 1e6:.1f} million operations a picture.",
    )


def draw(numbers: Numbers) -> str:
    found = [student(_covers(numbers, kind)) for kind in KINDS]
    return figure(
        "Which patches look at each other",
        [
            Panel("", "", "pictures named right, %", [bars(numbers, KINDS)], KINDS),
            Panel("", "", "IoU of Grad-CAM with the thing", [Bars("", *zip(*found, strict=True))], KINDS),
        ],
        f"Kind of the one thing in unseen pictures of the world; {numbers['steps']} steps each. Whiskers are 95 % "
        "intervals over seeds.",
    )


def _covered(model: Cut, shown: Mapping[str, np.ndarray]) -> float:
    """IoU of the thing with as many of the highest places of Grad-CAM, mean over pictures."""
    image = torch.from_numpy(shown["rgb"].transpose(0, 3, 1, 2).astype(np.float32)) / 127.5 - 1
    masks = shown["instance"] >= 0
    return fmean(covers(gradcam(model, one), mask) for one, mask in zip(image.split(1), masks, strict=True))


def _covers(numbers: Numbers, kind: str) -> list[float]:
    return [run["covers"] for run in numbers["runs"] if run["kind"] == kind]
