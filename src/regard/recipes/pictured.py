"""What trainings on pictures share: a model to begin with, and batches of pictures that are varied anew each time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.recipes.tuning import Begin, Tuning, carry_over

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from regard.chance import Chance
    from regard.data import Batches
    from regard.data.album import Pictures
    from regard.vision import Processor

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's colours, as is usual


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureTuning(Tuning):
    data: str = "world"
    """A named set (`regard data list`), the world, or a folder that has a folder of pictures for each class."""
    size: int = 0
    """Side of the pictures in pixels; 0 is the set's own, or what the model is made for."""
    batch_size: int = 128
    """Pictures in a batch."""
    tokens: int = 0
    """Of no use for pictures, which are counted by --batch-size."""
    augment: Literal["none", "move", "crop", "three", "rand"] = "crop"
    """How pictures vary: not at all; moved by up to an eighth, as is right for letters; moved and mirrored; or cropped
    at random and changed by DeiT III's three-augment (grey, solarize or blur) or by RandAugment (Cubuk 2020)."""
    erase: float = 0.0
    """Random erasing (Zhong 2020): the probability that a rectangle of noise is put into a picture, say 0.25."""
    mixup: float = 0.0
    """Mixup (Zhang 2018): two pictures in one; the parameter of the law that draws their shares, say 0.8."""
    cutmix: float = 0.0
    """CutMix (Yun 2019): a rectangle of another picture in one; the parameter of the law of its area, say 1.0."""
    repeats: int = 1
    """Repeated augmentation (Hoffer 2020): each picture stands so many times in a batch, varied each time, say 3."""
    label_smoothing: float = 0.0
    """Label smoothing (Szegedy 2016): this share of the target probability is spread over all labels."""
    loss: Literal["cross_entropy", "bce"] = "cross_entropy"
    """Cross-entropy, or binary cross-entropy of each class alone (DeiT III)."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Tuning.bounds,
        "size": (0, 10**4),
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
        "erase": (0, 1),
        "mixup": (0, 100),
        "cutmix": (0, 100),
        "repeats": (1, 1000),
        "label_smoothing": (0, 1),
    }


class Shown(NamedTuple):
    """A batch of pictures, and what share of each belongs to each class."""

    image: "Tensor"
    targets: "Tensor"
    rows: "np.ndarray"


def begin(recipe: PictureTuning, known: "Pictures") -> Begin:
    """The model of a recipe for the classes of some pictures: a preset drawn anew, or a trained one with a new head."""
    import torch

    from regard.models import families
    from regard.recipes import choose
    from regard.vision import Processor, Size

    torch.manual_seed(recipe.seed)
    if recipe.model not in {preset for family in families().values() for preset in family.presets}:
        return _trained(recipe, known.labels)
    family = choose.family_of(recipe.model)
    check(family, recipe.model)
    size = recipe.size or known.side or family.presets[recipe.model].size
    _, model = choose.build(recipe.model, recipe.set, {"classes": len(known.labels), "size": size})
    processor = Processor(size=Size(height=size, width=size), image_mean=MEAN, image_std=STD)
    return Begin(family, model, None, {}, tuple(model.state_dict()), processor)


def _trained(recipe: PictureTuning, labels: Sequence[str]) -> Begin:
    import torch

    from regard.data import DataError
    from regard.hub import CheckpointError, load
    from regard.recipes import choose
    from regard.recipes.shown import with_eye
    from regard.recipes.writer import story
    from regard.vision import Processor, Size

    try:
        found = load(recipe.model, pickle=recipe.pickle)
    except CheckpointError as error:
        raise DataError(f"training cannot begin from {recipe.model}: {error}; presets: regard list models") from None
    found = with_eye(found)
    if found.family is None:
        raise DataError(f"training cannot begin from {recipe.model}, which is no model of regard's; give another")
    check(found.family, recipe.model)
    config: Any = found.model.config
    torch.manual_seed(recipe.seed)
    changes = choose.parse(found.family, recipe.set) | {"classes": len(labels)}
    model = found.family.model(replace(config, **changes))
    anew = carry_over(recipe, found, model, labels)
    size = recipe.size or config.size
    before = found.processor or Processor(image_mean=MEAN, image_std=STD)
    processor = Processor(size=Size(height=size, width=size), image_mean=before.image_mean, image_std=before.image_std)
    return Begin(found.family, model, None, story(found.card) or {"name": found.name}, anew, processor)


def check(family: Any, name: str) -> None:
    """Refuse what does not name what a picture shows."""
    known = {field.name for field in fields(family.config)}
    if not {"classes", "size"} <= known or "vocab" in known:
        raise ValueError(f"{name} is a {family.name}, which classifies no pictures; choose one of vit, resnet, swin, …")


def batches(recipe: PictureTuning, processor: "Processor", known: "Pictures", size: int) -> "Batches[Shown]":
    """Pictures of one size in any order; each time they are met they are varied, in a measurement never."""
    import torch

    from regard.chance import Chance
    from regard.data import Batches, Order
    from regard.data.contents import contents
    from regard.vision import mix, one_hot, repeated

    pixels, classes = known.arrays(size), len(known.labels)

    def collate(rows: Any, chance: Chance | None) -> Shown:
        if chance is not None and recipe.repeats > 1:
            rows = repeated(rows, recipe.repeats)
        shown = pixels[rows] if chance is None else vary(recipe, pixels[rows], chance)
        image = processor.numbers(shown)
        targets = one_hot(torch.from_numpy(known.targets[rows]), classes, recipe.label_smoothing if chance else 0.0)
        if chance is not None and (recipe.mixup or recipe.cutmix):
            image, targets = mix(image, targets, chance, mixup_alpha=recipe.mixup, cutmix_alpha=recipe.cutmix)
        return Shown(image, targets, rows)

    count, shown = len(known), contents(known.source)
    order = Order(
        [1] * count, room=min(recipe.batch_size, count), seed=recipe.seed, data=known.checksum, contents=shown
    )
    return Batches(order, collate)


def some(known: "Batches[Shown]", count: int) -> "Tensor":
    """So many pictures, or all there are, as a model reads them; they are not varied."""
    import torch

    found: list[Tensor] = []
    for batch in known.once():
        found.append(batch.image)
        if sum(map(len, found)) >= count:
            break
    return torch.cat(found)[:count]


def vary(recipe: PictureTuning, pixels: "np.ndarray", chance: "Chance") -> "np.ndarray":
    """A batch of pictures "b h w 3" as they are met in training."""
    import numpy as np

    from regard.vision import (
        erase,
        flip,
        from_array,
        pad_and_crop,
        rand_augment,
        random_resized_crop,
        three_augment,
        to_array,
    )

    size = pixels.shape[1]
    if recipe.augment in ("three", "rand"):
        found = np.empty_like(pixels)
        for i, each in enumerate(pixels):
            picture = random_resized_crop(from_array(each), size, chance, scale=(0.35, 1.0))
            how = three_augment if recipe.augment == "three" else rand_augment
            found[i] = to_array(how(picture, chance))
        pixels = found
    elif recipe.augment != "none":
        pixels = pad_and_crop(pixels, chance, max(1, size // 8), mode="reflect")
    if recipe.augment not in ("none", "move"):
        pixels = flip(pixels, chance)
    return erase(pixels, chance, recipe.erase) if recipe.erase else pixels
