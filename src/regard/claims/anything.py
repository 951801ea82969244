"""Anything: one Perceiver for pictures, films, sounds and points, and what it costs as they grow."""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from statistics import fmean

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import multihead
from regard.chance import Chance
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Line, Panel, Values, figure
from regard.claims.sights import CLASSES, SIDE, descend, floats, portrayed
from regard.data.painted import portraits
from regard.layers.blocks import Block
from regard.layers.cells import cells, points
from regard.layers.mlp import MLP
from regard.models.perceiver import Config, Perceiver
from regard.progress import Progress
from regard.sound import Spectrogram
from regard.train.small import count_operations, count_parameters
from regard.vision.dice import integers
from regard.world import render_batch
from regard.world.language import motions
from regard.world.language.motions import WAYS

CLAIM = Claim(
    name="anything",
    deck="Najdenkoska & Asano, The Perceiver; The Perceiver: Taming quadratic complexity",
    sentence="The Perceiver: designed to handle arbitrary configurations of different modalities. The resulting "
    "cross-attention operation has complexity O(MN).",
    experiment="One config of a Perceiver, equal in every weight, learns four things: the kind of the one big thing in "
    "pictures of the world, from patches; the same from points on the thing alone; which way a thing moves, from films "
    "of eight frames; and which of four melodies a tone makes, from its spectrogram. Scored on 400 unseen of each. And "
    "the operations of a Perceiver of 32, 64 and 128 latents are counted for inputs of M = 256 to 16,384 cells, beside "
    "those of blocks of the same width and depth in which all cells look at each other.",
    control="The same model that is told no places: all cells lie in the middle. What is in the cells is still there.",
    criterion="The number is the share of right answers above guessing in the kind of input that is answered worst, in "
    "parts of what lies above guessing. Supported if its interval lies above 0.5, in each kind places help on average, "
    "and from the largest input but one to the largest the operations grow with an exponent of M of at most 1.1 in the "
    "Perceiver and of at least 1.5 in full attention. Refuted if the interval lies below 0.25, or the exponent of the "
    "Perceiver is 1.5 or more. Otherwise not at this scale.",
    measures="of what lies above guessing is answered right in the worst kind of input",
    seeds=3,
)

KINDS = ("pictures", "points", "films", "sounds")
TOLD, UNTOLD = "places", "no places"
MODEL = Config(
    SIDE,
    axes=3,
    patch=4,
    bands=6,
    latents=24,
    width=48,
    looks=1,
    repeats=1,
    depth=2,
    heads=4,
    cross_heads=4,
    qk=48,
    widen=2,
    classes=CLASSES,
)
STEPS, BATCH, COUNT, TESTS = 300, 32, 3000, 400
MOMENTS, FRAMES, POINTS = 16, 8, 96
TUNES = ("rises", "falls", "rises and falls", "falls and rises")
HEARS = Spectrogram(frames=48)
LATENTS, SIDES = (32, 64, 128), (16, 32, 64, 128)  # of the inputs whose cost is counted, in cells

Inputs = tuple[Float[Tensor, "b m c"], Float[Tensor, "*#b m a"]]


@lru_cache(maxsize=8)
def shown(kind: str, split: str, count: int) -> tuple[Tensor, Tensor | None, Tensor]:
    """Cells, their places where each has its own, and the number of the class."""
    match kind:
        case "pictures":
            seen = portrayed(split, count)
            return floats(seen.pixels), None, torch.from_numpy(seen.targets)
        case "points":
            return _outlines(split, count)
        case "films":
            return _films(split, count)
    return _tunes(split, count)


def _outlines(split: str, count: int) -> tuple[Tensor, Tensor, Tensor]:
    instance = render_batch(portraits(split, count), SIDE, outputs=("instance",))["instance"]
    clouds = []
    for number, mask in enumerate(instance >= 0):
        places = np.argwhere(mask).astype(np.float32)
        some = places[integers(Chance(number, f"points {split}"), POINTS, len(places))]
        some -= places.mean(axis=0)
        clouds.append(np.pad(some / np.abs(places - places.mean(axis=0)).max(), ((0, 0), (1, 0))))
    empty, where = points(torch.from_numpy(np.stack(clouds)))
    return empty, where, torch.from_numpy(portrayed(split, count).targets)


def _films(split: str, count: int) -> tuple[Tensor, None, Tensor]:
    view = motions(split=split, frames=MOMENTS, things=1)
    found = list(islice((one for one in view if any(event.way for event in one.motion.events)), count))
    steps = np.linspace(0, MOMENTS - 1, FRAMES).round().astype(int).tolist()
    drawn = [render_batch([one.clip.frames[step] for step in steps], SIDE)["rgb"] for one in found]
    ways = [next(event.way for event in one.motion.events if event.way) for one in found]
    film = torch.from_numpy(np.stack(drawn)).permute(0, 4, 1, 2, 3).float() / 127.5 - 1
    return film, None, torch.tensor([WAYS.index(way) for way in ways])


def _tunes(split: str, count: int) -> tuple[Tensor, None, Tensor]:
    """Tones of a random pitch whose pitch rises or falls, or does one after the other, in some noise."""
    time, heard, targets = np.arange(3200) / HEARS.rate, [], []
    for number in range(count):
        chance = Chance(number, f"tune {split}")
        tune, far = number % len(TUNES), chance.uniform(300.0, 700.0)
        half = np.abs(np.linspace(-1, 1, len(time)))
        curve = (np.linspace(-1, 1, len(time)), np.linspace(1, -1, len(time)), 1 - 2 * half, 2 * half - 1)[tune]
        pitch = chance.uniform(1000.0, 2200.0) + far * curve
        tone = np.sin(2 * np.pi * np.cumsum(pitch) / HEARS.rate)
        noise = np.random.default_rng(chance.below(1 << 31)).standard_normal(len(time))
        heard.append(HEARS.fit(HEARS((tone + chance.uniform(0.02, 0.2) * noise).astype(np.float32))))
        targets.append(tune)
    return torch.from_numpy(np.stack(heard))[:, None], None, torch.tensor(targets)


def give(found: tuple[Tensor, Tensor | None, Tensor], rows: np.ndarray, how: str) -> Inputs:
    """Some of them as the model reads them, with their places or all in the middle."""
    x, places = found[0][rows], None if found[1] is None else found[1][rows]
    if places is None:
        x, places = cells(x, MODEL.patch)
    return x, places if how == TOLD else torch.zeros_like(places)


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Right answers by kind, seed and whether places are told; and operations by cells and latents."""
    steps, count, tests = (2, 40, 20) if quick else (STEPS, COUNT, TESTS)
    runs = []
    for seed, whole in parts(progress, seeds):
        for (kind, how), inner in parts(whole, [(kind, how) for kind in KINDS for how in (TOLD, UNTOLD)]):
            torch.manual_seed(seed)
            model, seen = Perceiver(MODEL), shown(kind, "train", count)
            track(descend(model, _lose(model, seen, how, seed), steps=steps), steps, inner)
            right = _right(model, shown(kind, "test", tests), how)
            runs.append({"kind": kind, "how": how, "seed": seed, "accuracy": right, "guess": _guess(kind, tests)})
    costs = {str(count): [operations(count, side) for side in SIDES] for count in LATENTS}
    full = [full_operations(side) for side in SIDES]
    about = {"parameters": count_parameters(Perceiver(MODEL)), "steps": steps}
    return {"runs": runs, "cells": [side**2 for side in SIDES], "perceiver": costs, "full": full, **about}


def _lose(model: Perceiver, seen: tuple[Tensor, Tensor | None, Tensor], how: str, seed: int) -> Callable[[int], Tensor]:
    def lose(step: int) -> Tensor:
        rows = integers(Chance(seed, "anything", step), min(BATCH, len(seen[2])), len(seen[2]))
        return F.cross_entropy(model(*give(seen, rows, how)), seen[2][rows])

    return lose


@torch.no_grad()
def _right(model: Perceiver, seen: tuple[Tensor, Tensor | None, Tensor], how: str) -> float:
    every = np.arange(len(seen[2]))
    said = [model(*give(seen, rows, how)).argmax(-1) for rows in np.array_split(every, math.ceil(len(every) / 100))]
    return float((torch.cat(said) == seen[2]).float().mean())


def _guess(kind: str, tests: int) -> float:
    """How often who always names the most frequent class is right."""
    targets = shown(kind, "test", tests)[2]
    return float(torch.bincount(targets).max() / len(targets))


@torch.no_grad()
def operations(latents: int, side: int) -> int:
    """Multiplications and additions of a Perceiver of so many latents on a map of cells, counted and not computed."""
    config = Config(side, channels=16, bands=4, latents=latents, width=64, looks=1, repeats=1, depth=2, heads=4, qk=64)
    model, x = Perceiver(config).eval().to("meta"), torch.zeros(1, 16, side, side, device="meta")
    return count_operations(lambda: model(x))


@torch.no_grad()
def full_operations(side: int) -> int:
    """The same of as many blocks as the tower has, in which all cells look at each other."""
    blocks = nn.Sequential(*(Block(64, multihead(64, 4), MLP(64, 64)) for _ in range(2))).eval().to("meta")
    return count_operations(lambda: blocks(torch.zeros(1, side**2, 64, device="meta")))


def judge(numbers: Numbers) -> Finding:
    above = {kind: _above(numbers, kind, TOLD) for kind in KINDS}
    worst = min(KINDS, key=lambda kind: fmean(above[kind]))
    number, low, high = student(above[worst])
    helped = all(fmean(above[kind]) > fmean(_above(numbers, kind, UNTOLD)) for kind in KINDS)
    ours = max(_exponent(costs, numbers["cells"]) for costs in numbers["perceiver"].values())
    theirs = _exponent(numbers["full"], numbers["cells"])
    shares = ", ".join(
        f"{kind} {fmean(_right_in(numbers, kind, TOLD)):.1%} ({fmean(_right_in(numbers, kind, UNTOLD)):.1%} without "
        f"places, {_of(numbers, kind, TOLD)[0]['guess']:.1%} by guessing)"
        for kind in KINDS
    )
    times = numbers["full"][-1] / numbers["perceiver"][str(LATENTS[0])][-1]
    return Finding(
        verdict(supported=low > 0.5 and helped and ours <= 1.1 and theirs >= 1.5, refuted=high < 0.25 or ours >= 1.5),
        number,
        (low, high),
        f"Answered right by one config of {numbers['parameters']:,} weights: {shares}. The operations grow with M to "
        f"the {ours:.2f} in the Perceiver, and to the {theirs:.2f} where all cells look at each other, which is "
        f"{times:.0f} times as many for {numbers['cells'][-1]:,} cells and {LATENTS[0]} latents.",
    )


def draw(numbers: Numbers) -> str:
    kinds = []
    for how in (TOLD, UNTOLD):
        found = [student([100 * each for each in _right_in(numbers, kind, how)]) for kind in KINDS]
        kinds.append(Bars(how, *zip(*found, strict=True)))
    kinds.append(Bars("guessing", [100 * _of(numbers, kind, TOLD)[0]["guess"] for kind in KINDS]))
    lines = [Line(f"{count} latents", numbers["cells"], costs) for count, costs in numbers["perceiver"].items()]
    lines.append(Line("all look at each other", numbers["cells"], numbers["full"], dashed=True))
    return figure(
        "One Perceiver for anything",
        [
            Panel("", "", "right answers, %", kinds, KINDS),
            Panel("", "cells of the input", "operations", lines, log="xy"),
        ],
        f"{numbers['steps']} steps on each kind of input. Whiskers are 95 % intervals over seeds. Operations are those "
        "of a read and two blocks, counted.",
    )


def _of(numbers: Numbers, kind: str, how: str) -> list[Numbers]:
    return [run for run in numbers["runs"] if run["kind"] == kind and run["how"] == how]


def _right_in(numbers: Numbers, kind: str, how: str) -> list[float]:
    return [run["accuracy"] for run in _of(numbers, kind, how)]


def _above(numbers: Numbers, kind: str, how: str) -> list[float]:
    """Right answers above guessing, in parts of what lies above guessing, seed by seed."""
    return [(run["accuracy"] - run["guess"]) / max(1 - run["guess"], 1e-9) for run in _of(numbers, kind, how)]


def _exponent(costs: Values, sizes: Values) -> float:
    """Of the size, from the largest but one to the largest."""
    return math.log(costs[-1] / costs[-2]) / math.log(sizes[-1] / sizes[-2])
