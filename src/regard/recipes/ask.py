"""Train a Flamingo: a language model that stays as it is learns to see pictures between its words (Alayrac 2022).

On the world, it learns from captions, questions, dialogues, and episodes in which pictures are called by new words that
mean something else each time. The card of the model tells how often it is right after 0 to 8 shots, with the pictures
and with those of another episode in their place. What sees is trained too, unless the preset says that it is frozen.

regard train talk --out runs/talk
regard train ask --language runs/talk
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.train.plan import Plan

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.data import Batches
    from regard.data.interleaved import Part
    from regard.data.talked import Talk
    from regard.train.task import Task
    from regard.vision import Processor

WATCHED = 60  # talks of each kind that are scored on the way; at the end there are more
SHOTS = 4  # of the episodes among them


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    language: str = "world-gpt"
    """The language model, which stays as it is: a trained GPT (a folder, or the name of a bundled one)."""
    tower: str = ""
    """A trained model of pictures to begin with (a folder, or a bundled one); without it, what sees is drawn anew."""
    model: str = "flamingo-world"
    """The model, by the name of a preset of flamingo; its language model is the one that is given."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as latents=16 every=2."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of a tower's attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""
    batch_size: int = 32
    """Talks in a batch; each has up to nine pictures."""
    tokens: int = 0
    """Of no use for talks, which are counted by --batch-size."""
    talks: int = 100_000
    """How many talks of the world to learn from; it has no end."""
    steps: int = 1500
    """Optimizer steps: how many times the weights change."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019), with an lr of 1e-3 or so; or
    SGD: plain gradient descent with momentum."""
    lr: float = 5e-3
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 50
    """Warm-up: steps in which the learning rate rises from zero to its peak."""
    evaluate: int = 500
    """Steps between two evaluations on held-out data."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
        "talks": (1, 10**8),
    }


class Talked(NamedTuple):
    """A batch of talks: ids, where pictures stand, what is learnt, and all pictures one behind another."""

    ids: "Tensor"
    shown: "Tensor"
    learnt: "Tensor"
    images: "Tensor"
    rows: "np.ndarray"


def build(recipe: Recipe) -> "Task":
    """A model that talks about pictures, scored by its answers."""
    from regard.recipes.writer import story
    from regard.train.task import Task

    family, model, tokenizer, processor, card = begin(recipe)
    watched = watch(recipe, tokenizer, processor, model.config.language.context)
    return Task(
        model=model,
        family=family,
        tokenizer=tokenizer,
        processor=processor,
        batches=batches(recipe, tokenizer, processor, model.config.language.context),
        size=lambda batch: int(batch.learnt[:, 1:].sum()),
        loss=loss,
        score=lambda model: score(model, watched),
        metric="accuracy",
        higher_is_better=("accuracy", *watched),
        task="ask",
        card={
            "title": "Talk about pictures: flamingo, world",
            "data": "world",
            "lower": tokenizer.lower,
            "language_model": story(card),
        },
        measure=lambda model: measure(model, tokenizer, processor),
        trained_with={"vocab": tokenizer.vocab},
    )


def begin(recipe: Recipe) -> tuple[Any, Any, Any, "Processor", Mapping[str, Any]]:
    """A fresh Flamingo around a trained language model, with its tokenizer and its card."""
    import torch

    from regard.layers.mimetic import mimetic
    from regard.recipes import choose
    from regard.recipes.pictured import MEAN, STD
    from regard.recipes.writer import load_trained
    from regard.vision import Processor, Size

    spoken = load_trained(recipe.language)
    if spoken.family.name != "gpt":
        raise ValueError(f"{recipe.language} is a {spoken.family.name}; a Flamingo speaks by a gpt, so choose one")
    decided: dict[str, Any] = {"language": spoken.model.config}
    seen = None
    if recipe.tower:
        seen = load_tower(recipe.tower)
        decided |= {"tower": seen.config}
    torch.manual_seed(recipe.seed)
    if (found := choose.family_of(recipe.model)).name != "flamingo":
        raise ValueError(f"{recipe.model} is a {found.name}, which sees no pictures between words; choose flamingo")
    family, model = choose.build(recipe.model, recipe.set, decided)
    built: Any = model
    if seen is not None:
        built.tower.load_state_dict(seen.state_dict())
    elif recipe.init == "mimetic":
        mimetic(built.tower)
    built.language.load_state_dict(spoken.model.state_dict())
    size = built.config.tower.size
    processor = Processor(size=Size(height=size, width=size), image_mean=MEAN, image_std=STD)
    return family, model, spoken.tokenizer, processor, spoken.card


def load_tower(wanted: str) -> Any:
    """A trained model of pictures without its classifier."""
    from dataclasses import replace
    from typing import get_args

    from regard.data import DataError
    from regard.hub import CheckpointError, load
    from regard.models.tower import Tower, make_tower

    try:
        found: Any = load(wanted).model
    except CheckpointError as error:
        raise DataError(f"training cannot begin from {wanted}: {error}") from None
    if not isinstance(found.config, get_args(Tower)):
        raise DataError(f"{wanted} is a {type(found).__name__}, which gives no map of features; choose a vit or resnet")
    tower = make_tower(replace(found.config, classes=0))
    kept = {name: tensor for name, tensor in found.state_dict().items() if name in tower.state_dict()}
    tower.load_state_dict(kept)
    return tower


def batches(recipe: Recipe, tokenizer: Any, processor: "Processor", context: int) -> "Batches[Talked]":
    """Talks in any order, of the split to learn from."""
    from regard.chance import Chance
    from regard.data import Batches, Order
    from regard.data.talked import world_talk

    def gather(rows: "np.ndarray", chance: Chance | None) -> Talked:  # noqa: ARG001
        talks = [world_talk("train", row) for row in rows.tolist()]
        return collate(talks, tokenizer, processor, context, rows)

    order = Order([1] * recipe.talks, room=min(recipe.batch_size, recipe.talks), seed=recipe.seed, data=tokenizer.vocab)
    return Batches(order, gather)


def collate(
    talks: "Sequence[Talk]", tokenizer: Any, processor: "Processor", context: int, rows: "np.ndarray"
) -> Talked:
    """Talks side by side, padded behind, and their pictures."""
    from regard.data.interleaved import talk_parts

    laid, kept = put([talk_parts(talk) for talk in talks], tokenizer, context), list[Any]()
    for talk, row in zip(talks, laid[1], strict=True):
        # Of a talk that was cut, those that still stand in it; nothing follows its last word, so that nobody reads it.
        kept += talk.scenes[: int(row[:-1].sum())]
    return Talked(*laid, draw(kept, processor), rows)


def put(given: "Sequence[Sequence[Part]]", tokenizer: Any, context: int) -> "tuple[Tensor, Tensor, Tensor]":
    """Ids side by side, where pictures stand, and what is learnt; what is longer than the context is cut."""
    import torch

    from regard.data.interleaved import lay_out
    from regard.data.padded import put_side_by_side

    laid = [lay_out(tokenizer, parts) for parts in given]

    def side(rows: "Sequence[Sequence[int]]", pad: int) -> "Tensor":
        return torch.from_numpy(put_side_by_side([row[: context + 1] for row in rows], pad)[0])

    ids = side([row.ids for row in laid], tokenizer.pad or 0)
    return ids, side([row.shown for row in laid], 0).bool(), side([row.learnt for row in laid], 0).bool()


def draw(scenes: Sequence[Any], processor: "Processor") -> "Tensor":
    """Scenes as a model sees them."""
    import numpy as np

    from regard.world import render_batch

    size = processor.size.height or 0  # which `begin` has set
    pixels = render_batch(scenes, size)["rgb"] if scenes else np.zeros((0, size, size, 3), np.uint8)
    return processor.numbers(pixels)


def loss(model: "nn.Module", batch: Talked) -> "Tensor":
    """The summed cross entropy of the words that answer, call or describe."""
    from regard.train.loss import cross_entropy

    device = next(iter(model.parameters())).device
    ids, shown, learnt, images = (part.to(device) for part in batch[:4])
    logits = model(ids[:, :-1], images, shown[:, :-1])
    return cross_entropy(logits, ids[:, 1:].masked_fill(~learnt[:, 1:], -100))


def watch(recipe: Recipe, tokenizer: Any, processor: "Processor", context: int) -> dict[str, list[Talked]]:
    """Held-out talks of each kind that has answers of a word."""
    import numpy as np

    from regard.data.talked import world_talk

    found: dict[str, list[Talked]] = {}
    for name, kind in (("episodes", "episode"), ("questions", "questions"), ("dialogues", "dialogue")):
        talks = [world_talk("val", number, kind, shots=SHOTS) for number in range(WATCHED)]
        rooms = range(0, len(talks), recipe.batch_size)
        found[name] = [
            collate(talks[i : i + recipe.batch_size], tokenizer, processor, context, np.arange(i, i + 1)) for i in rooms
        ]
    return found


def score(model: "nn.Module", watched: Mapping[str, Sequence[Talked]]) -> dict[str, float]:
    """How many of a hundred answers are right word by word, given all that came before; of episodes, the last."""
    found: dict[str, float] = {}
    for name, some in watched.items():
        hits: list[bool] = []
        for batch in some:
            hits += right_answers(model, batch, last=name == "episodes")
        found[name] = 100 * sum(hits) / max(1, len(hits))
    return {"accuracy": sum(found.values()) / len(found), **found}


def right_answers(model: "nn.Module", batch: Talked, *, last: bool) -> list[bool]:
    """Of each answer whether all its words are the likeliest."""
    device = next(iter(model.parameters())).device
    logits = model(batch.ids[:, :-1].to(device), batch.images.to(device), batch.shown[:, :-1].to(device))
    return answers_of(logits, batch.ids, batch.learnt, last=last)


def answers_of(logits: "Tensor", ids: "Tensor", learnt: "Tensor", *, last: bool) -> list[bool]:
    """Of each run of words that are learnt, or of the last of each row, whether all of them are the likeliest."""
    hits: list[bool] = []
    for said, wanted, known in zip(logits.argmax(-1).cpu(), ids[:, 1:], learnt[:, 1:].tolist(), strict=True):
        runs = [list(run) for own, run in groupby(range(len(known)), key=known.__getitem__) if own]
        right = [bool((said[run] == wanted[run]).all()) for run in runs]
        hits += right[-1:] if last else right
    return hits


def measure(model: "nn.Module", tokenizer: Any, processor: "Processor") -> dict[str, Any]:
    """What the card says of the test."""
    from pathlib import Path

    from regard.hub import Checkpoint
    from regard.pipelines.ask import Ask

    found = Ask(Checkpoint(model, None, tokenizer, {}, Path(), "model", processor)).evaluate("world")
    return found.measured()
