"""LUPI: a teacher that sees more than its student, and what the student gains, by number of labels."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from regard.chance import Chance
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.claims.sights import CLASSES, MINIATURE, descend
from regard.data.painted import portraits
from regard.data.privileged import with_planes
from regard.models import resnet
from regard.progress import Progress
from regard.vision import flip, one_hot
from regard.vision.dice import integers
from regard.world import KINDS

CLAIM = Claim(
    name="privileged",
    deck="Zimmermann, LUPI: learning using privileged information",
    sentence="Train teacher on easier task with the access to privileged information. Use teacher to classify "
    "unannotated data. Train student on teacher's outputs on not annotated data.",
    experiment="ResNets learn to name the one thing in pictures of the world of 16 pixels from 50, 150 or 500 labels. "
    "The teacher sees the mask of the thing beside the picture, and answers for 4,000 pictures that have no label. "
    "A student that sees pictures alone learns these answers beside the labels, and is asked 1,000 unseen pictures.",
    control="The same network on the labels alone; a student of that one, which saw nothing privileged, on the same "
    "4,000 pictures; and a student of a teacher whose masks are those of other pictures.",
    criterion="The number is how many points more of the unseen pictures the student of the privileged teacher names "
    "right than the student of the teacher without privilege, in the mean over numbers of labels. Supported if its "
    "interval lies above zero and so does that of the gain over the student alone. Refuted if either lies below zero. "
    "Otherwise not at this scale.",
    measures="more points of accuracy than a teacher without privilege teaches",
    seeds=3,
)

LABELS = (50, 150, 500)
ALONE, TAUGHT, PLAIN, SHUFFLED = "alone", "privileged teacher", "plain teacher", "shuffled masks"
STUDENTS = (TAUGHT, PLAIN, SHUFFLED, ALONE)
STEPS, BATCH, LR = 500, 64, 1e-2


class Seen(NamedTuple):
    """Pictures with the mask behind the colours, and the kind of the thing in each."""

    pixels: UInt8[np.ndarray, "n s s 4"]
    targets: Int64[np.ndarray, " n"]


@lru_cache(maxsize=4)
def masked(split: str, count: int) -> Seen:
    """Portraits with masks."""
    shown = portraits(split, count)
    kinds = np.asarray([KINDS.index(scene.things[0].kind) for scene in shown])
    return Seen(with_planes(shown, MINIATURE, "mask"), kinds)


def shuffled(pixels: UInt8[np.ndarray, "n s s 4"]) -> UInt8[np.ndarray, "n s s 4"]:
    """The same pictures, each with the mask of another."""
    found = pixels.copy()
    found[..., 3] = np.roll(pixels[..., 3], 1, axis=0)
    return found


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many unseen pictures are named right, by teacher and number of labels."""
    known, tests = masked("train", 40 if quick else 4500), masked("test", 20 if quick else 1000)
    steps, runs = 2 if quick else STEPS, []
    for seed, whole in parts(progress, seeds):
        for labels, part in parts(whole, (10, 20) if quick else LABELS):
            runs.append({"seed": seed, "labels": labels} | _lessons(known, tests, labels, seed, steps, part))
    return {"runs": runs, "steps": steps}


def _lessons(known: Seen, tests: Seen, labels: int, seed: int, steps: int, progress: Progress) -> dict[str, Any]:
    """The accuracies of all students and teachers with so many labels."""
    real = one_hot(torch.from_numpy(known.targets), CLASSES)
    strange = shuffled(known.pixels)
    sights = {PLAIN: known.pixels[..., :3], TAUGHT: known.pixels, SHUFFLED: strange}
    asked = {PLAIN: tests.pixels[..., :3], TAUGHT: tests.pixels, SHUFFLED: shuffled(tests.pixels)}
    students, teachers = dict[str, float](), dict[str, float]()
    for arm, part in parts(progress, tuple(sights)):
        both = iter(parts(part, (0, 1)))
        teacher = taught(sights[arm][:labels], real[:labels], seed, steps, next(both)[1])
        teachers[arm] = score(teacher, asked[arm], tests.targets)
        targets = torch.cat((real[:labels], answers(teacher, sights[arm][labels:]).softmax(dim=-1)))
        pupil = taught(sights[PLAIN], targets, seed, steps, next(both)[1])
        students[arm] = score(pupil, asked[PLAIN], tests.targets)
    return {"students": students | {ALONE: teachers[PLAIN]}, "teachers": teachers}


def taught(
    pixels: UInt8[np.ndarray, "n s s c"], targets: Float[Tensor, "n k"], seed: int, steps: int, progress: Progress
) -> resnet.ResNet:
    """A fresh network that has learnt what is to be said of some pictures."""
    torch.manual_seed(seed)
    sizes = resnet.Config(
        MINIATURE, pixels.shape[-1], "fast", 16, "basic", (16, 32, 64), (1, 1, 1), classes=CLASSES, zero_init=False
    )
    model = resnet.ResNet(sizes)
    track(descend(model, _loss(model, pixels, targets, seed), steps=steps, lr=LR, weight_decay=0.05), steps, progress)
    return model


def _loss(
    model: resnet.ResNet, pixels: UInt8[np.ndarray, "n s s c"], targets: Float[Tensor, "n k"], seed: int
) -> Callable[[int], Tensor]:
    def lose(step: int) -> Tensor:
        chance = Chance(seed, "privileged", step)
        rows = integers(chance, BATCH, len(pixels))
        return F.cross_entropy(model(_floats(flip(pixels[rows], chance))), targets[rows])

    return lose


@torch.no_grad()
def answers(model: resnet.ResNet, pixels: UInt8[np.ndarray, "n s s c"]) -> Float[Tensor, "n k"]:
    """What a network says of pictures."""
    return torch.cat([model(_floats(pixels[i : i + 500])) for i in range(0, len(pixels), 500)])


def score(model: resnet.ResNet, pixels: UInt8[np.ndarray, "n s s c"], targets: Int64[np.ndarray, " n"]) -> float:
    """The share that is named right."""
    return float((answers(model, pixels).argmax(dim=-1) == torch.from_numpy(targets)).float().mean())


def judge(numbers: Numbers) -> Finding:
    gain, over = _gain(numbers, PLAIN), _gain(numbers, ALONE)
    strange = _gain(numbers, SHUFFLED)
    told = "; ".join(
        f"with {labels} labels "
        + ", ".join(f"{arm} {student(_values(numbers, 'students', arm, labels))[0]:.1%}" for arm in STUDENTS)
        for labels in _labels(numbers)
    )
    seen = ", ".join(f"{student(_values(numbers, 'teachers', TAUGHT, each))[0]:.1%}" for each in _labels(numbers))
    return Finding(
        verdict(supported=gain[1] > 0 and over[1] > 0, refuted=gain[2] < 0 or over[2] < 0),
        gain[0],
        (gain[1], gain[2]),
        f"Unseen pictures that are named right by students: {told}. The privileged teacher, which sees masks in the "
        f"test too, names {seen} right. Over the student alone, privilege brings {over[0]:.1f} points ({over[1]:.1f} "
        f"to {over[2]:.1f}); over a teacher with the masks of other pictures, {strange[0]:.1f} ({strange[1]:.1f} to "
        f"{strange[2]:.1f}).",
    )


def draw(numbers: Numbers) -> str:
    labels = _labels(numbers)
    lines = []
    for arm in STUDENTS:
        found = [student(_values(numbers, "students", arm, each)) for each in labels]
        lines.append(Line(arm, labels, *zip(*found, strict=True), dashed=arm == ALONE))
    return figure(
        "What a student gains by who teaches it",
        [Panel("", "labelled pictures", "unseen pictures named right", lines, log="x", bounds=(0, 1))],
        f"{numbers['steps']} steps each, on pictures of {MINIATURE} pixels. Bands are 95 % intervals over seeds.",
    )


def _gain(numbers: Numbers, over: str) -> tuple[float, float, float]:
    """Points that the privileged teacher's student has more than another, in the mean over numbers of labels."""
    seeds = sorted({run["seed"] for run in numbers["runs"]})
    found = []
    for seed in seeds:
        mine = [run["students"] for run in numbers["runs"] if run["seed"] == seed]
        found.append(100 * sum(each[TAUGHT] - each[over] for each in mine) / len(mine))
    return student(found)


def _labels(numbers: Numbers) -> list[int]:
    return sorted({run["labels"] for run in numbers["runs"]})


def _values(numbers: Numbers, who: str, arm: str, labels: int) -> list[float]:
    return [run[who][arm] for run in numbers["runs"] if run["labels"] == labels]


def _floats(pixels: UInt8[np.ndarray, "b h w c"]) -> Float[Tensor, "b c h w"]:
    """Bytes from -1 to 1."""
    return torch.from_numpy(pixels.transpose(0, 3, 1, 2).astype(np.float32)) / 127.5 - 1
