"""MonoDepth: how far depth is off that was learnt from two eyes and nothing else, and that of its supervised twin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.analysis.depth import constant, errors, usual
from regard.chance import Chance
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.sights import descend, floats
from regard.data.eyes import Arrays
from regard.data.stereo import world_eyes
from regard.models.monodepth import Config, MonoDepth
from regard.progress import Progress
from regard.train.stereo import stereo_loss, supervised_loss
from regard.vision.dice import integers

CLAIM = Claim(
    name="eyes",
    deck="Zimmermann, MonoDepth",
    sentence="Project left image through the depth to right image using known geometry. Minimize color inconsistency.",
    experiment="A MonoDepth for pictures of 32 pixels learns disparities of 2,000 scenes of the world from what the "
    "left and the right eye see and nothing else. Of 400 unseen scenes, seen with the left eye alone, its depths are "
    "compared with the true ones: how far off they are, in parts of the true depth.",
    control="A twin that is told the true disparities; another whose right pictures are those of other scenes, which "
    "sees as many pictures and learns nothing from their geometry. And what needs no picture: the best depth for all "
    "pixels, and the best for each pixel, both chosen by the true depths of the tested scenes.",
    criterion="The number is the error of the one that learns from two eyes, in parts of that of the best depth for "
    "each pixel. Supported if its interval lies below 0.9 and that of how much more the one with strange right "
    "pictures is off lies above zero. Refuted if the first lies above 1 or the second below zero. Otherwise not at "
    "this scale.",
    measures="of the error of the best depth for each pixel are left",
    seeds=3,
)

SIDE, BATCH, STEPS, LR = 32, 32, 700, 1e-2
EYES, TOLD, STRANGE = "two eyes", "supervised", "strange eyes"
ARMS = (EYES, TOLD, STRANGE)
CONSTANT, USUAL = "one depth", "one a pixel"
SIZES = Config(SIDE, SIDE, widths=(16, 32, 64, 64), kernels=(3,) * 4, decoder_widths=(8, 16, 32, 48), scales=2)


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How far depths of unseen scenes are off, by what taught them."""
    seen = world_eyes("train").arrays(SIDE, SIDE, 16 if quick else 2000)
    tests = world_eyes("test").arrays(SIDE, SIDE, 8 if quick else 400)
    steps, runs = 2 if quick else STEPS, []
    for seed, whole in parts(progress, seeds):
        for arm, inner in parts(whole, ARMS):
            torch.manual_seed(seed)
            model = MonoDepth(SIZES)
            track(descend(model, teach(model, seen, arm, seed), steps=steps, lr=LR), steps, inner)
            runs.append({"arm": arm, "seed": seed, **off(said(model, tests), tests)})
    real = tests.truth[:, 0]
    return {"runs": runs, CONSTANT: off(constant(real), tests), USUAL: off(usual(real), tests), "steps": steps}


def teach(model: MonoDepth, seen: Arrays, arm: str, seed: int) -> Callable[[int], Tensor]:
    """The loss of a step."""
    # Half of all scenes away, so that nobody has its own.
    right = np.roll(seen.right, len(seen.right) // 2, axis=0) if arm == STRANGE else seen.right

    def lose(step: int) -> Tensor:
        rows = integers(Chance(seed, "eyes", step), min(BATCH, len(seen.left)), len(seen.left))
        left = floats(seen.left[rows])
        scales = model(left).scales
        if arm == TOLD:
            return supervised_loss(scales, torch.from_numpy(seen.truth[rows])).mean()
        pair = (left + 1) / 2, (floats(right[rows]) + 1) / 2
        return stereo_loss(scales, pair).total.mean()

    return lose


@torch.no_grad()
def said(model: MonoDepth, tests: Arrays) -> np.ndarray:
    """Disparities of the left eye, from its picture alone."""
    parts = [model(floats(tests.left[i : i + 100])).left.numpy() for i in range(0, len(tests.left), 100)]
    return np.concatenate(parts)


def off(found: np.ndarray, tests: Arrays) -> dict[str, float]:
    """The mean error in parts of the depth, and the share of pixels that are near enough."""
    measured = errors(found, tests.truth[:, 0])
    return {"error": float(measured["abs rel"].mean()), "near": float(measured["delta"].mean())}


def judge(numbers: Numbers) -> Finding:
    each = numbers[USUAL]["error"]
    left = student([run["error"] / each for run in _runs(numbers, EYES)])
    pairs = zip(_runs(numbers, STRANGE), _runs(numbers, EYES), strict=True)
    worse = student([strange["error"] - own["error"] for strange, own in pairs])
    means = {arm: student([run["error"] for run in _runs(numbers, arm)])[0] for arm in ARMS}
    near = student([run["near"] for run in _runs(numbers, EYES)])[0]
    return Finding(
        verdict(supported=left[2] < 0.9 and worse[1] > 0, refuted=left[1] > 1 or worse[2] < 0),
        left[0],
        (left[1], left[2]),
        f"Depths learnt from two eyes are off by {means[EYES]:.1%} of the true ones, and {near:.0%} of them are within "
        f"1.25 times; those of the supervised twin are off by {means[TOLD]:.1%}, those learnt from eyes on two scenes "
        f"by {means[STRANGE]:.1%}. Without a picture, the best depth for all is off by "
        f"{numbers[CONSTANT]['error']:.1%} and the best for each pixel by {each:.1%}. Strange eyes are off by "
        f"{100 * worse[0]:.1f} points more ({100 * worse[1]:.1f} to {100 * worse[2]:.1f}).",
    )


def draw(numbers: Numbers) -> str:
    names = (*ARMS, CONSTANT, USUAL)

    def bars(key: str) -> list[Bars]:
        found = [student([run[key] for run in _runs(numbers, arm)]) for arm in ARMS]
        found += [(numbers[name][key],) * 3 for name in (CONSTANT, USUAL)]
        return [Bars("", *zip(*found, strict=True))]

    return figure(
        "Depth from one picture, by what taught it",
        [
            Panel("how far off", "", "error, in parts of the true depth", bars("error"), names),
            Panel("how much is near enough", "", "pixels within 1.25 times", bars("near"), names, bounds=(0, 1)),
        ],
        f"{numbers['steps']} steps on pictures of {SIDE} pixels of the world. Whiskers are 95 % intervals over seeds.",
    )


def _runs(numbers: Numbers, arm: str) -> list[dict[str, Any]]:
    return [run for run in numbers["runs"] if run["arm"] == arm]
