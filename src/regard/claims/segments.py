"""DINO: where [CLS] of a ViT looks that never had a label, and what keeps its student and teacher from collapse."""

import math
from statistics import fmean
from typing import Any

import numpy as np
from jaxtyping import Bool

from regard.analysis.seeing.heads import middle_disc, overlap
from regard.claims import glimpses
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.sights import Sights
from regard.layers.vision import VisionModel
from regard.progress import Progress

CLAIM = Claim(
    name="segments",
    deck="Zimmermann, DINO; also Erdem (“DINO”, Caron 2021) and Najdenkoska & Asano, A SSL pretraining method",
    sentence="Collapse avoided by: sharpening, centering",
    experiment="A student and a teacher, ViTs of three blocks on 6×6 patches, learn to agree on crops of 4,000 "
    "pictures of the world with one big thing each. In the last block, the cells that hold 60 % of what a head of "
    "[CLS] looks at are a mask; its overlap (IoU) with the true outline is measured on 400 unseen pictures, for the "
    "head that is best on 200 others. Then both learn again without centring, and without sharpening.",
    control="A twin with the same first weights that learns the kinds of the things from labels, on the same large "
    "crops in the same order; the ViT before it learns anything; and a disc of the usual size in the middle.",
    criterion="The number is DINO's overlap less its twin's, seed by seed. Supported if its interval lies above zero, "
    "DINO is above the ViT that learned nothing, and both collapses are seen in every seed: without centring the "
    "teacher's mean answer has less than a tenth of the entropy that it could have, without sharpening every answer "
    "has more than 95 %, and with both neither is so. Refuted if the interval lies below zero, or if no seed "
    "collapses in either way. Otherwise not at this scale.",
    measures="more overlap of [CLS]'s attention with the thing than in a supervised twin",
    seeds=3,
)

DINO, TWIN, FRESH, MIDDLE = "DINO", "supervised", "untrained", "a disc in the middle"
HEALTHY, UNCENTRED, BLUNT = "both", "no centring", "no sharpening"
WAYS = {HEALTHY: (True, True), UNCENTRED: (False, True), BLUNT: (True, False)}
CHOSEN, ASKED = 200, 400  # pictures by which a head is chosen, and by which it is judged
METERS = {"one answer": "entropy", "the mean answer": "spread"}
MOST = math.log(glimpses.OUTPUTS)


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How far [CLS] looks at the thing, and where the meters of collapse end."""
    seen, _ = glimpses.outlined("train", 16 if quick else 4000)
    tests, outlines = glimpses.outlined("test", 8 if quick else CHOSEN + ASKED, first=glimpses.WATCHED)
    steps = 2 if quick else glimpses.STEPS
    runs = []
    for seed, whole in parts(progress, seeds):
        found: dict[str, Any] = {"seed": seed, "overlap": {}, "meters": {}}
        arms = iter(parts(whole, [*WAYS, TWIN]))
        for way, inner in (next(arms) for _ in WAYS):
            centre, sharp = WAYS[str(way)]
            model = glimpses.pair(seed)
            if way == HEALTHY:
                found["overlap"][FRESH] = _overlap(model.teacher.tower, tests, outlines)
            track(glimpses.agree(model, seen, seed=seed, steps=steps, centre=centre, sharp=sharp), steps, inner)
            found["meters"][way] = glimpses.gauge(model, tests, centre=centre, sharp=sharp)._asdict()
            if way == HEALTHY:
                found["overlap"][DINO] = _overlap(model.teacher.tower, tests, outlines)
        _, inner = next(arms)
        found["overlap"][TWIN] = _overlap(glimpses.told(seen, seed, steps, inner), tests, outlines)
        runs.append(found)
    return {"runs": runs, "steps": steps, "middle": _middle(outlines), "most": MOST}


def judge(numbers: Numbers) -> Finding:
    runs, most = numbers["runs"], numbers["most"]
    number, low, high = student([run["overlap"][DINO] - run["overlap"][TWIN] for run in runs])
    means = {kind: fmean(run["overlap"][kind] for run in runs) for kind in (DINO, TWIN, FRESH)}
    kept = [_collapse(run["meters"][HEALTHY], most) == "" for run in runs]
    one = [_collapse(run["meters"][UNCENTRED], most) == "one class" for run in runs]
    flat = [_collapse(run["meters"][BLUNT], most) == "all classes" for run in runs]
    told = ", ".join(f"{kind} {value:.1%}" for kind, value in means.items())
    return Finding(
        verdict(
            supported=low > 0 and means[DINO] > means[FRESH] and all((*kept, *one, *flat)),
            refuted=high < 0 or not any((*one, *flat)),
        ),
        number,
        (low, high),
        f"Overlap of [CLS]'s best head with the thing: {told}, and {numbers['middle']:.1%} for {MIDDLE}. Without "
        f"centring one class takes all in {sum(one)} of {len(runs)} seeds, without sharpening every answer is flat in "
        f"{sum(flat)}; with both, {sum(kept)} of {len(runs)} stay well.",
    )


def draw(numbers: Numbers) -> str:
    runs = numbers["runs"]
    kinds = (DINO, TWIN, FRESH)
    seen = [student([100 * run["overlap"][kind] for run in runs]) for kind in kinds]
    bars = [Bars(name, *zip(*(_percent(numbers, way, name) for way in WAYS), strict=True)) for name in METERS]
    return figure(
        "A class token that nobody told of things",
        [
            Panel(
                "Where [CLS] looks",
                "",
                "overlap with the thing, %",
                [Bars("best head", *zip(*seen, strict=True))],
                kinds,
                rule=(100 * numbers["middle"], MIDDLE),
            ),
            Panel("Entropy of the teacher", "", "% of the most there can be", bars, tuple(WAYS), bounds=(0, 105)),
        ],
        f"After {numbers['steps']} steps of each; whiskers are 95 % intervals over seeds.",
    )


def _percent(numbers: Numbers, way: str, name: str) -> tuple[float, float, float]:
    return student([100 * run["meters"][way][METERS[name]] / numbers["most"] for run in numbers["runs"]])


def _collapse(found: dict[str, float], most: float) -> str:
    """In which way a teacher says the same of every picture, if it does."""
    if found["spread"] < 0.1 * most:
        return "one class"
    return "all classes" if found["entropy"] > 0.95 * most else ""


def _overlap(model: VisionModel, tests: Sights, outlines: Bool[np.ndarray, "n s s"]) -> float:
    """The mean overlap of the head that is best on the first third."""
    found = overlap(glimpses.attention_masks(model.eval(), tests.pixels), outlines)
    chosen = len(found) * CHOSEN // (CHOSEN + ASKED)
    best = int(found[:chosen].mean(axis=0).argmax())
    return float(found[chosen:, best].mean())


def _middle(outlines: Bool[np.ndarray, "n s s"]) -> float:
    """The overlap of a disc in the middle, of the area that things have on average."""
    disc = np.broadcast_to(middle_disc(outlines), outlines.shape)[:, None]
    return float(overlap(disc, outlines).mean())
