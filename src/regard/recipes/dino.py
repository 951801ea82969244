"""Pictures without labels: train a DINO, whose student agrees with its own moving average on crops (Caron 2021).

What is left is the teacher's tower: it gives a vector for each picture (`regard embed`), looks at the thing in it
without having been told of things, and is a beginning for `regard train recognize --model RUN`. With --no-centre or
--no-sharpen it collapses, and the meters show how: `spread` is the entropy of the teacher's mean answer, `entropy` that
of one answer, `divergence` how far the student is from it.

regard train dino
regard train dino --data cifar10 --model dino-cifar
regard train dino --steps 300 --no-centre
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.recipes.unlabelled import Unlabelled

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.chance import Chance
    from regard.data import Batches
    from regard.models.dino import DINO
    from regard.recipes.unlabelled import Known, Make, Shown
    from regard.train.task import Task
    from regard.vision import Processor

METERED = 256  # held-out pictures on whose crops collapse is watched


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Unlabelled):
    model: str = "dino-world"
    """The model, by the name of a preset of dino."""
    crops: int = 4
    """Multi-crop: small crops of each picture that the student sees beside two large ones; 0 has none."""
    scale: float = 0.4
    """Large crops show at least this share of a picture, and small ones at most."""
    least: float = 0.1
    """Small crops show at least this share of a picture."""
    colours: float = 0.5
    """How much colours vary from crop to crop: 1 as in the paper, 0 not at all."""
    temperature: float = 0.04
    """Sharpening: the temperature of the teacher; the student's is 0.1."""
    warm: float = 0.04
    """The temperature of the teacher at first; it becomes --temperature on a line, in the first third of the steps."""
    sharpen: bool = True
    """Without sharpening, the teacher has the student's temperature, and every answer becomes the same for all."""
    centre: bool = True
    """Without centring, one class takes all pictures."""
    centre_momentum: float = 0.9
    """How much of the centre a step leaves as it was; the centre has to be faster than the teacher, who runs away from
    it else."""
    teacher: float = 0.99
    """How much of the teacher a step leaves as it was, at first. The paper has 0.996."""
    teacher_last: float = 0.997
    """And at the end, along a cosine. The paper has 1, and many more steps: of few, the last would not be in it."""
    hold: float = 0.1
    """Epochs in which the last layer of the head stays as it was drawn."""
    lr: float = 3e-3
    """Peak learning rate (the optimizer's step size)."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Unlabelled.bounds,
        "crops": (0, 100),
        "scale": (0.01, 1),
        "least": (0.01, 1),
        "colours": (0, 1),
        "temperature": (1e-3, 10),
        "warm": (1e-3, 10),
        "centre_momentum": (0, 1),
        "teacher": (0, 1),
        "teacher_last": (0, 1),
        "hold": (0, 10**6),
    }


def build(recipe: Recipe) -> "Task":
    """A student and its teacher, scored by what the neighbours of the teacher's vectors say."""
    from copy import deepcopy

    import torch

    from regard.layers.mimetic import mimetic
    from regard.models.dino import teacher_momentum
    from regard.models.family import family
    from regard.recipes import choose, unlabelled
    from regard.train.task import Task

    if not recipe.sharpen:
        choose.refuse(recipe, ("temperature", "warm"), "with --no-sharpen")
    if not recipe.centre:
        choose.refuse(recipe, ("centre_momentum",), "with --no-centre")
    if not recipe.crops:
        choose.refuse(recipe, ("least",), "with --crops 0")
    torch.manual_seed(recipe.seed)
    own = choose.family_of(recipe.model)
    if own.name != "dino":
        raise ValueError(f"{recipe.model} is a {own.name}, which has no teacher; choose one of dino")
    known = unlabelled.known_pictures(recipe, own.presets[recipe.model].size)
    _, built = choose.build(recipe.model, recipe.set, sized(own.presets[recipe.model], known.size))
    model: Any = built
    if recipe.init == "mimetic":
        mimetic(model.student)
        model.follow(0.0)
    untrained = deepcopy(eye(model))
    make = views(recipe, known.processor, known.size, model.config.small)
    learnt = unlabelled.batches(recipe, known.train, known.size, make)
    watched = unlabelled.batches(recipe, known.held, known.size, make)

    heard: list[Tensor] = []  # what the teacher says in a step

    def after_step(model: Any, step: int) -> None:
        model.follow(teacher_momentum(step, recipe.steps, recipe.teacher, recipe.teacher_last))
        model.step.fill_(step)
        if recipe.centre:
            model.move_centre(mean_of_all(heard), recipe.centre_momentum)
        heard.clear()

    tower = family(type(model.teacher.tower).__module__.rpartition(".")[2])
    return Task(
        model=model,
        family=tower,
        processor=known.processor,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=lambda shared, batch: loss(recipe, shared, model, batch, heard, held=recipe.hold * len(learnt)),
        score=lambda model: score(recipe, model, known, watched),
        show=lambda model: show(recipe, model, known, watched),
        metric="knn",
        higher_is_better=("knn",),
        unit="pictures",
        after_step=after_step,
        merge=eye,
        task="features",
        card={
            "title": f"Pictures without labels: DINO, {tower.name}, {recipe.data}",
            "data": recipe.data,
            **unlabelled.terms_of(recipe.data),
        },
        trained_with={"size": known.size},
        measure=lambda eye: unlabelled.measure(eye, known, untrained),
    )


def eye(model: Any) -> "nn.Module":
    """What is kept: the teacher without its head."""
    found: nn.Module = model.teacher.tower
    return found


def sized(preset: Any, size: int) -> dict[str, Any]:
    """The fields that pictures of a size decide; small crops shrink and grow with them, by whole patches."""
    from dataclasses import replace

    patch = getattr(preset.tower, "patch", 1)
    small = max(patch, round(preset.small * size / preset.size / patch) * patch)
    return {"tower": replace(preset.tower, size=size), "small": small}


def views(recipe: Recipe, processor: "Processor", size: int, small: int) -> "Make":
    """Crops of pictures: two large ones, and small ones if there are any; in a measurement always the same."""
    import torch

    from regard.chance import Chance
    from regard.recipes.unlabelled import numbers
    from regard.vision.parts import part_crops, recolour

    scaled = numbers(processor)

    def make(pixels: "np.ndarray", chance: "Chance | None") -> "tuple[Tensor, ...]":
        dice = chance or Chance(0, "held")
        large = part_crops(pixels, dice, size=size, count=2, scale=(recipe.scale, 1.0))
        # The first is always out of focus, the second may be solarized instead (Grill 2020).
        first = recolour(large[:, 0], dice, recipe.colours, blurred=1.0)
        second = recolour(large[:, 1], dice, recipe.colours, blurred=0.1, solarized=0.2 * recipe.colours)
        found = [torch.stack((first, second), dim=1)]
        if recipe.crops:
            bounds = min(recipe.least, recipe.scale), recipe.scale
            parts = part_crops(pixels, dice, size=small, count=recipe.crops, scale=bounds)
            found.append(torch.unflatten(recolour(parts.flatten(0, 1), dice, recipe.colours), 0, parts.shape[:2]))
        return tuple(map(scaled, found))

    return make


def loss(
    recipe: Recipe, shared: "nn.Module", model: "DINO", batch: "Shown", heard: "list[Tensor]", *, held: float
) -> "Tensor":
    """The summed disagreement of the model, called by its `shared` form; what its teacher says is left in `heard`."""
    from regard.models.dino import disagreement, sharpen

    device, step = model.centre.device, int(model.step)
    said = shared(*(each.to(device) for each in batch.given), hold=step < held)
    taught = sharpen(said.teacher, model.centre if recipe.centre else None, heat(recipe, step))
    heard.append(said.teacher.float().flatten(0, 1))
    return disagreement(said.student, taught).sum()


def mean_of_all(heard: "list[Tensor]") -> "Tensor":
    """The mean of what the teacher says in a step, over its batches and over all processes."""
    import torch
    import torch.distributed as dist

    said = torch.cat(heard)
    total = torch.cat((said.sum(dim=0), said.new_tensor([len(said)])))
    if dist.is_initialized():
        dist.all_reduce(total)
    return total[:-1] / total[-1]


def heat(recipe: Recipe, step: int) -> float:
    """The temperature of the teacher at a step."""
    from regard.models.dino import TEMPERATURE, teacher_temperature

    if not recipe.sharpen:
        return TEMPERATURE
    return teacher_temperature(step, recipe.steps // 3, recipe.warm, recipe.temperature)


def score(recipe: Recipe, model: Any, known: "Known", watched: "Batches[Shown]") -> dict[str, float]:
    """Nearest neighbours of the teacher's vectors, in hundredths, and the meters of collapse."""
    import torch

    from regard.models.dino import meters, sharpen
    from regard.recipes import unlabelled

    student, teacher, count = [], [], 0
    for batch in watched.once():
        said = model(*(each.to(model.centre.device) for each in batch.given))
        student.append(said.student)
        teacher.append(said.teacher)
        count += len(batch.rows)
        if count >= METERED:
            break
    taught = sharpen(torch.cat(teacher), model.centre if recipe.centre else None, heat(recipe, int(model.step)))
    found = meters(torch.cat(student), taught)
    return {"knn": unlabelled.knn(model.teacher.tower, known), **found._asdict()}


def show(recipe: Recipe, model: Any, known: "Known", watched: "Batches[Shown]") -> list[dict[str, str]]:
    """Crops of some held-out pictures, with what student and teacher say of them."""
    from regard.recipes.crops import answers

    given, temperature = next(iter(watched.once())).given, heat(recipe, int(model.step))
    return answers(model, given, known.processor, centred=recipe.centre, temperature=temperature)
