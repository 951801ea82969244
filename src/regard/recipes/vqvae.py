"""Tokens for pictures: train a VQ-VAE (van den Oord 2017), whose tokens `regard train paint` writes.

The card tells how much of its codebook is used: the share of entries that are ever chosen, and their perplexity.

regard train vqvae --out runs/vqvae
regard train vqvae --set codes=512 --steps 4000
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from regard.train.plan import Plan

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.data import Batches
    from regard.data.phrased import Phrased
    from regard.train.task import Task

REVIVED = 64  # pictures that decide which entries of the codebook are idle
WATCHED = 500  # pictures that are scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    model: str = "vqvae-world"
    """The model, by the name of a preset of vqvae."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as codes=512 width=96."""
    pictures: int = 20_000
    """How many pictures of the world to learn from."""
    batch_size: int = 64
    """Pictures in a batch."""
    tokens: int = 0
    """Of no use for pictures, which are counted by --batch-size."""
    beta: float = 0.25
    """Commitment: how strongly vectors are kept near the entries they choose (the paper's β)."""
    revive: int = 50
    """Steps between two looks for entries of the codebook that are idle, in the first half; 0 lets them lie."""
    steps: int = 2000
    """Optimizer steps: how many times the weights change."""
    lr: float = 1e-3
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 50
    """Warm-up: steps in which the learning rate rises from zero to its peak."""
    weight_decay: float = 0.0
    """Weight decay: pulls matrices towards zero; vectors have none."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "pictures": (1, 10**7),
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
        "beta": (0, 100),
        "revive": (0, 10**9),
    }


class Shown(NamedTuple):
    """A batch of pictures."""

    image: "Tensor"
    rows: "np.ndarray"


def build(recipe: Recipe) -> "Task":
    """A model that turns pictures into tokens and back, scored by how near it comes."""
    import torch

    from regard.chance import Chance
    from regard.data.phrased import world_phrases
    from regard.pipelines.paint import MEAN, STD
    from regard.recipes import choose
    from regard.train.task import Task
    from regard.vision import Processor, Size

    torch.manual_seed(recipe.seed)
    family, model = choose.build(recipe.model, recipe.set, {})
    if family.name != "vqvae":
        raise ValueError(f"{recipe.model} is a {family.name}, which makes no tokens of pictures; choose one of vqvae")
    config: Any = model.config
    side: int = config.size
    learnt = batches(recipe, world_phrases("train", recipe.pictures), side)
    watched = batches(recipe, world_phrases("val", WATCHED), side)
    first = learnt.collate(next(learnt.order.once())[:REVIVED], None).image

    def after_step(model: Any, step: int) -> None:
        if recipe.revive and step % recipe.revive == 0 and step <= recipe.steps // 2:
            dice = torch.Generator().manual_seed(Chance(recipe.seed, "revive", step).bits() >> 1)
            model.revive(first.to(next(model.parameters()).device), dice)

    return Task(
        model=model,
        family=family,
        processor=Processor(size=Size(height=side, width=side), image_mean=MEAN, image_std=STD),
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=lambda model, batch: loss(model, batch, recipe.beta),
        score=lambda model: score(model, watched),
        metric="error",
        higher_is_better=("used", "perplexity"),
        unit="pictures",
        after_step=after_step,
        card={"title": "Tokens for pictures: VQ-VAE, world", "data": "world"},
        measure=lambda model: {name: round(value, 4) for name, value in score(model, watched).items()},
        dtype="float32",
    )


def batches(recipe: Recipe, known: "Phrased", side: int) -> "Batches[Shown]":
    """Pictures in any order, as numbers from -1 to 1."""
    from zlib import crc32

    import numpy as np
    import torch

    from regard.chance import Chance
    from regard.data import Batches, Order

    pixels = known.at(side)

    def collate(rows: Any, chance: Chance | None) -> Shown:  # noqa: ARG001 - pictures are met as they are
        image = torch.from_numpy(np.ascontiguousarray(pixels[rows].transpose(0, 3, 1, 2))).float()
        return Shown(image.div_(127.5).sub_(1), rows)

    room = min(recipe.batch_size, len(known))
    return Batches(Order([1] * len(known), room=room, seed=recipe.seed, data=crc32(pixels.tobytes())), collate)


def loss(model: "nn.Module", batch: Shown, beta: float) -> "Tensor":
    """Equation 3 of the paper: the picture, the codebook and the commitment, summed over pictures."""
    image = batch.image.to(next(iter(model.parameters())).device)
    said = model(image)
    off = (said.image - image).square().mean(dim=(1, 2, 3))
    lost: Tensor = (off + said.codebook + beta * said.commitment).sum()
    return lost


def score(model: Any, watched: "Batches[Shown]") -> dict[str, float]:
    """The mean square of what a picture loses, and how much of the codebook is used."""
    import torch

    from regard.models.vqvae import usage

    off, count, codes = 0.0, 0, []
    for batch in watched.once():
        image = batch.image.to(next(model.parameters()).device)
        said = model(image)
        off += float((said.image - image).square().mean(dim=(1, 2, 3)).sum())
        count += len(image)
        codes.append(said.codes.flatten().cpu())
    used, perplexity = usage(torch.cat(codes), model.config.codes)
    return {"error": off / count, "used": used, "perplexity": perplexity}
