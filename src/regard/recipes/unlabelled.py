"""What trainings on pictures without labels share: pictures to learn from, and how much their eye has learned of them.

Nothing of the labels is used but in the scores: by the nearest neighbours of pictures that nobody has shown it, and by
a linear probe at the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.train.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from PIL import Image
    from torch import Tensor, nn

    from regard.chance import Chance
    from regard.data import Batches
    from regard.data.album import Pictures
    from regard.vision import Processor

    Make = Callable[["np.ndarray", "Chance | None"], "tuple[Tensor, ...]"]  # what a model is given for some pictures

SHOWN = 256  # pictures that an eye reads at once
SIDE = 128  # pixels that a picture has on a sheet, at least half of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlabelled(Plan):
    data: str = "world"
    """A named set of pictures (`regard data list`), the world, or a folder that has a folder of pictures for each
    class; classes are used in scores alone."""
    model: str = ""
    """The model, by the name of a preset."""
    set: tuple[str, ...] = ()
    """Fields of the model to change, such as width=96."""
    size: int = 0
    """Side of the pictures in pixels; 0 is the set's own, or what the model is made for."""
    pictures: int = 0
    """How many pictures to learn from, the first there are; 0 takes all."""
    batch_size: int = 64
    """Pictures in a batch."""
    tokens: int = 0
    """Of no use for pictures, which are counted by --batch-size."""
    judged: int = 2000
    """Labelled pictures that scores are made with, as many at most: of train, and of those that are held out."""
    steps: int = 1000
    """Optimizer steps: how many times the weights change."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019), with an lr of 5e-4 or so; or
    SGD: plain gradient descent with momentum."""
    lr: float = 5e-3
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 50
    """Warm-up: steps in which the learning rate rises from zero to its peak."""
    schedule: Literal["cosine", "linear", "inverse_sqrt", "constant"] = "linear"
    """Learning rate schedule: falls to zero along a cosine or a line, with the inverse root of the step, or not."""
    weight_decay: float = 0.05
    """Weight decay: pulls matrices towards zero; vectors have none."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "size": (0, 10**4),
        "pictures": (0, 10**9),
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
        "judged": (10, 10**6),
    }


class Shown(NamedTuple):
    """A batch of what is made of pictures, and their numbers."""

    given: "tuple[Tensor, ...]"
    rows: "np.ndarray"


class Known(NamedTuple):
    """Pictures to learn from, and those with labels by which an eye is judged."""

    train: "Pictures"
    judged: "Pictures"  # of train
    held: "Pictures"
    size: int
    processor: "Processor"


def known_pictures(recipe: Unlabelled, usual: int, *, larger: int = 1) -> Known:
    """The pictures of a recipe, for a model that is made for squares of a `usual` size; kept so many times larger."""
    import numpy as np

    from regard.data import DataError
    from regard.data.pictures import pictures
    from regard.recipes.shown import usual_processor

    train, watched = (pictures(recipe.data, split) for split in ("train", "val"))
    if not len(watched):
        raise DataError(f"{recipe.data} has {len(train)} pictures to learn from and none to watch; give more")
    size = recipe.size or train.side or usual
    judged, asked = (_some(each, recipe.judged, size * larger) for each in (train, watched))
    met = train.part(np.arange(min(recipe.pictures, len(train)))) if recipe.pictures else train
    return Known(met, judged, asked, size, usual_processor(size))


def _some(known: "Pictures", count: int, size: int) -> "Pictures":
    """At most so many of some pictures, evenly from first to last, in memory."""
    import numpy as np

    from regard.data.album import held

    rows = np.arange(min(count, len(known))) * len(known) // min(count, len(known))
    return held(known.labels, known.targets[rows], known.arrays(size)[rows])


def batches(recipe: Unlabelled, known: "Pictures", size: int, make: "Make") -> "Batches[Shown]":
    """What is made of pictures, in any order; in a measurement without chance."""
    from regard.data import Batches, Order
    from regard.data.contents import contents

    pixels = known.arrays(size)

    def collate(rows: "np.ndarray", chance: "Chance | None") -> Shown:
        return Shown(make(pixels[rows], chance), rows)

    count, shown = len(known), contents(known.source)
    order = Order(
        [1] * count, room=min(recipe.batch_size, count), seed=recipe.seed, data=known.checksum, contents=shown
    )
    return Batches(order, collate)


def vectors(eye: "nn.Module", processor: "Processor", known: "Pictures", size: int) -> "np.ndarray":
    """What an eye makes of each picture, a row each."""
    import torch

    pixels, device = known.arrays(size), next(iter(eye.parameters())).device
    parts = (pixels[start : start + SHOWN] for start in range(0, len(pixels), SHOWN))
    with torch.no_grad():
        found: np.ndarray = torch.cat([eye(processor.numbers(part).to(device)).float() for part in parts]).cpu().numpy()
    return found


def knn(eye: "nn.Module", known: Known) -> float:
    """Of a hundred held-out pictures, how many their nearest neighbours in train name right."""
    from regard.analysis.neighbours import nearest_classes

    near, far = (vectors(eye, known.processor, each, known.size) for each in (known.judged, known.held))
    said = nearest_classes(near, known.judged.targets, far)
    return 100 * float((said == known.held.targets).mean())


def measure(eye: "nn.Module", known: Known, untrained: "nn.Module") -> dict[str, Any]:
    """What the card says: nearest neighbours and a linear probe on the held-out pictures, with intervals.

    Beside them stands what the same eye can do untrained, and what raw pixels can.
    """
    import torch

    from regard.analysis import scores
    from regard.analysis.neighbours import nearest_classes
    from regard.analysis.probes import linear_probe
    from regard.recipes.tuning import told

    found: dict[str, Any] = {}
    for name, see in (("", eye), ("untrained ", untrained), ("raw pixels ", None)):
        near, far = (
            each.arrays(known.size).reshape(len(each), -1).astype("float32") / 127.5 - 1
            if see is None
            else vectors(see, known.processor, each, known.size)
            for each in (known.judged, known.held)
        )
        hits = nearest_classes(near, known.judged.targets, far) == known.held.targets
        with torch.enable_grad():  # a measurement has none, and a probe needs them
            probe = linear_probe((near, known.judged.targets), (far, known.held.targets))
        named = {f"{name}knn accuracy": scores.accuracy(hits.tolist()), f"{name}probe accuracy": probe.score}
        found |= told("val", named)
    return found | {"labelled pictures of the probe": len(known.judged)}


def numbers(processor: "Processor") -> "Callable[[Tensor], Tensor]":
    """What makes of pixels from 0 to 1 the numbers that a model reads."""
    import torch

    mean, std = (torch.tensor(each)[:, None, None] for each in (processor.image_mean, processor.image_std))
    return lambda pixels: (pixels - mean) / std


def sheet(rows: "Sequence[Tensor]", processor: "Processor") -> "Image.Image":
    """Rows of pictures, each "n 3 h w" as a model reads them, one below another, enlarged so that pixels are seen."""
    import torch
    from PIL import Image

    mean, std = (torch.tensor(each)[:, None, None] for each in (processor.image_mean, processor.image_std))
    lines = [torch.cat(list(row.float().cpu() * std + mean), dim=-1) for row in rows]
    pixels = torch.cat(lines, dim=-2).clamp(0, 1).mul(255).round().byte().permute(1, 2, 0).numpy()
    larger = max(1, SIDE // rows[0].shape[-1])
    return Image.fromarray(pixels.repeat(larger, axis=0).repeat(larger, axis=1))


def terms_of(data: str) -> dict[str, Any]:
    """The terms of a named set, for the card."""
    from regard.data import SETS

    return {"terms": SETS[data].terms} if data in SETS else {}
