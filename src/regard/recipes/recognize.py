"""Image classification: train a model to recognize what pictures show, or fine-tune one on classes of your own.

The card of the model tells accuracy with an interval, and a report of each class. With a teacher, a DeiT learns from
its answers too (Touvron 2021). `regard train classify` on pictures is this recipe.

regard train recognize
regard train recognize --data my-photos --model hub:google/vit-base-patch16-224 --epochs 3
regard train recognize --data cifar10 --model deit-cifar --teacher runs/resnet
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.recipes.pictured import PictureTuning

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.data import Batches
    from regard.recipes.pictured import Shown
    from regard.recipes.tuning import Begin
    from regard.train.task import Task

WHITENED = 5000  # pictures from which fixed filters are taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(PictureTuning):
    model: str = "vit-cifar"
    """A trained model to begin with (a folder, a bundled one, hub:owner/name), or a preset that is drawn anew."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of a fresh model's attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""
    teacher: str = ""
    """Hard distillation: a trained classifier of the same classes, whose answers a DeiT learns beside the labels."""
    limit: int = 0
    """Learn from so many labelled pictures, about equally many of each class; 0 takes all."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {**PictureTuning.bounds, "limit": (0, 10**9)}


def build(recipe: Recipe) -> "Task":
    """A model that names what a picture shows, scored by accuracy."""
    from regard.data import SETS, DataError
    from regard.data.pictures import pictures
    from regard.layers.mimetic import mimetic
    from regard.models.airbench import Whiten
    from regard.recipes import pictured, tuning
    from regard.train.task import Task

    train, held = (pictures(recipe.data, split) for split in ("train", "val"))
    labels = list(train.labels)
    if recipe.limit:
        train = train.part(few(train.targets, recipe.limit))
    if len(labels) < 2 or not len(held):
        raise DataError(f"{recipe.data} has {len(labels)} classes and {len(held)} pictures to watch; give more")
    begin = pictured.begin(recipe, train)
    if recipe.init == "mimetic" and not begin.trained:
        mimetic(begin.model)
    merge = tuning.restrict(recipe, begin)
    size = begin.processor.size.height
    learnt, watched = (pictured.batches(recipe, begin.processor, each, size) for each in (train, held))
    if isinstance(whiten := getattr(begin.model, "whiten", None), Whiten) and not begin.trained:
        whiten.learn(pictured.some(learnt, WHITENED))
    teacher = _teacher(recipe, begin, labels)
    card: dict[str, Any] = {
        "title": f"What pictures show: {begin.family.name}, {recipe.data}",
        "data": recipe.data,
        "labels": labels,
        "operations": operations(begin.model, size),
    }
    card |= {"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}
    return Task(
        model=begin.model,
        family=begin.family,
        processor=begin.processor,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=lambda model, batch: loss(recipe, model, batch, teacher),
        teacher=teacher,
        score=lambda model: score(*answers(model, watched)),
        metric="accuracy",
        higher_is_better=("accuracy",),
        unit="pictures",
        settled=tuning.settle(recipe, begin, len(learnt)),
        layer_decay=recipe.layer_decay,
        merge=merge,
        task="recognize",
        card=card | ({"before": dict(begin.before)} if begin.trained else {}),
        trained_with={"size": size},
        measure=lambda model: measure(recipe, begin, model, labels, size),
        dtype="float32" if begin.trained else "bfloat16",
        notes=tuning.notes(begin),
    )


def few(targets: "np.ndarray", count: int) -> "np.ndarray":
    """The numbers of so many pictures: the first of each class, then the second of each, and so on."""
    import numpy as np

    turn = np.empty(len(targets), np.int64)
    for each in np.unique(targets):
        rows = np.flatnonzero(targets == each)
        turn[rows] = np.arange(len(rows))
    return np.sort(np.lexsort((targets, turn))[:count])


def operations(model: "nn.Module", size: int) -> int:
    """Multiplications and additions for one picture."""
    import torch

    from regard.train.small import count_operations

    given: Any = model
    image, was_training = torch.zeros(1, given.config.channels, size, size), model.training
    with torch.no_grad():
        found = count_operations(lambda: model.eval()(image))
    model.train(was_training)
    return found


def loss(recipe: Recipe, model: "nn.Module", batch: "Shown", teacher: "nn.Module | None") -> "Tensor":
    """The summed loss; of a DeiT with a teacher, half of it is that of the teacher's answers."""
    import torch

    image, targets = _ready(model, batch)
    if teacher is None:
        return _lost(recipe, model(image), targets)
    with torch.no_grad():
        said = teacher(image).argmax(dim=-1)
    answer = model.answer(image)  # type: ignore[operator] # of a DeiT
    taught = torch.nn.functional.cross_entropy(answer.teacher.float(), said, reduction="sum")
    return (_lost(recipe, answer.label, targets) + taught) / 2


def _lost(recipe: Recipe, logits: "Tensor", targets: "Tensor") -> "Tensor":
    import torch.nn.functional as F

    if recipe.loss == "bce":
        return F.binary_cross_entropy_with_logits(logits.float(), targets, reduction="sum")
    return F.cross_entropy(logits.float(), targets, reduction="sum")


def _ready(model: "nn.Module", batch: "Shown") -> "tuple[Tensor, Tensor]":
    """Pictures and targets where the model is; convolutions on a CPU are faster with the channels last."""
    import torch

    device = next(iter(model.parameters())).device
    image = batch.image.to(device)
    if not getattr(model, "channels_last", True):
        image = image.to(memory_format=torch.channels_last)
    return image, batch.targets.to(device)


def answers(model: "nn.Module", watched: "Batches[Shown]") -> tuple[list[int], list[int]]:
    """The numbers of the classes that a model names, and of the right ones, in the order of the pictures."""
    said, right = dict[int, int](), dict[int, int]()
    for batch in watched.once():
        image, targets = _ready(model, batch)
        said |= dict(zip(batch.rows.tolist(), model(image).argmax(dim=-1).tolist(), strict=True))
        right |= dict(zip(batch.rows.tolist(), targets.argmax(dim=-1).tolist(), strict=True))
    return [said[i] for i in sorted(said)], [right[i] for i in sorted(right)]


def score(said: Sequence[int], right: Sequence[int]) -> dict[str, float]:
    """Accuracy in hundredths."""
    return {"accuracy": 100 * sum(a == b for a, b in zip(said, right, strict=True)) / len(right)}


def measure(recipe: Recipe, begin: "Begin", model: "nn.Module", labels: Sequence[str], size: int) -> dict[str, Any]:
    """What the card says: accuracy on the validation data, and on the test, where there is one, with intervals."""
    from regard.analysis import scores
    from regard.data import DataError
    from regard.data.pictures import pictures
    from regard.recipes import pictured, tuning
    from regard.recipes.classify import report

    found: dict[str, Any] = {}
    for split in ("val", "test"):
        try:
            known = pictures(recipe.data, split)
        except (DataError, ValueError):  # a folder need not have a test
            continue
        numbers, wanted = answers(model, pictured.batches(recipe, begin.processor, known, size))
        said, right = [labels[i] for i in numbers], [labels[i] for i in wanted]
        named = {"accuracy": scores.accuracy([a == b for a, b in zip(said, right, strict=True)])}
        found |= tuning.told(split, named) | {f"{split} report": report(said, right, labels)}
    return found


def _teacher(recipe: Recipe, begin: "Begin", labels: Sequence[str]) -> "nn.Module | None":
    """A trained classifier of the same classes."""
    from regard.hub import load

    if not recipe.teacher:
        return None
    if getattr(begin.model, "distill_head", None) is None:
        raise ValueError(f"--teacher is for a DeiT, whose second token learns from it, and not for {recipe.model}")
    found = load(recipe.teacher)
    if list(found.card.get("labels") or ()) != list(labels):
        raise ValueError(f"the teacher {recipe.teacher} knows other classes than {recipe.data}; train one on the same")
    return found.model.eval().requires_grad_(False)
