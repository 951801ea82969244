"""Pictures without labels: train a masked autoencoder, which paints what is hidden of a picture (He 2022).

`picture.png` in the run's folder shows what it makes of pictures it has not met: what is left of them, what it paints,
and what they are. Of a hidden patch, mean and deviation are the true ones there, since only what is beyond them is
painted; --set normalized=false paints all. Its eye, the ViT that reads what is left, gives a vector for each picture
(`regard embed`) and is a beginning for `regard train recognize --model RUN`. With --scales, pictures are met from
several heights, and positions are measured on the ground (Scale-MAE, Reed 2023).

regard train mae
regard train mae --data cifar10 --model mae-cifar
regard train mae --set normalized=false
regard train mae --scales 1 2
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.recipes.unlabelled import Unlabelled

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image
    from torch import Tensor, nn

    from regard.chance import Chance
    from regard.data import Batches
    from regard.models.mae import MAE
    from regard.recipes.unlabelled import Known, Make, Shown
    from regard.train.task import Task
    from regard.vision import Processor

DRAWN = 10  # held-out pictures that are shown at the end


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Unlabelled):
    model: str = "mae-world"
    """The model, by the name of a preset of mae; --set masked=0.6 hides less than three quarters."""
    scale: float = 0.4
    """Crops show at least this share of a picture."""
    scales: tuple[int, ...] = (1,)
    """Scale-MAE: magnifications from which pictures are met, such as 1 2, each of which divides the largest; a window
    shows as many pixels at each. With 1 alone, crops are met and positions are those in the picture."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {**Unlabelled.bounds, "scale": (0.01, 1)}


def build(recipe: Recipe) -> "Task":
    """A masked autoencoder, scored by how far off it paints what is hidden."""
    from copy import deepcopy

    import torch

    from regard.layers.mimetic import mimetic
    from regard.recipes import choose, unlabelled
    from regard.train.task import Task

    torch.manual_seed(recipe.seed)
    family = choose.family_of(recipe.model)
    if family.name != "mae":
        raise ValueError(f"{recipe.model} is a {family.name}, which hides no patches; choose one of mae")
    preset, most = family.presets[recipe.model], largest(recipe.scales)
    if most > 1:
        choose.refuse(recipe, ("scale",), "with --scales, whose windows are met")
    known = unlabelled.known_pictures(recipe, preset.size, larger=most)
    _, built = choose.build(recipe.model, recipe.set, sized(preset, known.size, ground=most > 1))
    model: Any = built
    if recipe.init == "mimetic":
        mimetic(model)
    untrained = deepcopy(model.eye)
    make = views(recipe, known.processor, known.size, model.config.tower.patch)
    learnt = unlabelled.batches(recipe, known.train, known.size * most, make)
    watched = unlabelled.batches(recipe, known.held, known.size * most, make)
    return Task(
        model=model,
        family=family,
        processor=known.processor,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=lambda shared, batch: loss(shared, model, batch).sum(),
        score=lambda model: score(model, known, watched),
        metric="val_loss",
        higher_is_better=("knn",),
        unit="pictures",
        task="features",
        card={
            "title": f"Pictures without labels: masked autoencoder, {recipe.data}",
            "data": recipe.data,
            **unlabelled.terms_of(recipe.data),
        },
        trained_with={"size": known.size},
        measure=lambda model: measure(model, known, watched, untrained),
        picture=lambda model: picture(model, known.processor, watched),
    )


def largest(scales: tuple[int, ...]) -> int:
    """The largest of the scales, all of which divide it."""
    if not scales or min(scales) < 1 or any(max(scales) % scale for scale in scales):
        raise ValueError(f"--scales {' '.join(map(str, scales))}: each has to divide the largest; give 1 2, or 1 2 4")
    return max(scales)


def sized(preset: Any, size: int, *, ground: bool) -> dict[str, Any]:
    """The fields that pictures decide."""
    from dataclasses import replace

    return {"tower": replace(preset.tower, size=size), "ground": ground}


def views(recipe: Recipe, processor: "Processor", size: int, patch: int) -> "Make":
    """Pictures, the noise that hides their patches, and of several scales how much of the ground a pixel shows.

    In a measurement whole pictures are met, or always the same windows of them, and always the same patches are hidden.
    """
    import torch

    from regard.chance import Chance
    from regard.recipes.unlabelled import numbers
    from regard.vision import flip
    from regard.vision.dice import uniforms
    from regard.vision.parts import part_crops, windows

    scaled, cells = numbers(processor), (size // patch) ** 2

    def make(pixels: "np.ndarray", chance: "Chance | None") -> "tuple[Tensor, ...]":
        dice = chance or Chance(0, "held")
        noise = torch.from_numpy(uniforms(dice, len(pixels) * cells)).float().view(len(pixels), cells)
        if max(recipe.scales) > 1:
            shown = pixels if chance is None else flip(pixels, dice)
            image, distance = windows(shown, dice, size=size, scales=recipe.scales)
            return scaled(image), noise, distance
        if chance is None:
            return processor.numbers(pixels), noise
        return scaled(part_crops(pixels, dice, size=size, count=1, scale=(recipe.scale, 1.0))[:, 0]), noise

    return make


def paint(shared: "nn.Module", model: "MAE", batch: "Shown", *, told: bool = True) -> Any:
    """What a model, called by its `shared` form, paints; and the pictures. It may not be `told` how far they are."""
    device = model.decoder.mask.device
    image, noise, *rest = (each.to(device) for each in batch.given)
    return shared(image, noise, distance=rest[0] if rest and told else None), image


def loss(shared: "nn.Module", model: "MAE", batch: "Shown", *, told: bool = True) -> "Tensor":
    """How far off the hidden patches of each picture are painted."""
    from regard.models.mae import lost

    painted, image = paint(shared, model, batch, told=told)
    return lost(painted, image, model.config)


def mean_loss(model: "MAE", watched: "Batches[Shown]", *, told: bool = True) -> float:
    """The loss of held-out pictures."""
    import torch

    return float(torch.cat([loss(model, model, batch, told=told) for batch in watched.once()]).mean())


def score(model: Any, known: "Known", watched: "Batches[Shown]") -> dict[str, float]:
    """The loss of held-out pictures, and what the nearest neighbours of the eye's vectors know, in hundredths."""
    from regard.recipes import unlabelled

    return {"val_loss": mean_loss(model, watched), "knn": unlabelled.knn(model.eye, known)}


def measure(model: Any, known: "Known", watched: "Batches[Shown]", untrained: "nn.Module") -> dict[str, Any]:
    """What the card says: the loss, also where positions on the ground are not told; and what the eye has learned."""
    from regard.recipes import unlabelled

    found = {"val loss": round(mean_loss(model, watched), 4)}
    if model.config.ground:
        found["val loss without distances"] = round(mean_loss(model, watched, told=False), 4)
    return found | unlabelled.measure(model.eye, known, untrained)


def picture(model: Any, processor: "Processor", watched: "Batches[Shown]") -> "Image.Image":
    """Some held-out pictures: what is left of them, what is painted, what they are."""
    from regard.models.mae import join, restored
    from regard.recipes.unlabelled import sheet

    painted, image = paint(model, model, next(iter(watched.once())))
    patch = model.config.tower.patch
    grid = image.shape[-2] // patch, image.shape[-1] // patch
    cells = painted.hidden[..., None].expand_as(painted.patches).to(image)
    left = image * (1 - join(cells, patch, grid))
    return sheet([each[:DRAWN] for each in (left, restored(painted, image, model.config), image)], processor)
