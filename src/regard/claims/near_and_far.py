"""Near and far: how far the early layers of a ViT look, and how far those of a convolution network can see."""

from collections.abc import Callable, Iterable
from copy import deepcopy

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.analysis.pictures import maps_over
from regard.analysis.reading import Reading
from regard.analysis.seeing import Field, attention_distances, receptive_field
from regard.attention import record
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.claims.sights import CLASSES, FAST, LEAST, RESNET, SIDE, USUAL, VIT, operations, portrayed, score, teach
from regard.layers.vision import VisionModel
from regard.models import resnet, vit
from regard.progress import Progress
from regard.train.small import count_parameters

CLAIM = Claim(
    name="near_and_far",
    deck="CNS148, Local and Global Information; Receptive Fields",
    sentence="ViT early layers (block0, block1) encode both local and global relationships. By structure CNNs only "
    "encode local information early on.",
    experiment="A ViT and a ResNet of six blocks each and about as many weights learn to name the kind of the one big "
    "thing in pictures of the world, of 32 pixels. On unseen pictures, the mean distance over which each head of the "
    "ViT looks is measured, in parts of the distance of looking evenly; and of both networks, the radius within which "
    "nine tenths of the gradient of the middle cells behind each block lie.",
    control="The same networks before they learn anything: what is there already is structure. Looking evenly is far "
    "without being near, so a head that looks near has to be found too.",
    criterion="The number is how much farther the farthest head of the first two blocks looks than the nearest, in "
    "parts of looking evenly, seed by seed. Supported if the interval of the nearest lies below 0.75 and that of the "
    "farthest above 0.9, and behind the second block the radius of the ViT is larger than the ResNet's. Refuted if "
    "the nearest lies above 0.9, the farthest below 0.75, or the radius of the ResNet is larger. Otherwise not at "
    "this scale; so it is if either network does not learn to name 40 % of the pictures right.",
    measures="parts of looking evenly lie between the nearest and the farthest head of the first two blocks",
    seeds=3,
)

BEFORE, AFTER = "untrained", "trained"
EARLY = 2  # blocks
NEAR, FAR = 0.75, 0.9  # parts of looking evenly
SHARE = 0.9  # of the gradient that a radius holds
STEPS = 400


def network(kind: str) -> VisionModel:
    """One of the two, begun as its paper begins it: nothing in it has looked near or far yet."""
    if kind == VIT:
        sizes = vit.Config(SIDE, patch=4, width=64, depth=6, heads=4, hidden=128, classes=CLASSES, pool="mean")
        return vit.ViT(sizes)
    widths, depths = (16, 32, 64), (2, 2, 2)
    return resnet.ResNet(resnet.Config(SIDE, 3, "fast", 16, "basic", widths, depths, classes=CLASSES, zero_init=False))


def learned(kind: str, seed: int, *, quick: bool, progress: Progress) -> dict[str, VisionModel]:
    """A network before and after it has learned to name pictures of the world."""
    torch.manual_seed(seed)
    before = network(kind)
    after = deepcopy(before)
    steps, seen = (2, portrayed("train", 40)) if quick else (STEPS, portrayed("train", 10_000))
    track(teach(after, seen, steps=steps, seed=seed, recipe=USUAL, lr=FAST), steps, progress)
    return {BEFORE: before.eval(), AFTER: after.eval()}


def unseen(count: int) -> Float[Tensor, "n 3 h w"]:
    """Pictures as networks read them."""
    return torch.from_numpy(portrayed("test", count).pixels.transpose(0, 3, 1, 2).astype(np.float32)) / 127.5 - 1


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Radii of all blocks, and of the ViT the distances of all heads, before and after it learns."""
    tests, image, runs = portrayed("test", 20 if quick else 1000), unseen(2 if quick else 100), []
    for seed, whole in parts(progress, seeds):
        for kind, inner in parts(whole, (VIT, RESNET)):
            for state, model in learned(kind, seed, quick=quick, progress=inner).items():
                size = {"parameters": count_parameters(model), "operations": operations(model)}
                radii = [field.radius(SHARE) for field in receptive_field(model, image)]
                heads = _distances(model, image[:50]) if kind == VIT else []
                about = {"kind": kind, "seed": seed, "state": state, "accuracy": score(model, tests)}
                runs.append(about | size | {"radii": radii, "heads": heads})
    even = Field("", np.full((SIDE, SIDE), SIDE**-2, np.float32)).radius(SHARE)
    return {"runs": runs, "even": even, "steps": 2 if quick else STEPS}


def judge(numbers: Numbers) -> Finding:
    spread = student([f - n for n, f in zip(_heads(numbers, min), _heads(numbers, max), strict=True)])
    near, far = student(_heads(numbers, min)), student(_heads(numbers, max))
    begun = student(_heads(numbers, min, BEFORE))[0], student(_heads(numbers, max, BEFORE))[0]
    wider = student([a - b for a, b in zip(_radii(numbers, VIT), _radii(numbers, RESNET), strict=True)])
    radii = [student(_radii(numbers, kind, state))[0] for state in (AFTER, BEFORE) for kind in (VIT, RESNET)]
    right = [student([run["accuracy"] for run in _runs(numbers, kind)])[0] for kind in (VIT, RESNET)]
    sizes = {kind: _runs(numbers, kind)[0] for kind in (VIT, RESNET)}
    costs = ", ".join(
        f"{k} {one['parameters']:,} and {one['operations'] / 1e6:.0f} million" for k, one in sizes.items()
    )
    return Finding(
        verdict(
            supported=min(right) >= LEAST and near[2] < NEAR and far[1] > FAR and wider[1] > 0,
            refuted=min(right) >= LEAST and (near[1] > FAR or far[2] < NEAR or wider[2] < 0),
        ),
        spread[0],
        (spread[1], spread[2]),
        f"In the first two blocks of the ViT, the nearest head looks {near[0]:.2f} times as far as looking evenly and "
        f"the farthest {far[0]:.2f} times ({begun[0]:.2f} and {begun[1]:.2f} untrained). Nine tenths of what the "
        f"middle depends on behind the second block lie within {radii[0]:.2f} sides of the picture in the ViT and "
        f"{radii[1]:.2f} in the ResNet ({radii[2]:.2f} and {radii[3]:.2f} untrained; evenly it would be "
        f"{numbers['even']:.2f}). They name {right[0]:.1%} and {right[1]:.1%} of unseen pictures right. Weights and "
        f"operations: {costs}.",
    )


def draw(numbers: Numbers) -> str:
    return figure(
        "How far early layers see",
        [
            Panel("heads of the ViT", "block", "distance, in parts of looking evenly", _looks(numbers), rule=(1, "")),
            Panel(
                "both networks",
                "block",
                "radius of nine tenths of the gradient, sides of the picture",
                _fields(numbers),
                rule=(numbers["even"], "evenly"),
            ),
        ],
        f"{numbers['steps']} steps on pictures of the world; block by block, the first is 1. Bands are 95 % intervals "
        "over seeds.",
    )


def _looks(numbers: Numbers) -> list[Line]:
    lines = []
    for state in (AFTER, BEFORE):
        runs = _runs(numbers, VIT, state)
        blocks = range(1, len(runs[0]["heads"]) + 1)
        for label, of in (("nearest head", min), ("farthest head", max)):
            found = [student([of(run["heads"][block - 1]) for run in runs]) for block in blocks]
            name = label if state == AFTER else f"{label}, {BEFORE}"
            lines.append(Line(name, list(blocks), *zip(*found, strict=True), dashed=state == BEFORE))
    return lines


def _fields(numbers: Numbers) -> list[Line]:
    lines = []
    for state in (AFTER, BEFORE):
        for kind in (VIT, RESNET):
            rows = zip(*(run["radii"] for run in _runs(numbers, kind, state)), strict=True)
            found = [student(row) for row in rows]
            name = kind if state == AFTER else f"{kind}, {BEFORE}"
            blocks = list(range(1, len(found) + 1))
            lines.append(Line(name, blocks, *zip(*found, strict=True), dashed=state == BEFORE))
    return lines


def _runs(numbers: Numbers, kind: str, state: str = AFTER) -> list[Numbers]:
    return [run for run in numbers["runs"] if run["kind"] == kind and run["state"] == state]


def _heads(numbers: Numbers, of: Callable[[Iterable[float]], float], state: str = AFTER) -> list[float]:
    return [of(far for block in run["heads"][:EARLY] for far in block) for run in _runs(numbers, VIT, state)]


def _radii(numbers: Numbers, kind: str, state: str = AFTER) -> list[float]:
    return [run["radii"][EARLY - 1] for run in _runs(numbers, kind, state)]


def _distances(model: VisionModel, image: Float[Tensor, "n 3 h w"]) -> list[list[float]]:
    """How far each head of each block looks, in parts of looking evenly, mean over pictures."""
    found = []
    for one in image.split(1):
        with torch.no_grad(), record(model) as trace:
            model(one)
        axes, maps = maps_over(trace, model.grid(*one.shape[-2:]), leading=model.leading)
        found.append([each.heads / each.even for each in attention_distances(Reading(VIT, axes, maps, trace))])
    return [np.mean(block, axis=0).tolist() for block in zip(*found, strict=True)]
