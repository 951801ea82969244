"""A contest of small models that see: all of them learn the same pictures of the world in the same order."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import fmean
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor, nn

from regard.chance import Chance
from regard.claims.claim import Numbers, parts, track
from regard.data.painted import portraits
from regard.layers.mimetic import mimetic
from regard.models import resnet, vit
from regard.progress import Progress
from regard.train.muon import Muon
from regard.train.optimizer import matrices
from regard.train.small import count_operations, count_parameters
from regard.vision import erase, flip, mix, one_hot, pad_and_crop
from regard.vision.dice import integers
from regard.world import KINDS, Scene, render_batch

SIDE, BATCH = 32, 64
FAST = 1e-2  # the highest rate of Muon
CLASSES = len(KINDS)  # what kind of thing it is
MINIATURE = 16  # pixels that are enough for it
LEAST = 0.4  # pictures named right, or nothing was learned; a guess is right in 0.125

VIT, RESNET, HYBRID = "ViT", "ResNet", "hybrid"
SIZES = ("small", "medium", "large")
# Of each size about as many operations in all three. A hybrid is a ViT whose tokens come from two convolutions.
_VITS = {"small": (24, 2, 77), "medium": (48, 3, 72), "large": (72, 4, 189)}  # width, depth, hidden
_HYBRIDS = {"small": (24, 2, 42), "medium": (48, 3, 27), "large": (72, 4, 139)}
# The width of the first of three stages, and their depths. Widths are multiples of 8: torch 2.13's convolutions corrupt
# memory for some others on a CPU, as for 5 and 6.
_RESNETS = {"small": (8, (1, 1, 1)), "medium": (16, (1, 1, 1)), "large": (24, (1, 2, 2))}


@dataclass(frozen=True, slots=True, eq=False)
class Sights:
    """Pictures as bytes, and the number of the class of each."""

    pixels: UInt8[np.ndarray, "n h w 3"]
    targets: Int64[np.ndarray, " n"]
    classes: int

    def __len__(self) -> int:
        return len(self.targets)

    def first(self, count: int) -> "Sights":
        """The first of them, which are a sample, since they come in no order."""
        return Sights(self.pixels[:count], self.targets[:count], self.classes)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What varies the pictures of a training and holds its model back; by default nothing does."""

    mirror: bool = False
    move: int = 0  # pixels either way
    mixup: float = 0.0  # the parameter of the law that draws shares
    cutmix: float = 0.0
    erase: float = 0.0  # how often a rectangle of noise is put in
    label_smoothing: float = 0.0
    weight_decay: float = 0.0
    average: float = 0.0  # what a running mean of the weights, which is tested in their place, keeps at a step


USUAL = Recipe(mirror=True, weight_decay=0.05)


def seer(kind: str, size: str = "medium", *, drop_path: float = 0.0, **options: Any) -> nn.Module:
    """A ViT, ResNet or hybrid for miniatures as it begins to learn; attention begins as trained attention looks.

    Options are those of a ViT: its `pool`, `position`, `inject`.
    """
    if kind == RESNET:
        width, depths = _RESNETS[size]
        stages: dict[str, Any] = dict(stem_width=width, widths=(width, 2 * width, 4 * width), depths=depths)
        config = resnet.Config(MINIATURE, stem="fast", block="basic", classes=CLASSES, drop_path=drop_path, **stages)
        return resnet.ResNet(config)
    width, depth, hidden = (_HYBRIDS if kind == HYBRID else _VITS)[size]
    sizes: dict[str, Any] = dict(patch=4, width=width, depth=depth, heads=width // 12, hidden=hidden, classes=CLASSES)
    sizes |= {"stem": "conv" if kind == HYBRID else "patch", "pool": "mean", "drop_path": drop_path} | options
    model = vit.ViT(vit.Config(MINIATURE, **sizes))
    mimetic(model)
    return model


@lru_cache(maxsize=4)
@lru_cache(maxsize=4)
def portrayed(split: str, count: int, side: int = SIDE) -> Sights:
    """Pictures of one thing each, and its kind."""
    shown = portraits(split, count)
    return Sights(painted(shown, side), np.asarray([KINDS.index(scene.things[0].kind) for scene in shown]), CLASSES)


def miniatures(split: str, count: int) -> Sights:
    """Portraits so small that a model learns them in a minute."""
    return portrayed(split, count, MINIATURE)


def painted(shown: Sequence[Scene], side: int = SIDE) -> UInt8[np.ndarray, "n s s 3"]:
    """Pictures of scenes, drawn some at a time, which takes less memory."""
    return np.concatenate([render_batch(shown[i : i + 256], side)["rgb"] for i in range(0, len(shown), 256)])


def teach(
    model: nn.Module, seen: Sights, *, steps: int, seed: int, recipe: Recipe, lr: float = FAST
) -> Iterator[float]:
    """Learn from pictures by Muon, with the rate of `learn`; yields the loss of each step.

    AdamW leaves a ViT of this size at chance for hundreds of steps.
    """

    def lose(step: int) -> Tensor:
        image, targets = _batch(seen, recipe, Chance(seed, "batch", step))
        return F.cross_entropy(model(image), targets)

    mean = {name: value.clone() for name, value in model.state_dict().items()} if recipe.average else {}
    for step, loss in enumerate(descend(model, lose, steps=steps, lr=lr, weight_decay=recipe.weight_decay)):
        _average(mean, model, min(recipe.average, (step + 1) / (step + 10)))
        yield loss
    if mean:
        model.load_state_dict(mean)


def descend(
    model: nn.Module, lose: Callable[[int], Tensor], *, steps: int, lr: float = FAST, weight_decay: float = 0.0
) -> Iterator[float]:
    """Learn by Muon what makes the loss of each step small, and yield it; between steps, the model is in eval mode."""
    optimizer = _optimizer(model, lr, weight_decay)
    warmup = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, max(0.02, (steps - step) / (steps - warmup + 1)))
    )
    for step in range(steps):
        model.train()
        optimizer.zero_grad()
        loss = lose(step)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        model.eval()
        yield loss.item()


@torch.no_grad()
def right(model: nn.Module, seen: Sights) -> Bool[Tensor, " n"]:
    """Which of the pictures are named right."""
    model.eval()
    found = [model(floats(seen.pixels[i : i + 250])).argmax(-1) for i in range(0, len(seen), 250)]
    return torch.cat(found) == torch.from_numpy(seen.targets)


def score(model: nn.Module, seen: Sights) -> float:
    """The share of pictures that are named right."""
    return float(right(model, seen).float().mean())


@torch.no_grad()
def operations(model: nn.Module, side: int = SIDE) -> int:
    """Multiplications and additions for one picture."""
    model.eval()
    return count_operations(lambda: model(torch.zeros(1, 3, side, side)))


def grade(
    make: Callable[[], nn.Module],
    *,
    steps: int,
    seed: int,
    quick: bool,
    progress: Progress,
    recipe: Recipe = USUAL,
    count: int = 10_000,
    lr: float = FAST,
    of: Callable[[str, int], Sights] = portrayed,
) -> dict[str, Any]:
    """Teach a new model so many pictures: its size, and how many of 1,000 unseen are named right."""
    seen, tests = of("train", 16 if quick else 10_000), of("test", 20 if quick else 1000)
    torch.manual_seed(seed)
    model, steps = make(), 2 if quick else steps
    track(teach(model, seen.first(count), steps=steps, seed=seed, recipe=recipe, lr=lr), steps, progress)
    size = {"parameters": count_parameters(model), "operations": operations(model, seen.pixels.shape[1])}
    return {"seed": seed, **size, "accuracy": score(model, tests)}


def compete(
    kinds: Sequence[str],
    make: Callable[[str], nn.Module],
    seeds: Sequence[int],
    *,
    steps: int,
    quick: bool,
    progress: Progress,
    lasting: Callable[[str], float] = lambda _: 1.0,
    of: Callable[[str, int], Sights] = portrayed,
) -> Numbers:
    """How many unseen pictures each kind of model names right, by seed; `lasting` says how much longer one learns."""
    runs = []
    for seed, whole in parts(progress, seeds):
        for kind, inner in parts(whole, kinds):
            length = round(steps * lasting(kind))
            found = grade(partial(make, kind), of=of, steps=length, seed=seed, quick=quick, progress=inner)
            runs.append({"kind": kind, **found})
    return {"runs": runs, "steps": 2 if quick else steps}


def learned(numbers: Numbers, kinds: Sequence[str]) -> bool:
    """Whether the best kind of model in a contest knows the pictures at all."""
    means = [fmean(run["accuracy"] for run in numbers["runs"] if run["kind"] == kind) for kind in kinds]
    return max(means) >= LEAST


def _optimizer(model: nn.Module, lr: float, weight_decay: float) -> Muon:
    """Muon for the matrices of blocks, AdamW for all else, and no decay for vectors."""
    turned, named = matrices(model), dict(model.named_parameters())
    groups: list[dict[str, Any]] = [
        {"params": [one for name, one in named.items() if name in turned], "orthogonal": True},
        {"params": [one for name, one in named.items() if name not in turned and one.ndim > 1]},
        {"params": [one for name, one in named.items() if name not in turned and one.ndim < 2], "weight_decay": 0.0},
    ]
    return Muon([group for group in groups if group["params"]], lr=lr, weight_decay=weight_decay)


def _batch(seen: Sights, recipe: Recipe, chance: Chance) -> tuple[Float[Tensor, "b 3 h w"], Float[Tensor, "b c"]]:
    """Some pictures, varied, and the shares of the classes in each."""
    rows = integers(chance, min(BATCH, len(seen)), len(seen))
    pixels = seen.pixels[rows]
    if recipe.move:
        pixels = pad_and_crop(pixels, chance, recipe.move, mode="reflect")
    if recipe.mirror:
        pixels = flip(pixels, chance)
    if recipe.erase:
        pixels = erase(pixels, chance, recipe.erase)
    targets = one_hot(torch.from_numpy(seen.targets[rows]), seen.classes, recipe.label_smoothing)
    return mix(floats(pixels), targets, chance, mixup_alpha=recipe.mixup, cutmix_alpha=recipe.cutmix)


def floats(pixels: UInt8[np.ndarray, "b h w 3"]) -> Float[Tensor, "b 3 h w"]:
    """Pictures from -1 to 1."""
    return torch.from_numpy(pixels.transpose(0, 3, 1, 2).astype(np.float32)) / 127.5 - 1


@torch.no_grad()
def _average(mean: dict[str, Tensor], model: nn.Module, kept: float) -> None:
    """Move a running mean of weights towards what they are now; numbers that count steps are taken over."""
    for name, value in model.state_dict().items() if mean else ():
        if value.is_floating_point():
            mean[name].lerp_(value, 1 - kept)
        else:
            mean[name].copy_(value)
