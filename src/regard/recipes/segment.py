"""Promptable segmentation: train a SAM by simulated clicks (Kirillov 2023), on the world or on masks of your own.

A mask is chosen, of a thing, of a part or of a group, and clicked on or boxed; the next clicks fall where the answer
is wrong. The card tells the intersection over union by the number of clicks: of the mask that the model would choose,
of the single one, and of the best of the three.

regard train segment
regard train segment --data coco128 --masks thing --size 256 --model sam-world
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.train.plan import Plan, Schedule

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.chance import Chance
    from regard.data import Batches
    from regard.data.masked import Masked
    from regard.train.task import Task
    from regard.vision import Processor

WATCHED = 96  # pictures that are scored on the way; at the end more are
MEASURED = 400
CLICKS = 3  # in a measurement
# What `regard segment --all` keeps: small models are less sure than SAM, and their borders are softer.
EVERYTHING = {"sure": 0.5, "steady": 0.6}
WOBBLE = 0.1  # deviation of a side of a box in training, as a share of the box (§A)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    data: str = "world"
    """The world, a named set with masks (`regard data list`), or a JSON file or folder in the form of COCO."""
    masks: tuple[str, ...] = ("thing", "part", "group")
    """What may be meant: thing, part and group of the world; other data have things alone."""
    model: str = "sam-world"
    """The model, by the name of a preset of sam."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as width=96."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of the attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""
    size: int = 0
    """Side of the pictures in pixels, to which they are squeezed; 0 is what the preset is made for."""
    batch_size: int = 32
    """Pictures in a batch."""
    prompts: int = 4
    """Masks that are asked for of each picture, which is seen once for all of them."""
    rounds: int = 2
    """Prompts for each mask: a click or a box, and then clicks where the answer is wrong."""
    boxes: float = 0.3
    """How many of the batches begin with a box instead of a click."""
    tokens: int = 0
    """Of no use for pictures, which are counted by --batch-size."""
    steps: int = 600
    """Optimizer steps: how many times the weights change."""
    warmup: int = 50
    """Warm-up: steps in which the learning rate rises from zero to its peak."""
    schedule: Schedule = "linear"
    """Learning rate schedule: falls to zero along a cosine or a line, with the inverse root of the step, or not."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019), with an lr of 1e-3 or so; or
    SGD: plain gradient descent with momentum."""
    lr: float = 1e-2
    """Peak learning rate (the optimizer's step size)."""
    weight_decay: float = 1e-2
    """Weight decay: pulls matrices towards zero; vectors have none."""
    evaluate: int = 300
    """Steps between two evaluations on held-out data."""
    save: int = 300
    """Steps between two checkpoints."""
    limit: int = 0
    """Learn from so many pictures; 0 takes all."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "size": (0, 4096),
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
        "prompts": (1, 1000),
        "rounds": (1, 20),
        "boxes": (0, 1),
        "limit": (0, 10**9),
    }


class Shown(NamedTuple):
    """Pictures, the masks that are meant of each, one behind another, and what decides where clicks fall."""

    image: "Tensor"
    targets: "Tensor"  # prompts × height × width
    noise: "Tensor | None"  # prompts × rounds
    boxes: "Tensor | None"  # left, top, right, bottom, where the batch begins with boxes
    rows: "np.ndarray"


def build(recipe: Recipe) -> "Task":
    """A promptable segmenter, scored by the mean intersection over union."""
    import torch

    from regard.data import SETS, DataError
    from regard.layers.mimetic import mimetic
    from regard.recipes import choose
    from regard.recipes.pictured import MEAN, STD
    from regard.train.task import Task
    from regard.vision import Processor, Size

    train, held = (_masked(recipe, split) for split in ("train", "val"))
    if not len(train) or not len(held):
        raise DataError(f"{recipe.data} has {len(train)} pictures to learn from and {len(held)} to watch; give more")
    torch.manual_seed(recipe.seed)
    family = choose.family_of(recipe.model)
    if family.name != "sam":
        raise ValueError(f"{recipe.model} is a {family.name}, which draws no masks; choose a preset of sam")
    eye = family.presets[recipe.model].eye
    size = recipe.size or eye.size
    _, model = choose.build(recipe.model, recipe.set, {"eye": replace(eye, size=size)})
    if recipe.init == "mimetic":
        mimetic(model)
    processor = Processor(size=Size(height=size, width=size), image_mean=MEAN, image_std=STD)
    learnt = batches(recipe, processor, train, count=min(recipe.limit or len(train), len(train)))
    watched = batches(recipe, processor, held, count=min(WATCHED, len(held)))
    card: dict[str, Any] = {
        "title": f"Masks by clicks: sam, {recipe.data}",
        "data": recipe.data,
        "masks": list(recipe.masks),
        **({"everything": EVERYTHING} if recipe.data == "world" else {}),  # measured nowhere else
    }
    return Task(
        model=model,
        family=family,
        processor=processor,
        batches=learnt,
        size=lambda batch: len(batch.targets),
        loss=loss,
        score=lambda model: score(model, watched),
        metric="miou",
        higher_is_better=("miou", "oracle", "single"),
        idle=True,  # a batch begins with clicks or with boxes
        unit="prompts",
        task="segment",
        card=card | ({"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}),
        measure=lambda model: measure(recipe, processor, model),
    )


def _masked(recipe: Recipe, split: str) -> "Masked":
    from regard.data.masked import masked

    return masked(recipe.data, split, recipe.masks)


def batches(recipe: Recipe, processor: "Processor", known: "Masked", *, count: int) -> "Batches[Shown]":
    """Pictures in any order with some of their masks: in training by chance and mirrored, in a measurement the same."""
    import numpy as np
    import torch

    from regard.chance import Chance
    from regard.data import Batches, Order
    from regard.data.contents import contents

    kept: dict[int, tuple[np.ndarray, list[np.ndarray], tuple[int, int]]] = {}

    def open_one(row: int) -> "tuple[np.ndarray, list[np.ndarray], tuple[int, int]]":
        if row not in kept:
            pixels = processor.cut(known.picture(row))
            sides = pixels.shape[0], pixels.shape[1]
            some = [_squeeze(masks, sides) for masks in known.masks(row).values()]
            # A bit for each pixel: thousands of pictures with a dozen masks each lie in memory.
            kept[row] = pixels, [np.packbits(masks, axis=2) for masks in some if len(masks)], sides
        return kept[row]

    def collate(rows: Any, chance: Chance | None) -> Shown:
        dice = chance or Chance(recipe.seed, "measure", int(rows[0]))
        shown, targets = list[np.ndarray](), list[np.ndarray]()
        for row in rows.tolist():
            pixels, packed, sides = open_one(row)
            mirrored = chance is not None and dice.happens(0.5)
            shown.append(pixels[:, ::-1] if mirrored else pixels)
            for _ in range(recipe.prompts):
                mask = _draw(packed, sides, dice)
                targets.append(mask[:, ::-1] if mirrored else mask)
        wanted = torch.from_numpy(np.stack(targets))
        noise, boxes = None, None
        if chance is not None:
            noise = torch.tensor([[dice.uniform() for _ in range(recipe.rounds)] for _ in targets])
            boxes = boxed(wanted, dice) if dice.happens(recipe.boxes) else None
        return Shown(processor.numbers(np.stack(shown)), wanted, noise, boxes, rows)

    names, shown_by = _checksum(known), contents(known.source)
    order = Order([1] * count, room=min(recipe.batch_size, count), seed=recipe.seed, data=names, contents=shown_by)
    return Batches(order, collate)


def _squeeze(masks: "np.ndarray", sides: tuple[int, int]) -> "np.ndarray":
    """Masks in the size of the pictures, without those that vanish in it."""
    import numpy as np
    from PIL import Image

    if masks.shape[1:] != sides:
        height, width = sides
        small = [np.asarray(Image.fromarray(each).resize((width, height))) for each in masks]
        masks = np.stack(small) if small else np.zeros((0, height, width), bool)
    found: np.ndarray = masks[masks.any(axis=(1, 2))]
    return found


def _draw(packed: "list[np.ndarray]", sides: tuple[int, int], dice: "Chance") -> "np.ndarray":
    """One mask of a kind; of a picture in which there is nothing, all of it."""
    import numpy as np

    if not packed:
        return np.ones(sides, bool)
    some = dice.choose(packed)
    return np.unpackbits(some[dice.below(len(some))], axis=1, count=sides[1]).astype(bool)


def boxed(targets: "Tensor", dice: "Chance | None" = None) -> "Tensor":
    """The box around each mask: its first and last pixels; with dice, its sides wobble, as a hand does."""
    import torch

    from regard.vision.dice import normal

    found = []
    for mask in targets:
        rows, columns = mask.any(dim=1).nonzero()[:, 0], mask.any(dim=0).nonzero()[:, 0]
        left, top, right, bottom = (float(each) for each in (columns[0], rows[0], columns[-1], rows[-1]))
        sides = (right - left, bottom - top) * 2
        limits = (mask.shape[1] - 1, mask.shape[0] - 1) * 2
        moved = [WOBBLE * side * normal(dice) if dice is not None else 0.0 for side in sides]
        corners = zip((left, top, right, bottom), moved, limits, strict=True)
        found.append([min(max(place + move, 0.0), float(most)) for place, move, most in corners])
    return torch.tensor(found)


def _checksum(known: "Masked") -> int:
    from zlib import crc32

    return crc32(repr(known.names).encode())


def see(model: "nn.Module", batch: Shown) -> Any:
    """What the model sees of the pictures of a batch, a row for each of its prompts."""
    net: Any = model
    device = next(iter(model.parameters())).device
    seen = net.encode(batch.image.to(device))
    return seen._replace(cells=seen.cells.repeat_interleave(len(batch.targets) // len(batch.image), dim=0))


def loss(model: "nn.Module", batch: Shown) -> "Tensor":
    """The loss of all rounds, summed over prompts."""
    from regard.train.segmentation import converse, segmentation_loss

    seen = see(model, batch)
    device = seen.cells.device
    assert batch.noise is not None
    targets, boxes = batch.targets.to(device), None if batch.boxes is None else batch.boxes.to(device)
    asked = converse(model, seen, targets, rounds=batch.noise.shape[1], noise=batch.noise.to(device), boxes=boxes)
    total: Tensor = sum((segmentation_loss(said, targets).total for said in asked), start=seen.cells.new_zeros(()))
    return total / batch.noise.shape[1] * len(targets)


def score(model: "nn.Module", watched: "Batches[Shown]", clicks: int = 1) -> dict[str, float]:
    """Mean intersection over union in percent, by clicks in the middle: of the chosen, the single and the best mask."""
    import torch

    from regard.train.segmentation import chosen, converse, enlarge, iou

    rows: dict[str, list[Tensor]] = {}
    for batch in watched.once():
        seen = see(model, batch)
        targets = batch.targets.to(seen.cells.device)
        for i, said in enumerate(converse(model, seen, targets, rounds=clicks)):
            real = iou(enlarge(said.masks, targets) > 0, targets[:, None])
            taken = iou(enlarge(chosen(said, clear=i > 0).masks, targets) > 0, targets[:, None])[:, 0]
            after = f" {i + 1} clicks" if i else ""
            for name, value in (("miou", taken), ("single", real[:, 0]), ("oracle", real[:, 1:].max(dim=1).values)):
                rows.setdefault(name + after, []).append(value)
    return {name: 100 * torch.cat(values).mean().item() for name, values in rows.items()}


def measure(recipe: Recipe, processor: "Processor", model: "nn.Module") -> dict[str, Any]:
    """What the card says: by the number of clicks, on the validation data, and on the test where there is one."""
    from regard.data import DataError

    measured: dict[str, Any] = {}
    for split in ("val", "test"):
        try:
            known = _masked(recipe, split)
        except (DataError, ValueError):
            continue
        found = score(model, batches(recipe, processor, known, count=min(MEASURED, len(known))), CLICKS)
        measured |= {f"{split} {name}": round(value, 2) for name, value in found.items()}
    return measured
