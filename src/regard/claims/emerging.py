"""Parts without labels: how well the parts of a thing are read from the first components of what DINO makes of it."""

from statistics import fmean
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from regard.claims import glimpses
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.parts import FIRST, SHUFFLED, cells, read
from regard.claims.plot import Bars, Line, Panel, figure
from regard.claims.sights import Sights, floats
from regard.data.painted import portraits
from regard.layers.vision import VisionModel
from regard.progress import Progress
from regard.world import KINDS, PARTS, render
from regard.world import parts as cut_up

CLAIM = Claim(
    name="emerging",
    deck="Najdenkoska & Asano, PCA Visualization (Amir 2021)",
    sentence="Both ViTs produce semantic representations with high granularity, that cause semantic object parts to "
    "emerge. However, DINO ViT representations are less noisy than supervised ViT representations.",
    experiment="ViTs of three blocks on 6×6 patches learn as DINO from crops of 4,000 pictures of the world with one "
    "big thing each, without labels. Of 1,200 unseen pictures, patches that lie on the thing mostly are taken, kind by "
    "kind. From the first three principal components of their features behind each block, a linear map reads how "
    "much of a patch each part of the thing takes up, such as the arms of a cross. Scored by the share of the "
    "variance that is read right on the second half of the pictures, as a mean over kinds. The place of a patch in the "
    "picture is read in the same way from all patches.",
    control="The same ViT before it learns anything; a twin that learns the kinds from labels on the same crops; and "
    "the same reading after parts are dealt out among the patches by chance.",
    criterion="The number is how much more of the parts is read from the last block of DINO than of the ViT that "
    "learned nothing, seed by seed. Supported if its interval lies above zero, and of the place less is read from "
    "DINO's last block than from its first in every seed. Refuted if the interval lies below zero, or if in every "
    "seed more of the place is read from the last block. Otherwise not at this scale. Whether DINO's parts are "
    "clearer than its twin's is told beside it.",
    measures="more of the parts of a thing is read from three components of DINO's last block than before it learned",
    seeds=3,
)

DINO, TWIN, FRESH = "DINO", "supervised", "untrained"
WHO = (DINO, TWIN, FRESH)
PLACE, PART = "place", "parts"
ASKED = 1200
MOSTLY = 0.5  # of a patch, which the thing covers
GRID = glimpses.SIDE // glimpses.PATCH


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """The share of parts and of places that is read from each block."""
    seen, _ = glimpses.outlined("train", 16 if quick else 4000)
    count = 80 if quick else ASKED
    tests, _ = glimpses.outlined("test", count, first=glimpses.WATCHED)
    shares = part_shares("test", count, first=glimpses.WATCHED)
    steps, runs = 2 if quick else glimpses.STEPS, []
    for seed, whole in parts(progress, seeds):
        (_, first), (_, second) = parts(whole, (DINO, TWIN))
        model = glimpses.pair(seed)
        runs += _rows(FRESH, seed, model.teacher.tower, tests, shares)
        track(glimpses.agree(model, seen, seed=seed, steps=steps), steps, first)
        runs += _rows(DINO, seed, model.teacher.tower, tests, shares)
        runs += _rows(TWIN, seed, glimpses.told(seen, seed, steps, second), tests, shares)
    return {"runs": runs, "pictures": count, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    last = _last(numbers)
    ends = {who: _series(numbers, who, PART, last) for who in WHO}
    number, low, high = student([a - b for a, b in zip(ends[DINO], ends[FRESH], strict=True)])
    beside, least, most = student([a - b for a, b in zip(ends[DINO], ends[TWIN], strict=True)])
    early, late = (_series(numbers, DINO, PLACE, block) for block in (1, last))
    falls = [b < a for a, b in zip(early, late, strict=True)]
    told = ", ".join(f"{who} {fmean(ends[who]):.1%}" for who in WHO)
    chance = fmean(run[SHUFFLED] for run in numbers["runs"] if run["what"] == PART)
    return Finding(
        verdict(supported=low > 0 and all(falls), refuted=high < 0 or not any(falls)),
        number,
        (low, high),
        f"Of the parts, three components of the last block tell: {told}, and {chance:.1%} where parts are dealt out by "
        f"chance. DINO's are {100 * beside:+.1f} points ({100 * least:+.1f} to {100 * most:+.1f}) beside its twin's. "
        f"Of the place of a patch, {fmean(early):.0%} is read behind DINO's first block and {fmean(late):.0%} behind "
        "its last.",
    )


def draw(numbers: Numbers) -> str:
    last = _last(numbers)
    seen = [student([100 * each for each in _series(numbers, who, PART, last)]) for who in WHO]
    blocks = list(range(1, last + 1))
    lines = [
        Line(who, blocks, *zip(*(_percent(numbers, who, block) for block in blocks), strict=True), dashed=who == FRESH)
        for who in WHO
    ]
    return figure(
        "Parts of things that nobody named",
        [
            Panel(
                "Parts, from the last block",
                "",
                "share that is read, %",
                [Bars("parts", *zip(*seen, strict=True))],
                WHO,
            ),
            Panel("Place of a patch", "block", "share that is read, %", lines, bounds=(0, 100)),
        ],
        f"Read from three components by a linear map, on patches of {numbers['pictures'] // 2} unseen pictures after "
        f"{numbers['steps']} steps. Whiskers and bands are 95 % intervals over seeds.",
    )


def part_shares(split: str, count: int, first: int = 0) -> Float[np.ndarray, "n i j p"]:
    """How much of each patch each part of the thing takes up, its parts counted as its kind has them."""
    found = np.zeros((count, GRID, GRID, max(map(len, PARTS.values()))))
    for i, scene in enumerate(portraits(split, first + count)[first:]):
        seen = cut_up(render(scene, glimpses.SIDE)).visible
        tiles = seen.reshape(-1, GRID, glimpses.PATCH, GRID, glimpses.PATCH).mean(axis=(2, 4))
        found[i, :, :, : len(seen)] = np.moveaxis(tiles, 0, -1)
    return found


def _rows(
    who: str, seed: int, model: VisionModel, tests: Sights, shares: Float[np.ndarray, "n i j p"]
) -> list[dict[str, Any]]:
    """What is read from each block of a model."""
    places = np.broadcast_to(np.moveaxis(np.indices((GRID, GRID)), 0, -1).astype(float), (len(tests), GRID, GRID, 2))
    rows = []
    for block, features in enumerate(cells(model.eval(), floats(tests.pixels))):
        about = {"who": who, "seed": seed, "block": block + 1}
        found = [_parts_of(kind, features, tests, shares, seed) for kind in range(len(KINDS))]
        mean = {way: fmean(each[way] for each in found) for way in (FIRST, SHUFFLED)}
        rows += [about | {"what": PART, **mean}, about | {"what": PLACE, FIRST: read(features, places, seed)[FIRST]}]
    return rows


def _parts_of(
    kind: int,
    features: Float[np.ndarray, "n i j k"],
    tests: Sights,
    shares: Float[np.ndarray, "n i j p"],
    seed: int,
) -> dict[str, float]:
    """What is read of the parts of one kind of thing, from patches that lie on it mostly."""
    chosen = tests.targets == kind
    on: Bool[np.ndarray, "n i j"] = shares[chosen].sum(axis=-1) > MOSTLY
    count = len(PARTS[KINDS[kind]])
    wanted = shares[chosen][on][:, None, None, :count]
    return read(features[chosen][on][:, None, None], wanted / wanted.sum(axis=-1, keepdims=True), seed)


def _series(numbers: Numbers, who: str, what: str, block: int) -> list[float]:
    rows = (run for run in numbers["runs"] if (run["who"], run["what"], run["block"]) == (who, what, block))
    return [run[FIRST] for run in rows]


def _last(numbers: Numbers) -> int:
    return max(int(run["block"]) for run in numbers["runs"])


def _percent(numbers: Numbers, who: str, block: int) -> tuple[float, float, float]:
    return student([100 * each for each in _series(numbers, who, PLACE, block)])
