"""Pictures without labels: train a context encoder, which paints the middle that was cut out (Pathak 2016).

By its mean square alone a hole is painted blurred; with --adversary 0.001, as in the paper, or more, another network
tells painted holes from true ones, and has to be deceived. `picture.png` in the run's folder shows what it makes of
pictures it has not met: without their middle, with what it paints there, and as they are. Its eye gives a vector for
each picture (`regard embed`) and is a beginning for `regard train recognize --model RUN`.

regard train inpaint
regard train inpaint --adversary 0.01
regard train inpaint --data cifar10 --model inpaint-cifar
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from regard.recipes.unlabelled import Unlabelled

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image
    from torch import Tensor, nn

    from regard.chance import Chance
    from regard.data import Batches
    from regard.models.inpaint import ContextEncoder
    from regard.recipes.unlabelled import Known, Make, Shown
    from regard.train.task import Task
    from regard.vision import Processor

DRAWN = 10  # held-out pictures that are shown at the end


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Unlabelled):
    model: str = "inpaint-world"
    """The model, by the name of a preset of inpaint."""
    scale: float = 0.6
    """Crops show at least this share of a picture."""
    adversary: float = 0.0
    """The adversary's share of the loss; the rest is the mean square's. The paper has 0.001; 0 has no adversary."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Unlabelled.bounds,
        "scale": (0.01, 1),
        "adversary": (0, 1),
    }


def build(recipe: Recipe) -> "Task":
    """A context encoder, scored by how far off it paints the hole."""
    from copy import deepcopy

    import torch

    from regard.recipes import choose, unlabelled
    from regard.train.task import Task

    torch.manual_seed(recipe.seed)
    family = choose.family_of(recipe.model)
    if family.name != "inpaint":
        raise ValueError(f"{recipe.model} is a {family.name}, which fills no holes; choose one of inpaint")
    preset = family.presets[recipe.model]
    known = unlabelled.known_pictures(recipe, preset.size)
    decided = sized(preset, known.size) | ({} if recipe.adversary else {"judge": 0})
    _, built = choose.build(recipe.model, recipe.set, decided)
    model: Any = built
    if recipe.adversary and model.adversary is None:
        raise ValueError(f"--adversary {recipe.adversary} needs one; leave out --set judge=0")
    untrained = deepcopy(model.eye)
    make = views(recipe, known.processor, known.size)
    learnt = unlabelled.batches(recipe, known.train, known.size, make)
    watched = unlabelled.batches(recipe, known.held, known.size, make)
    return Task(
        model=model,
        family=family,
        processor=known.processor,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=lambda shared, batch: loss(recipe, shared, model, batch),
        score=lambda model: score(model, known, watched),
        metric="val_loss",
        higher_is_better=("sharpness", "knn"),
        unit="pictures",
        task="features",
        card={
            "title": f"Pictures without labels: context encoder, {recipe.data}",
            "data": recipe.data,
            **unlabelled.terms_of(recipe.data),
        },
        trained_with={"size": known.size},
        measure=lambda model: measure(model, known, watched, untrained),
        picture=lambda model: picture(model, known.processor, watched),
    )


def sized(preset: Any, size: int) -> dict[str, Any]:
    """The fields that pictures of a size decide; the hole shrinks and grows with them."""
    from dataclasses import replace

    hole, rim = (each * size // preset.size for each in (preset.hole, preset.rim))
    return {"tower": replace(preset.tower, size=size), "hole": hole, "rim": rim}


def views(recipe: Recipe, processor: "Processor", size: int) -> "Make":
    """Crops of pictures; in a measurement, whole pictures."""
    from regard.recipes.unlabelled import numbers
    from regard.vision.parts import part_crops

    scaled = numbers(processor)

    def make(pixels: "np.ndarray", chance: "Chance | None") -> "tuple[Tensor, ...]":
        if chance is None:
            return (processor.numbers(pixels),)
        return (scaled(part_crops(pixels, chance, size=size, count=1, scale=(recipe.scale, 1.0))[:, 0]),)

    return make


def loss(recipe: Recipe, shared: "nn.Module", model: "ContextEncoder", batch: "Shown") -> "Tensor":
    """The summed loss of the painter; with an adversary, its own beside it, by which the painter does not learn."""
    (image,) = (each.to(model.last.weight.device) for each in batch.given)
    hole = shared(image).hole.float()
    off = model.off(hole, image)
    if not recipe.adversary:
        return off.sum()
    believed, told_apart = model.contest(hole, image)
    return ((1 - recipe.adversary) * off + recipe.adversary * believed + told_apart).sum()


def score(model: Any, known: "Known", watched: "Batches[Shown]") -> dict[str, float]:
    """How well holes are filled, and what the nearest neighbours of the eye's vectors know, in hundredths."""
    from regard.recipes import unlabelled

    return fill(model, watched) | {"knn": unlabelled.knn(model.eye, known)}


def fill(model: Any, watched: "Batches[Shown]") -> dict[str, float]:
    """Of what was hidden, the mean square that is off, and how sharp it is: its edges in parts of the true ones."""
    import torch

    lost, painted, true = [], 0.0, 0.0
    for batch in watched.once():
        (image,) = (each.to(model.last.weight.device) for each in batch.given)
        said, right = (model.hidden(each) for each in (model.filled(image), image))
        lost.append((said - right).square().mean(dim=(1, 2, 3)))
        painted, true = painted + _edges(said), true + _edges(right)
    return {"val_loss": float(torch.cat(lost).mean()), "sharpness": painted / max(true, 1e-12)}


def _edges(image: "Tensor") -> float:
    """How much neighbouring pixels differ, in all."""
    return sum(float(image.diff(dim=axis).abs().sum()) for axis in (-1, -2))


def measure(model: Any, known: "Known", watched: "Batches[Shown]", untrained: "nn.Module") -> dict[str, Any]:
    """What the card says: how well holes are filled, and what the eye has learned."""
    from regard.recipes import unlabelled

    found = fill(model, watched)
    told = {"val loss": round(found["val_loss"], 4), "val sharpness": round(found["sharpness"], 4)}
    return told | unlabelled.measure(model.eye, known, untrained)


def picture(model: Any, processor: "Processor", watched: "Batches[Shown]") -> "Image.Image":
    """Some held-out pictures: without their middle, with what is painted there, and as they are."""
    from regard.recipes.unlabelled import sheet

    image = next(iter(watched.once())).given[0][:DRAWN].to(model.last.weight.device)
    return sheet([model.hide(image), model.filled(image), image], processor)
