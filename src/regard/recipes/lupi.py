"""Learning using privileged information (LUPI, Vapnik 2009): a teacher that sees more, and a student on what it says.

On a few labelled pictures of the world a teacher learns of which kind the largest thing is, and is shown its mask or
all depths beside them. Then it answers for pictures without a label, of which it sees as much, and a student that sees
pictures alone learns the answers. Without either flag, the student learns from the labels alone: what both are compared
with.

regard train lupi --labels 300 --privileged mask --out runs/teacher
regard train lupi --labels 300 --teacher runs/teacher --out runs/student
regard train lupi --labels 300 --out runs/alone
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.train.plan import Plan, Schedule

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.data import Batches
    from regard.data.privileged import Privilege
    from regard.hub import Checkpoint
    from regard.train.task import Task
    from regard.vision import Processor


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    privileged: Literal["none", "mask", "depth", "both"] = "none"
    """What the model sees beside a picture, which makes it a teacher: a mask of the largest thing, depths, or both."""
    teacher: str = ""
    """A model that this recipe has trained: its answers for pictures without a label are what the student learns."""
    labels: int = 300
    """How many labelled pictures there are; teacher and student have the same ones."""
    pictures: int = 6000
    """How many more pictures a teacher answers for."""
    temperature: float = 1.0
    """Divides the teacher's logits: above 1 its answers are softer (Hinton 2015; Lopez-Paz 2016)."""
    model: str = "resnet-world"
    """The model, by the name of a preset that classifies pictures."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as depths=2,2,2."""
    size: int = 48
    """Side of the pictures in pixels."""
    batch_size: int = 64
    """Pictures in a batch."""
    tokens: int = 0
    """Of no use for pictures, which are counted by --batch-size."""
    steps: int = 1000
    """Optimizer steps: how many times the weights change."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019); or SGD with momentum."""
    lr: float = 1e-2
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 50
    """Warm-up: steps in which the learning rate rises from zero to its peak."""
    schedule: Schedule = "linear"
    """Learning rate schedule: falls to zero along a cosine or a line, with the inverse root of the step, or not."""
    weight_decay: float = 0.05
    """Weight decay: pulls matrices towards zero; vectors have none."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "labels": (1, 10**6),
        "pictures": (1, 10**6),
        "temperature": (1e-3, 1e3),
        "size": (16, 10**4),
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
    }


class Shown(NamedTuple):
    """A batch of pictures with whatever planes the model may see, and the chances of the classes of each."""

    image: "Tensor"
    targets: "Tensor"
    rows: "np.ndarray"


class Lesson(NamedTuple):
    """Pictures as bytes with their planes, and what is to be said of each."""

    pixels: "np.ndarray"  # n h w c
    targets: "Tensor"  # n k


def build(recipe: Recipe) -> "Task":
    """A teacher, a student of one, or one alone; scored by accuracy."""
    import torch

    from regard.data import DataError
    from regard.data.painted import COUNTS
    from regard.data.privileged import PLANES, privileged_pictures
    from regard.recipes import choose, pictured
    from regard.train.task import Task
    from regard.vision import Processor, Size, one_hot

    if recipe.teacher and recipe.privileged != "none":
        raise ValueError("a student sees pictures alone; leave --privileged out, or --teacher")
    if not recipe.teacher:
        choose.refuse(recipe, ("temperature", "pictures"), "without a --teacher")
    if recipe.labels > COUNTS["train"]:
        raise DataError(f"the world has {COUNTS['train']:,} pictures to learn from, and not {recipe.labels:,}")
    torch.manual_seed(recipe.seed)
    processor = Processor(
        size=Size(height=recipe.size, width=recipe.size), image_mean=pictured.MEAN, image_std=pictured.STD
    )
    more = recipe.pictures if recipe.teacher else 0
    count = min(recipe.labels + more, COUNTS["train"])
    known, pixels = privileged_pictures("train", recipe.size, recipe.privileged, count)
    held, unseen = privileged_pictures("val", recipe.size, recipe.privileged)
    classes = len(known.labels)
    decided = {"classes": classes, "size": recipe.size, "channels": 3 + PLANES[recipe.privileged]}
    family = choose.family_of(recipe.model)
    pictured.check(family, recipe.model)
    _, model = choose.build(recipe.model, recipe.set, decided)
    targets = one_hot(torch.from_numpy(known.targets[:count]), classes)
    teacher = teacher_of(recipe, known.labels) if recipe.teacher else None
    if teacher is not None:
        targets[recipe.labels :] = ask(recipe, teacher, processor, count)
    learnt = batches(recipe, processor, Lesson(pixels, targets))
    watched = batches(recipe, processor, Lesson(unseen, one_hot(torch.from_numpy(held.targets), classes)))
    card: dict[str, Any] = {
        "title": f"The kind of the largest thing: {family.name}, {called(recipe)}",
        "data": "world",
        "labels": list(known.labels),
        "privileged": recipe.privileged,
    }
    return Task(
        model=model,
        family=family,
        processor=processor,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=loss,
        teacher=None if teacher is None else teacher.model,
        score=lambda model: {"accuracy": 100 * sum(right := answers(model, watched)) / len(right)},
        metric="accuracy",
        higher_is_better=("accuracy",),
        unit="pictures",
        # Nobody else shows a model what is privileged.
        task="recognize" if recipe.privileged == "none" else "",
        card=card,
        measure=lambda model: measure(recipe, processor, model),
        dtype="float32",
    )


def called(recipe: Recipe) -> str:
    """What a model of this recipe is."""
    if recipe.teacher:
        return f"a student beside {recipe.labels} labels"
    seen = "" if recipe.privileged == "none" else f" and {recipe.privileged} privileged"
    return f"{recipe.labels} labels{seen}"


def teacher_of(recipe: Recipe, labels: tuple[str, ...]) -> "Checkpoint":
    """A model that this recipe has trained, whose card says what it sees."""
    from regard.hub import load

    found = load(recipe.teacher)
    if "privileged" not in found.card or list(found.card.get("labels") or ()) != list(labels):
        raise ValueError(
            f"{recipe.teacher} is no teacher of this recipe; train one by regard train lupi --privileged mask"
        )
    found.model.eval().requires_grad_(False)
    return found


def ask(recipe: Recipe, teacher: "Checkpoint", processor: "Processor", count: int) -> "Tensor":
    """What the teacher says of the pictures behind the labelled ones, of which it sees all that it is used to."""
    import torch

    from regard.data.privileged import privileged_pictures

    sees: Privilege = teacher.card["privileged"]
    _, pixels = privileged_pictures("train", recipe.size, sees, count)
    with torch.inference_mode():
        said = [
            (teacher.model(numbers(processor, pixels[i : i + 256])).float() / recipe.temperature).softmax(dim=-1)
            for i in range(recipe.labels, count, 256)
        ]
    return torch.cat(said).clone()


def numbers(processor: "Processor", pixels: "np.ndarray") -> "Tensor":
    """Pictures as models read them; the planes behind the colours run from -1 to 1."""
    import torch

    planes = torch.from_numpy(pixels[..., 3:].transpose(0, 3, 1, 2).copy()).float() / 127.5 - 1
    return torch.cat((processor.numbers(pixels[..., :3]), planes), dim=1)


def batches(recipe: Recipe, processor: "Processor", lesson: Lesson) -> "Batches[Shown]":
    """Pictures in any order, in training mirrored and moved by chance."""
    from zlib import crc32

    from regard.chance import Chance
    from regard.data import Batches, Order
    from regard.vision import flip, pad_and_crop

    def collate(rows: Any, chance: Chance | None) -> Shown:
        pixels = lesson.pixels[rows]
        if chance is not None:
            pixels = flip(pad_and_crop(pixels, chance, max(1, recipe.size // 8), mode="reflect"), chance)
        return Shown(numbers(processor, pixels), lesson.targets[rows], rows)

    count = len(lesson.pixels)
    order = Order(
        [1] * count, room=min(recipe.batch_size, count), seed=recipe.seed, data=crc32(lesson.pixels[:64].tobytes())
    )
    return Batches(order, collate)


def loss(model: "nn.Module", batch: Shown) -> "Tensor":
    """Cross-entropy against what the labels or the teacher say, summed over pictures."""
    import torch.nn.functional as F

    device = next(iter(model.parameters())).device
    return F.cross_entropy(model(batch.image.to(device)).float(), batch.targets.to(device), reduction="sum")


def answers(model: "nn.Module", watched: "Batches[Shown]") -> list[bool]:
    """Which pictures are named right."""
    found = list[bool]()
    for batch in watched.once():
        said = model(batch.image.to(next(iter(model.parameters())).device)).argmax(dim=-1).cpu()
        found += (said == batch.targets.argmax(dim=-1)).tolist()
    return found


def measure(recipe: Recipe, processor: "Processor", model: "nn.Module") -> dict[str, Any]:
    """What the card says: accuracy on the test, with an interval."""
    import torch

    from regard.analysis import scores
    from regard.data.privileged import privileged_pictures
    from regard.recipes import tuning
    from regard.vision import one_hot

    known, pixels = privileged_pictures("test", recipe.size, recipe.privileged)
    lesson = Lesson(pixels, one_hot(torch.from_numpy(known.targets), len(known.labels)))
    return tuning.told("test", {"accuracy": scores.accuracy(answers(model, batches(recipe, processor, lesson)))})
