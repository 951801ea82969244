"""One click may mean a part, a thing or its group: a single mask has to choose, three may say them all."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, UInt8
from torch import Tensor

from regard.chance import Chance
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.sights import FAST, descend
from regard.layers.mimetic import mimetic
from regard.models import tinyvit
from regard.models.sam import SAM, Config
from regard.progress import Progress
from regard.recipes.segment import boxed
from regard.train.segmentation import enlarge, iou, scattered, segmentation_loss
from regard.world import Scene, View, meant, render, scenes

CLAIM = Claim(
    name="ambiguous",
    deck="Zimmermann, SAM: Segment anything",
    sentence="SAM: Segment anything [Facebook 2023]: a promptable segmenter is ambiguous by nature, and several "
    "masks for one prompt resolve it",
    experiment="A small SAM learns from pictures of the world by Muon. In each, there is a part, a thing and a "
    "group of several things that lie one in another, and each of the three is asked for. In half of the "
    "batches that is done by a click anywhere on the part, in the others by a box around what is meant. Of the "
    "three masks that answer, only the best learns; a fourth, single mask always does. On unseen pictures a "
    "pixel is asked for all three meanings.",
    control="The same model asked by boxes, which say what is meant. If three tries were better than one for any "
    "other reason than ambiguity, the best of three would gain as much there.",
    criterion="The number is by how much the mean intersection over union (IoU) of the best of three masks "
    "exceeds that of the single mask at clicks, less the same at boxes, seed by seed. Supported if its interval "
    "lies above 0.1 and the best of three gains at clicks for each of the three meanings on average. Refuted if "
    "the interval lies below 0.02. Otherwise not at this scale; so it is if the single mask of boxes does not "
    "reach an IoU of 0.4.",
    measures="of IoU is gained by the best of three masks over a single one where a prompt is ambiguous",
    seeds=3,
)

MEANINGS = ("part", "thing", "group")
PROMPTS = ("click", "box")
SIZE, LEARNT = 64, 0.4
_EYE = tinyvit.Config(
    SIZE, widths=(32, 64), depths=(1, 2), heads=(4,), windows=(8,), strides=(2,), classes=0, drop_path=0.0
)
SMALL = Config(_EYE, width=64, heads=4, hidden=128, narrow=1, mask_width=8, iou_hidden=64)


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """A picture, what may be meant at one of its pixels, and the x and y of this pixel."""

    rgb: UInt8[np.ndarray, "h w 3"]
    masks: Bool[np.ndarray, "3 h w"]  # part, thing and group
    pixel: tuple[int, int]


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """The IoU of the single mask and of the best of three, by prompt, meaning and seed."""
    count, asked, steps, batch = (8, 4, 2, 4) if quick else (1500, 300, 300, 32)
    known, tests, runs = list(_asks("train", count)), list(_asks("test", asked)), []
    for seed, inner in parts(progress, seeds):
        torch.manual_seed(seed)
        model = SAM(SMALL)
        mimetic(model)
        lesson = _Lesson(model, known, batch, seed)
        track(descend(model, lesson, steps=steps, lr=FAST), steps, inner)
        runs.append({"seed": seed} | {prompt: _score(model, tests, prompt) for prompt in PROMPTS})
    return {"runs": runs, "asked": asked, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    runs = numbers["runs"]
    number, low, high = student([_gain(run, "click") - _gain(run, "box") for run in runs])
    gained = {
        meaning: fmean(run["click"]["best"][meaning] - run["click"]["single"][meaning] for run in runs)
        for meaning in MEANINGS
    }
    clear = fmean(fmean(run["box"]["single"].values()) for run in runs)
    said = "; ".join(
        f"{prompt}: single {fmean(fmean(run[prompt]['single'].values()) for run in runs):.2f}, best of three "
        f"{fmean(fmean(run[prompt]['best'].values()) for run in runs):.2f}"
        for prompt in PROMPTS
    )
    each = ", ".join(f"{meaning} {value:+.2f}" for meaning, value in gained.items())
    return Finding(
        verdict(
            supported=clear >= LEARNT and low > 0.1 and min(gained.values()) > 0,
            refuted=clear >= LEARNT and high < 0.02,
        ),
        number,
        (low, high),
        f"IoU, {said}. At clicks, the best of three gains by meaning: {each}.",
    )


def draw(numbers: Numbers) -> str:
    panels = []
    for prompt in PROMPTS:
        marks = []
        for way, label in (("single", "single mask"), ("best", "best of three")):
            values = zip(
                *(student([run[prompt][way][meaning] for run in numbers["runs"]]) for meaning in MEANINGS), strict=True
            )
            marks.append(Bars(label, *values))
        panels.append(Panel(f"asked by a {prompt}", "what is meant", "IoU", marks, MEANINGS, bounds=(0, 1)))
    return figure(
        "One click, three meanings",
        panels,
        f"A small SAM after {numbers['steps']} steps; {numbers['asked']} unseen pictures, at a pixel of each of which "
        "a part, a thing and a group lie one in another. Whiskers are 95 % intervals over seeds.",
    )


class _Lesson:
    """The loss of a step: all meanings of some pictures, by clicks or by boxes."""

    def __init__(self, model: SAM, known: list[Ask], batch: int, seed: int) -> None:
        self.model, self.known, self.batch, self.seed = model, known, batch, seed

    def __call__(self, step: int) -> Tensor:
        chance = Chance(self.seed, "ambiguous", step)
        some = [chance.choose(self.known) for _ in range(self.batch)]
        masks = torch.from_numpy(np.stack([one.masks for one in some]))
        seen, targets = self.model.encode(_images(some)), masks.flatten(0, 1)
        seen = seen._replace(cells=seen.cells.repeat_interleave(len(MEANINGS), dim=0))
        if chance.happens(0.5):
            said = self.model.prompt(seen, boxes=boxed(targets, chance))
        else:
            # Anywhere in the part, which lies in all that may be meant.
            inner = masks[:, 0].repeat_interleave(len(MEANINGS), dim=0)
            noise = torch.tensor([chance.uniform() for _ in targets])
            points = scattered(inner, noise)[:, None].float()
            said = self.model.prompt(seen, points, torch.ones(len(targets), 1, dtype=torch.long))
        return segmentation_loss(said, targets).total


@torch.inference_mode()
def _score(model: SAM, tests: list[Ask], prompt: str) -> dict[str, dict[str, float]]:
    """The mean IoU of the single mask and of the best of three, for each meaning."""
    seen = model.encode(_images(tests))
    found: dict[str, dict[str, float]] = {"single": {}, "best": {}}
    for i, meaning in enumerate(MEANINGS):
        targets = torch.from_numpy(np.stack([one.masks[i] for one in tests]))
        given: dict[str, Any] = {"boxes": boxed(targets)}
        if prompt == "click":
            points = torch.tensor([[one.pixel] for one in tests], dtype=torch.float32)
            given = {"points": points, "labels": torch.ones(len(tests), 1, dtype=torch.long)}
        real = iou(enlarge(model.prompt(seen, **given).masks, targets) > 0, targets[:, None])
        found["single"][meaning] = real[:, 0].mean().item()
        found["best"][meaning] = real[:, 1:].max(dim=1).values.mean().item()
    return found


def _gain(run: Numbers, prompt: str) -> float:
    return fmean(run[prompt]["best"][meaning] - run[prompt]["single"][meaning] for meaning in MEANINGS)


def _images(some: list[Ask]) -> Tensor:
    pixels = torch.from_numpy(np.stack([one.rgb for one in some]))
    return pixels.permute(0, 3, 1, 2).float() / 127.5 - 1


def _asks(split: str, count: int) -> Iterator[Ask]:
    """Pictures with a pixel at which a part, a thing and a group of more than this thing lie one in another."""
    view: View[Scene] = scenes(split=split, things=(3, 6))
    number = found = 0
    while found < count:
        picture, chance = render(view[number], SIZE), Chance(0, "pixel", number)
        number += 1
        rows, columns = np.nonzero(picture.instance >= 0)
        if not len(rows):
            continue
        place = chance.below(len(rows))
        row, column = int(rows[place]), int(columns[place])
        told = meant(picture, row, column)
        if told is None or not _nested(told.part, told.thing, told.group):
            continue
        found += 1
        yield Ask(picture.rgb, np.stack((told.part, told.thing, told.group)), (column, row))


def _nested(part: np.ndarray, thing: np.ndarray, group: np.ndarray) -> bool:
    """Whether the three are clearly different, and the smallest large enough to be seen."""
    sizes = part.sum(), thing.sum(), group.sum()
    return bool(sizes[0] >= 12 and sizes[0] < 0.7 * sizes[1] and sizes[1] < 0.8 * sizes[2])
