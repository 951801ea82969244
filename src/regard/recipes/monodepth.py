"""Depth from one picture, learnt from what two eyes see and no measured depth (MonoDepth, Godard 2017).

The other eye's picture, warped by the disparities that the model says, should be the own. The card tells how far off
the depths are, beside the best that can be said without looking: one depth for all, and one for each pixel.
`--supervised` trains a twin by the true disparities.

regard train monodepth
regard train monodepth --supervised --out runs/told
regard train monodepth --data stereo --model monodepth-tiny --pictures 5 --batch-size 5
regard train monodepth --data my-folder --model monodepth-vgg --optimizer adamw --lr 1e-4
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.train.plan import Plan, Schedule

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.data import Batches
    from regard.data.eyes import EyePairs
    from regard.train.task import Task
    from regard.vision import Processor

WATCHED = 200  # pairs that are scored on the way


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    data: str = "world"
    """The world, stereo (Middlebury), or a folder with left and right, in which a pair has one name."""
    model: str = "monodepth-world"
    """The model, by the name of a preset of monodepth."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as size=96 columns=128."""
    supervised: bool = False
    """Learn from true disparities instead, where they are known: what the eyes are compared with."""
    pictures: int = 4000
    """How many pairs of the data to learn from, at most."""
    structure: float = 0.85
    """How much structural similarity counts in how alike two pictures are, beside colours (the paper's α)."""
    smooth: float = 0.1
    """How much rough disparities cost where the picture is smooth."""
    agree: float = 1.0
    """How much it costs that the disparities of both eyes contradict each other."""
    mirror: bool = True
    """Show half of the pairs in a mirror, in which left and right change places."""
    batch_size: int = 32
    """Pairs in a batch."""
    tokens: int = 0
    """Of no use for pictures, which are counted by --batch-size."""
    steps: int = 700
    """Optimizer steps: how many times the weights change."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019), with an lr of 1e-4 or so; or
    SGD: plain gradient descent with momentum."""
    lr: float = 1e-2
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 50
    """Warm-up: steps in which the learning rate rises from zero to its peak."""
    schedule: Schedule = "linear"
    """Learning rate schedule: falls to zero along a cosine or a line, with the inverse root of the step, or not."""
    weight_decay: float = 0.0
    """Weight decay: pulls matrices towards zero; vectors have none."""
    evaluate: int = 100
    """Steps between two evaluations on held-out data."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "pictures": (1, 10**7),
        "structure": (0, 1),
        "smooth": (0, 1e3),
        "agree": (0, 1e3),
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
    }


class Shown(NamedTuple):
    """A batch of pairs: the left picture as the model reads it, both from 0 to 1, and true disparities of both."""

    image: "Tensor"
    left: "Tensor"
    right: "Tensor"
    truth: "Tensor"
    rows: "np.ndarray"


def build(recipe: Recipe) -> "Task":
    """A model that says disparities, chosen by how alike the eyes become; the supervised twin by how far off it is."""
    import torch

    from regard.data import SETS, DataError
    from regard.data.stereo import eye_pairs
    from regard.recipes import choose
    from regard.recipes.pictured import MEAN, STD
    from regard.train.task import Task
    from regard.vision import Processor, Size

    if recipe.supervised:
        choose.refuse(recipe, ("structure", "smooth", "agree"), "with --supervised")
    torch.manual_seed(recipe.seed)
    family, model = choose.build(recipe.model, recipe.set, {})
    if family.name != "monodepth":
        raise ValueError(f"{recipe.model} is a {family.name}, which says no depth; choose a preset of monodepth")
    config: Any = model.config
    processor = Processor(size=Size(height=config.size, width=config.columns), image_mean=MEAN, image_std=STD)
    train, held = (eye_pairs(recipe.data, split) for split in ("train", "val"))
    learnt = batches(recipe, processor, train, recipe.pictures)
    watched = batches(recipe, processor, held, WATCHED)
    known = any(bool((batch.truth > 0).any()) for batch in watched.once())
    if recipe.supervised and not known:
        raise DataError(f"{recipe.data} has no true disparities to learn from; leave --supervised out")
    card: dict[str, Any] = {
        "title": f"Depth from one picture: monodepth, {recipe.data}",
        "data": recipe.data,
        "taught by": "true disparities" if recipe.supervised else "two eyes",
    }
    card |= {} if train.metres is None else {"metres": train.metres}
    return Task(
        model=model,
        family=family,
        processor=processor,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=lambda model, batch: loss(model, batch, recipe),
        score=lambda model: score(model, watched, train.metres or 1.0),
        # Whoever learns from eyes alone is not chosen by a depth either.
        metric="abs rel" if recipe.supervised else "appearance",
        higher_is_better=("delta",),
        unit="pairs",
        task="depth",
        card=card | ({"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}),
        measure=lambda model: measure(recipe, processor, model),
        dtype="float32",
    )


def batches(recipe: Recipe, processor: "Processor", known: "EyePairs", count: int) -> "Batches[Shown]":
    """Pairs in any order, in training half of them in a mirror."""
    import numpy as np
    import torch

    from regard.chance import Chance
    from regard.data import Batches, Order
    from regard.data.contents import contents

    height, width = processor.size.height or 0, processor.size.width or 0
    left, right, truth = known.arrays(height, width, count)

    def collate(rows: Any, chance: Chance | None) -> Shown:
        mine, theirs, real = left[rows], right[rows], truth[rows]
        if chance is not None and recipe.mirror:
            turned = np.array([chance.happens(0.5) for _ in rows])
            # What the right eye saw is what the left one sees in a mirror.
            mine[turned], theirs[turned] = theirs[turned][:, :, ::-1].copy(), mine[turned][:, :, ::-1].copy()
            real[turned] = real[turned][:, ::-1, :, ::-1]
        one, other = (torch.from_numpy(each.transpose(0, 3, 1, 2)).float().div_(255) for each in (mine, theirs))
        return Shown(processor.numbers(mine), one, other, torch.from_numpy(real), rows)

    count, shown = len(left), contents(known.source)
    order = Order(
        [1] * count, room=min(recipe.batch_size, count), seed=recipe.seed, data=known.checksum, contents=shown
    )
    return Batches(order, collate)


def loss(model: "nn.Module", batch: Shown, recipe: Recipe) -> "Tensor":
    """The loss of each pair, summed over pairs."""
    from regard.train.stereo import Weights, stereo_loss, supervised_loss

    device = next(iter(model.parameters())).device
    # In full precision, since a hundredth of a pixel matters to what is warped.
    scales = [each.float() for each in model(batch.image.to(device)).scales]
    if recipe.supervised:
        return supervised_loss(scales, batch.truth.to(device)).sum()
    weights = Weights(recipe.structure, recipe.smooth, recipe.agree)
    return stereo_loss(scales, (batch.left.to(device), batch.right.to(device)), weights).total.sum()


def score(model: Any, watched: "Batches[Shown]", metres: float) -> dict[str, float]:
    """How unlike the right picture, warped, is the left one; and how far off depths are, where they are known."""
    from regard.analysis.depth import errors
    from regard.train.stereo import appearance, warp

    unlike, off = list[float](), dict[str, list[float]]()
    for batch in watched.once():
        said = _left(model, batch)
        unlike += appearance(warp(batch.right, -said), batch.left).tolist()
        for name, values in errors(said.numpy(), batch.truth[:, 0].numpy(), metres).items():
            off.setdefault(name, []).extend(values.tolist())
    return {name: sum(values) / len(values) for name, values in {"appearance": unlike, **off}.items() if values}


def _left(model: Any, batch: Shown) -> "Tensor":
    """The disparities of the left eye."""
    said: Tensor = model(batch.image.to(next(model.parameters()).device)).left
    return said.float().cpu()


def measure(recipe: Recipe, processor: "Processor", model: Any) -> dict[str, Any]:
    """What the card says: the scores of the test, and of what can be said without looking at a picture."""
    import numpy as np

    from regard.analysis.depth import constant, errors, usual
    from regard.data.stereo import eye_pairs

    known = eye_pairs(recipe.data, "test")
    rows = [(_left(model, batch), batch.truth[:, 0]) for batch in batches(recipe, processor, known, len(known)).once()]
    found, real = (np.concatenate(part) for part in zip(*rows, strict=True))
    if not (real > 0).any():
        return {}
    measured = dict[str, float]()
    for name, said in (("", found), ("constant ", constant(real)), ("usual ", usual(real))):
        off = errors(said, real, known.metres or 1.0)
        measured |= {f"{name}{which}": round(float(values.mean()), 4) for which, values in off.items()}
    return measured
