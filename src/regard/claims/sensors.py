"""Co-learning: what one sensor finds, projected to what another sees, teaches the other."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.sights import descend
from regard.data.annotated import Detections, Objects
from regard.data.rigged import sensed_detections, taught_detections
from regard.models.detr import DETR, PRESETS
from regard.models.resnet import PRESETS as RESNETS
from regard.progress import Progress
from regard.recipes import colearn, detect
from regard.recipes.pictured import MEAN, STD
from regard.vision import Processor, Size

CLAIM = Claim(
    name="sensors",
    deck="Zimmermann, Co-learning",
    sentence="Learning to mimic other sensor: project detections from red domain to blue domain",
    experiment="The bundled detector of the world marks things in pictures of a camera. Beside the camera hangs a "
    "sensor for warmth, which sees no colour. The boxes are carried to it through the known projection, and a small "
    "DETR of that sensor learns them on 2,000 scenes of which neither has a label; what kind a thing is does not "
    "matter. Average precision (AP) is measured on 300 unseen scenes against the true boxes of the sensor.",
    control="The same DETR on the true boxes of the sensor; on the camera's boxes as they are, without projection; "
    "and the camera's own detector on what the sensor sees.",
    criterion="The number is the AP of the taught sensor less that of the camera's own detector on its pictures. "
    "Supported if its interval lies above zero and so does that of what the projection adds. Refuted if either lies "
    "below zero. Otherwise not at this scale.",
    measures="points of AP more than the camera's detector has on the sensor's pictures",
    seeds=3,
)

SIDE, STEPS, LR, BATCH = 48, 400, 3e-3, 32
SURE = 0.7
TAUGHT, STAYED, TOLD, UNTAUGHT = "taught", "without projection", "supervised", "untaught"
ARMS = (TAUGHT, STAYED, TOLD)
BACKBONE = replace(
    RESNETS["resnet-world"], size=SIDE, stem_width=16, widths=(16, 32, 64), classes=0, zero_init=False, pooled=True
)
SIZES = replace(PRESETS["detr-tiny"], size=SIDE, backbone=BACKBONE, width=64, decoder_depth=2, hidden=128, classes=1)


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Average precision of the sensor's detectors, by what taught them."""
    count, asked, steps = (8, 8, 2) if quick else (2000, 300, STEPS)
    camera: Any = colearn.camera_of("world-detr")
    marks, first = colearn.marks(camera, "train", count, SURE), colearn.unlabelled()
    lessons = {
        TAUGHT: taught_detections("infrared", "train", marks, first=first),
        STAYED: taught_detections("infrared", "train", marks, project=False, first=first),
        TOLD: sensed_detections("infrared", "train", count=count, first=first),
    }
    tests = plain(sensed_detections("infrared", "test", count=asked))
    runs = []
    for seed, whole in parts(progress, seeds):
        for arm, inner in parts(whole, ARMS):
            model = learnt(plain(lessons[arm]), seed, steps, inner)
            with torch.no_grad():
                found = detect.score(model, _batches(tests, seed), 1)
            runs.append({"arm": arm, "seed": seed, "ap": found.ap, "ap50": found.ap50})
    found = colearn.untaught(camera, tests)
    return {"runs": runs, UNTAUGHT: {"ap": found.ap, "ap50": found.ap50}, "steps": steps}


def plain(known: Detections) -> Detections:
    """The same things, whose kind does not matter."""

    def marked(index: int) -> Objects:
        found = known.marked(index)
        return found._replace(targets=np.zeros_like(found.targets))

    return Detections(("thing",), known.source, marked, known.names)


def learnt(known: Detections, seed: int, steps: int, progress: Progress) -> DETR:
    """A small DETR that has learnt the boxes of some pictures."""
    torch.manual_seed(seed)
    model, batches = DETR(SIZES), iter(_batches(known, seed))

    def lose(_: int) -> Tensor:
        batch = next(batches)
        return detect.loss(model, batch) / len(batch.rows)

    track(descend(model, lose, steps=steps, lr=LR, weight_decay=1e-4), steps, progress)
    return model


def _batches(known: Detections, seed: int) -> Any:
    recipe = detect.Recipe(size=SIDE, batch_size=BATCH, seed=seed)
    processor = Processor(size=Size(height=SIDE, width=SIDE), image_mean=MEAN, image_std=STD)
    return detect.batches(recipe, processor, known, count=len(known))


def judge(numbers: Numbers) -> Finding:
    first = numbers[UNTAUGHT]["ap"]
    gain = student([each - first for each in _values(numbers, TAUGHT)])
    pairs = list(zip(_values(numbers, TAUGHT), _values(numbers, STAYED), strict=True))
    moved = student([taught - stayed for taught, stayed in pairs])
    means = {arm: student(_values(numbers, arm))[0] for arm in ARMS}
    halves = {arm: student(_values(numbers, arm, "ap50"))[0] for arm in ARMS}
    return Finding(
        verdict(supported=gain[1] > 0 and moved[1] > 0, refuted=gain[2] < 0 or moved[2] < 0),
        gain[0],
        (gain[1], gain[2]),
        f"AP of the sensor's detector: {means[TAUGHT]:.1f} if the camera teaches it, {means[STAYED]:.1f} if its boxes "
        f"are not projected, {means[TOLD]:.1f} if true boxes do, and {first:.1f} of the camera's own detector, "
        f"untaught (at an overlap of a half {halves[TAUGHT]:.1f}, {halves[STAYED]:.1f}, {halves[TOLD]:.1f} and "
        f"{numbers[UNTAUGHT]['ap50']:.1f}). The projection adds {moved[0]:.1f} points ({moved[1]:.1f} to "
        f"{moved[2]:.1f}).",
    )


def draw(numbers: Numbers) -> str:
    marks = []
    for key, label in (("ap", "AP"), ("ap50", "AP at half overlap")):
        found = [student(_values(numbers, arm, key)) for arm in ARMS]
        marks.append(Bars(label, *zip(*found, (numbers[UNTAUGHT][key],) * 3, strict=True)))
    return figure(
        "A sensor for warmth, by what taught it",
        [Panel("", "", "average precision", marks, (*ARMS, UNTAUGHT), bounds=(0, 100))],
        f"{numbers['steps']} steps on pictures of {SIDE} pixels of the world. Whiskers are 95 % intervals over seeds.",
    )


def _values(numbers: Numbers, arm: str, key: str = "ap") -> list[float]:
    return [run[key] for run in numbers["runs"] if run["arm"] == arm]
