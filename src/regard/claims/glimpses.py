"""Small DINOs on pictures of the world with one big thing each, and where their [CLS] looks."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, UInt8
from torch import Tensor, nn

from regard.analysis.seeing.heads import most
from regard.attention import record
from regard.chance import Chance
from regard.claims.claim import track
from regard.claims.sights import Sights, descend, floats, portrayed
from regard.data.painted import portraits
from regard.layers.mimetic import mimetic
from regard.layers.vision import VisionModel
from regard.models import vit
from regard.models.dino import (
    DINO,
    TEMPERATURE,
    Config,
    Meters,
    disagreement,
    meters,
    sharpen,
    teacher_momentum,
)
from regard.progress import Progress
from regard.vision.dice import integers
from regard.vision.parts import part_crops, recolour
from regard.world import render_batch

SIDE, PATCH, SMALL, OUTPUTS = 24, 4, 12, 128
EYE = vit.Config(SIDE, patch=PATCH, width=48, depth=3, heads=4, hidden=96, classes=0)
# With few steps a teacher has to follow faster than the paper's, the centre faster still, and differences between
# pictures that are small at first have to be made more of.
SHARP = 0.015  # the temperature of the teacher
FIRST = 0.99  # what the teacher keeps of itself at first
CENTRE = 0.7  # what the centre keeps of itself
CROPS, LARGE, LITTLE = 2, (0.4, 1.0), (0.1, 0.4)  # small crops, and the shares of a picture that both kinds show
COLOURS = 0.5
BATCH = 32
STEPS = 600
LR = 3e-3
WATCHED = 300  # of the test, on which the settings above were tried: nothing is judged by them


def eye(seed: int) -> vit.ViT:
    """A ViT as it begins to learn."""
    torch.manual_seed(seed)
    model = vit.ViT(EYE)
    mimetic(model)
    return model


def pair(seed: int) -> DINO:
    """A student and its teacher, both with that ViT."""
    torch.manual_seed(seed)
    model = DINO(Config(tower=EYE, small=SMALL, hidden=96, bottleneck=32, outputs=OUTPUTS))
    model.student.tower.load_state_dict(eye(seed).state_dict())
    model.follow(0.0)
    return model


def views(pixels: UInt8[np.ndarray, "b h w 3"], chance: Chance) -> tuple[Tensor, Tensor]:
    """Two large crops of each picture and some small ones, from -1 to 1."""
    found = []
    for size, count, scale in ((SIDE, 2, LARGE), (SMALL, CROPS, LITTLE)):
        parts = part_crops(pixels, chance, size=size, count=count, scale=scale)
        found.append(2 * torch.unflatten(recolour(parts.flatten(0, 1), chance, COLOURS), 0, parts.shape[:2]) - 1)
    return found[0], found[1]


def agree(
    model: DINO, seen: Sights, *, seed: int, steps: int, centre: bool = True, sharp: bool = True
) -> Iterator[float]:
    """Teach a student to agree with its teacher, with centring and sharpening or without; yields the losses."""

    def lose(step: int) -> Tensor:
        chance = Chance(seed, "glimpse", step)
        if step:  # what the step before has made of the student
            model.follow(teacher_momentum(step, steps, FIRST))
        rows = integers(chance, min(BATCH, len(seen)), len(seen))
        said = model(*views(seen.pixels[rows], chance), hold=step < steps // 10)
        taught = sharpen(said.teacher, model.centre if centre else None, SHARP if sharp else TEMPERATURE)
        model.move_centre(said.teacher.mean(dim=(0, 1)), CENTRE)
        return disagreement(said.student, taught).mean()

    yield from descend(model, lose, steps=steps, lr=LR, weight_decay=0.05)


def told(seen: Sights, seed: int, steps: int, progress: Progress) -> vit.ViT:
    """A twin that is told the kind of thing in the same large crops, in the same order."""
    twin = eye(seed)
    model = nn.Sequential(twin, nn.Linear(EYE.width, seen.classes))
    targets = torch.from_numpy(seen.targets)

    def lose(step: int) -> Tensor:
        chance = Chance(seed, "glimpse", step)
        rows = integers(chance, min(BATCH, len(seen)), len(seen))
        large, _ = views(seen.pixels[rows], chance)
        return F.cross_entropy(model(large.flatten(0, 1)), targets[rows].repeat_interleave(large.shape[1]))

    track(descend(model, lose, steps=steps, lr=LR, weight_decay=0.05), steps, progress)
    return twin


@torch.no_grad()
def gauge(model: DINO, seen: Sights, *, centre: bool = True, sharp: bool = True) -> Meters:
    """How far a teacher is from collapse on crops that are always the same."""
    said = model(*views(seen.pixels, Chance(0, "gauge")))
    taught = sharpen(said.teacher, model.centre if centre else None, SHARP if sharp else TEMPERATURE)
    return meters(said.student, taught)


@lru_cache(maxsize=2)
def outlined(split: str, count: int, first: int = 0) -> tuple[Sights, Bool[np.ndarray, "n s s"]]:
    """Portraits, and which pixels the thing covers; the `first` so many are left out."""
    known = portrayed(split, first + count, SIDE)
    instance = render_batch(portraits(split, first + count)[first:], SIDE, outputs=("instance",))["instance"]
    return replace(known, pixels=known.pixels[first:], targets=known.targets[first:]), instance >= 0


@torch.no_grad()
def attention_masks(model: VisionModel, pixels: UInt8[np.ndarray, "n s s 3"]) -> Bool[np.ndarray, "n h s s"]:
    """Where [CLS] looks in the last block: for each head, the cells that hold most of its attention, as pixels."""
    with record(model) as trace:
        model(floats(pixels))
    weights = trace.weights(list(trace.names)[-1])[:, :, 0, len(model.leading) :]
    kept = most(weights / weights.sum(dim=-1, keepdim=True))
    grid = SIDE // PATCH
    cells = kept.unflatten(-1, (grid, grid)).repeat_interleave(PATCH, dim=-2).repeat_interleave(PATCH, dim=-1)
    found: np.ndarray = cells.numpy()
    return found


@torch.no_grad()
def look(model: VisionModel, seen: Sights) -> Float[np.ndarray, "n w"]:
    """The vectors of pictures."""
    model.eval()
    found: np.ndarray = torch.cat([model(floats(seen.pixels[i : i + 250])) for i in range(0, len(seen), 250)]).numpy()
    return found
