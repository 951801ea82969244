"""Train a language model to talk about scenes that it is told of, before a Flamingo shows it any (`regard train ask`).

A talk of the little world names things by new words, asks and answers, and goes on in dialogues; in the place of each
picture stands what it shows. What is learnt is what is said: names that were said before, answers and captions. The
descriptions themselves are drawn by chance, and a small model that had to foresee them would learn little else.

regard train talk
regard train talk --set width=128 --steps 4000
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.train.plan import Plan

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from regard.train.task import Task

VOCABULARY = 2000  # talks from which the words are taken
WATCHED = 100  # talks of each kind that are scored on the way
SIZE = ("width=96", "depth=4", "heads=4", "hidden=288", "context=160", "dropout=0", "attn_dropout=0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    model: str = "gpt-mini"
    """The model, by the name of a preset of gpt."""
    set: tuple[str, ...] = SIZE
    """Fields of the preset to change."""
    init: Literal["normal", "mimetic"] = "mimetic"
    """First weights of the attentions: drawn at random, or to look near (mimetic, Trockman 2023)."""
    batch_size: int = 16
    """Talks in a batch; many small steps find out sooner what belongs together than few large ones."""
    tokens: int = 0
    """Of no use for talks, which are counted by --batch-size."""
    talks: int = 100_000
    """How many talks of the world to learn from; it has no end."""
    steps: int = 3000
    """Optimizer steps: how many times the weights change."""
    optimizer: Literal["adamw", "muon", "sgd"] = "muon"
    """Muon (Jordan 2024), which needs fewer steps from scratch; AdamW (Loshchilov 2019), with an lr of 1e-3 or so; or
    SGD: plain gradient descent with momentum."""
    lr: float = 5e-3
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 50
    """Warm-up: steps in which the learning rate rises from zero to its peak."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "tokens": (0, 0),
        "batch_size": (1, 10**6),
        "talks": (1, 10**8),
    }


class Told(NamedTuple):
    """A batch of talks: ids, and what is learnt of them."""

    ids: "Tensor"
    learnt: "Tensor"


def build(recipe: Recipe) -> "Task":
    """A model that talks, scored by its answers."""
    import torch

    from regard.data import Batches, Order
    from regard.data.talked import world_talk, world_talks
    from regard.layers.mimetic import mimetic
    from regard.recipes import choose
    from regard.text import Tokenizer
    from regard.train.task import Task

    tokenizer = Tokenizer.train(world_talks("train", VOCABULARY), kind="words", lower=True)
    torch.manual_seed(recipe.seed)
    family, model = choose.build(recipe.model, recipe.set, {"vocab": tokenizer.vocab})
    if family.name != "gpt":
        raise ValueError(f"{recipe.model} is a {family.name}; a Flamingo speaks by a gpt, so choose a preset of gpt")
    if recipe.init == "mimetic":
        mimetic(model)
    built: Any = model
    context: int = built.config.context

    def gather(rows: "np.ndarray", chance: Any) -> Told:  # noqa: ARG001
        return collate([world_talk("train", row) for row in rows.tolist()], tokenizer, context)

    order = Order([1] * recipe.talks, room=min(recipe.batch_size, recipe.talks), seed=recipe.seed, data=tokenizer.vocab)
    watched = {
        name: collate([world_talk("val", i, kind, shots=4) for i in range(WATCHED)], tokenizer, context)
        for name, kind in (("episodes", "episode"), ("questions", "questions"), ("dialogues", "dialogue"))
    }
    return Task(
        model=model,
        family=family,
        tokenizer=tokenizer,
        batches=Batches(order, gather),
        size=lambda batch: int(batch.learnt[:, 1:].sum()),
        loss=loss,
        score=lambda model: score(model, watched),
        metric="accuracy",
        higher_is_better=("accuracy", *watched),
        task="generate",
        card={"title": "Talk about scenes: gpt, world", "data": "world", "lower": True, "rows": "lines"},
        trained_with={"vocab": tokenizer.vocab},
        measure=lambda model: {name: round(value, 2) for name, value in score(model, watched).items()},
    )


def collate(talks: Any, tokenizer: Any, context: int) -> Told:
    """Talks side by side, told without pictures."""
    from regard.data.interleaved import told_parts
    from regard.recipes.ask import put

    ids, _, learnt = put([told_parts(talk) for talk in talks], tokenizer, context)
    return Told(ids, learnt)


def loss(model: "nn.Module", batch: Told) -> "Tensor":
    """The summed cross entropy of the words that answer, call or describe."""
    from regard.train.loss import cross_entropy

    device = next(iter(model.parameters())).device
    ids, learnt = (part.to(device) for part in batch)
    return cross_entropy(model(ids[:, :-1]), ids[:, 1:].masked_fill(~learnt[:, 1:], -100))


def score(model: "nn.Module", watched: Mapping[str, Told]) -> dict[str, float]:
    """How many of a hundred answers are right word by word, given all that came before; of episodes, the last."""
    from regard.recipes.ask import answers_of

    device = next(iter(model.parameters())).device
    found: dict[str, float] = {}
    for name, batch in watched.items():
        hits = answers_of(model(batch.ids[:, :-1].to(device)), batch.ids, batch.learnt, last=name == "episodes")
        found[name] = 100 * sum(hits) / max(1, len(hits))
    return {"accuracy": sum(found.values()) / len(found), **found}
