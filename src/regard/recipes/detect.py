"""Object detection: train a DETR on boxes (Carion 2020), of the world or of annotations in the form of COCO.

The card of the model tells COCO's average precision by its own scorer. It needs scipy and pycocotools: the extra
`vision`.

regard train detect
regard train detect --data my-boxes.json --size 256
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.train.plan import Plan

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.analysis.detection import Precision
    from regard.data import Batches
    from regard.data.annotated import Detections
    from regard.train import detection
    from regard.train.task import Task
    from regard.vision import Processor

WATCHED = 200  # pictures that are scored on the way; at the end all are


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    data: str = "world"
    """The world, a named set with boxes (`regard data list`), or a JSON file or folder in the form of COCO."""
    model: str = "detr-tiny"
    """The model, by the name of a preset of detr."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as queries=20 depth=4."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of the attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""
    size: int = 96
    """Side of the pictures in pixels; they are squeezed to squares."""
    batch_size: int = 32
    """Pictures in a batch."""
    tokens: int = 0
    """Of no use for pictures, which are counted by --batch-size."""
    steps: int = 3000
    """Optimizer steps: how many times the weights change."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019), with an lr of 1e-4 or so; or
    SGD: plain gradient descent with momentum."""
    lr: float = 2e-3
    """Peak learning rate (the optimizer's step size)."""
    weight_decay: float = 1e-4
    """Weight decay: pulls matrices towards zero; vectors have none."""
    grad_clip: float = 1.0
    """Gradient clipping: the largest norm of all gradients together; 0 does not clip."""
    limit: int = 0
    """Learn from so many pictures; 0 takes all."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "size": (16, 10**4),
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
        "limit": (0, 10**9),
    }


class Shown(NamedTuple):
    """A batch of pictures, and what is in each."""

    image: "Tensor"
    targets: "list[detection.Objects]"
    rows: "np.ndarray"


def build(recipe: Recipe) -> "Task":
    """A detector, scored by average precision."""
    import torch

    from regard.data import SETS, DataError
    from regard.data.pictures import detections
    from regard.layers.mimetic import mimetic
    from regard.recipes import choose
    from regard.recipes.pictured import MEAN, STD
    from regard.train.task import Task
    from regard.vision import Processor, Size

    train, held = (detections(recipe.data, split) for split in ("train", "val"))
    if not len(train) or not len(held):
        raise DataError(f"{recipe.data} has {len(train)} pictures to learn from and {len(held)} to watch; give more")
    torch.manual_seed(recipe.seed)
    decided = {"classes": len(train.labels), "size": recipe.size}
    family, model = choose.build(recipe.model, recipe.set, decided)
    if family.name != "detr":
        raise ValueError(f"{recipe.model} is a {family.name}, which finds no boxes; choose a preset of detr")
    if recipe.init == "mimetic":
        mimetic(model)
    processor = Processor(size=Size(height=recipe.size, width=recipe.size), image_mean=MEAN, image_std=STD)
    learnt = batches(recipe, processor, train, count=recipe.limit or len(train))
    watched = batches(recipe, processor, held, count=min(WATCHED, len(held)))
    card: dict[str, Any] = {
        "title": f"What is where in pictures: detr, {recipe.data}",
        "data": recipe.data,
        "labels": list(train.labels),
    }
    return Task(
        model=model,
        family=family,
        processor=processor,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=loss,
        score=lambda model: told(score(model, watched, len(train.labels))),
        metric="ap",
        higher_is_better=("ap", "ap50"),
        unit="pictures",
        task="detect",
        card=card | ({"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}),
        measure=lambda model: measure(recipe, processor, model),
    )


def batches(recipe: Recipe, processor: "Processor", known: "Detections", *, count: int) -> "Batches[Shown]":
    """Pictures in any order, in training mirrored by chance, with boxes as shares of their sides."""
    import numpy as np
    import torch

    from regard.chance import Chance
    from regard.data import Batches, Order
    from regard.data.contents import contents
    from regard.train.detection import Objects
    from regard.vision.boxes import to_centres

    kept: dict[int, tuple[np.ndarray, Objects]] = {}

    def open_one(row: int) -> "tuple[np.ndarray, Objects]":
        if row not in kept:
            picture, marked = known[row]
            plain = ~marked.crowd
            sides = torch.tensor([picture.width, picture.height] * 2, dtype=torch.float32)
            boxes = to_centres(torch.from_numpy(marked.boxes[plain]) / sides)
            kept[row] = processor.cut(picture), Objects(torch.from_numpy(marked.targets[plain]), boxes)
        return kept[row]

    def collate(rows: Any, chance: Chance | None) -> Shown:
        opened = [open_one(row) for row in rows.tolist()]
        pixels = np.stack([pixels for pixels, _ in opened])
        targets = [objects for _, objects in opened]
        if chance is not None:
            for i in range(len(rows)):
                if chance.happens(0.5):
                    pixels[i] = pixels[i, :, ::-1].copy()
                    mirrored = targets[i].boxes.clone()
                    mirrored[:, 0] = 1 - mirrored[:, 0]
                    targets[i] = Objects(targets[i].classes, mirrored)
        return Shown(processor.numbers(pixels), targets, rows)

    names, shown = _checksum(known), contents(known.source)
    order = Order([1] * count, room=min(recipe.batch_size, count), seed=recipe.seed, data=names, contents=shown)
    return Batches(order, collate)


def _checksum(known: "Detections") -> int:
    from zlib import crc32

    return crc32(repr((known.labels, known.names)).encode())


def loss(model: "nn.Module", batch: Shown) -> "Tensor":
    """The loss of the set of each picture, summed over pictures."""
    from regard.train.detection import detection_loss

    device = next(iter(model.parameters())).device
    found = detection_loss(model(batch.image.to(device)), batch.targets)
    return found.total * len(batch.rows)


def score(model: "nn.Module", watched: "Batches[Shown]", classes: int) -> "Precision":
    """Average precision, in units of one side of the squares that pictures are squeezed to."""
    from regard.analysis.detection import Marked, average_precision
    from regard.vision.boxes import to_corners

    found, truth = list[Marked](), list[Marked]()
    for batch in watched.once():
        device = next(iter(model.parameters())).device
        said = model(batch.image.to(device))
        scores, kinds = said.logits.float().softmax(-1)[..., :-1].max(dim=-1)
        side = batch.image.shape[-1]
        for i, target in enumerate(batch.targets):
            corners = (to_corners(said.boxes[i].float()) * side).cpu().numpy()
            found.append(Marked(corners, kinds[i].cpu().numpy(), scores[i].cpu().numpy()))
            truth.append(Marked((to_corners(target.boxes) * side).numpy(), target.classes.numpy()))
    return average_precision(found, truth, classes)


def told(found: "Precision") -> dict[str, float]:
    return {"ap": found.ap, "ap50": found.ap50}


def measure(recipe: Recipe, processor: "Processor", model: "nn.Module") -> dict[str, Any]:
    """What the card says: average precision on all of the validation data, and of the test, where there is one."""
    from regard.data import DataError
    from regard.data.pictures import detections

    measured: dict[str, Any] = {}
    for split in ("val", "test"):
        try:
            known = detections(recipe.data, split)
        except (DataError, ValueError):
            continue
        found = score(model, batches(recipe, processor, known, count=len(known)), len(known.labels))
        measured |= {f"{split} {name}": round(value, 2) for name, value in told(found).items()}
        measured["signature"] = found.signature
    return measured
