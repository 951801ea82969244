"""Perceiver IO: any output by queries, on the world (Jaegle 2022).

`--asks flow` is how far each pixel of a frame moves until a later one, a query for each cell; `letters` which letters
are hidden in a sentence, a query for each place; `film` is autoencoding of films with their sentences, a query for each
place of both, from latents that hold fewer numbers than they do. The card tells each score beside the best that can be
said without looking: no flow, the most frequent letter, the mean film.

regard train queries
regard train queries --asks letters
regard train queries --asks film
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.train.plan import Optimizer, Plan, Schedule

if TYPE_CHECKING:
    from torch import Tensor

    from regard.data import Batches
    from regard.pipelines.asking import Given, Question
    from regard.train.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    asks: Literal["flow", "letters", "film"] = "flow"
    """What the model is asked: optical flow, hidden letters (masked language modelling), or a film again."""
    model: str = ""
    """The model, by the name of a preset of perceiver; one for what is asked if left out."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as latents=32 depth=6."""
    items: int = 8000
    """How many clips, sentences or films of the world to learn from."""
    watched: int = 300
    """How many are scored on the way."""
    batch_size: int = 64
    """Clips, sentences or films in a batch."""
    tokens: int = 0
    """Of no use here: clips, sentences and films are counted by --batch-size."""
    steps: int = 1500
    """Optimizer steps: how many times the weights change."""
    optimizer: Optimizer = "muon"
    """AdamW (Loshchilov 2019), Muon (Jordan 2024), or SGD; here Muon, which needs fewer steps."""
    lr: float = 1e-2
    """Peak learning rate (the optimizer's step size)."""
    warmup: int = 100
    """Warm-up: steps in which the learning rate rises from zero to its peak."""
    schedule: Schedule = "linear"
    """Learning rate schedule: falls to zero along a cosine or a line, with the inverse root of the step, or not."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "items": (1, 10**7),
        "watched": (1, 10**6),
        "batch_size": (1, 10**6),
        "tokens": (0, 0),
    }


def build(recipe: Recipe) -> "Task":
    """A model that answers queries, scored by its answers."""
    import torch

    from regard.pipelines.asking import QUESTIONS
    from regard.recipes import choose
    from regard.recipes.shown import count_learning
    from regard.train.task import Task

    torch.manual_seed(recipe.seed)
    question = QUESTIONS[recipe.asks]()
    family = choose.family_of(recipe.model or question.preset)
    if family.name != "perceiver":
        raise ValueError(f"{recipe.model} is a {family.name}, which answers no queries; choose a preset of perceiver")
    decided = question.decided()
    if recipe.asks == "flow":  # two numbers for each pixel of a cell
        patch = choose.parse(family, recipe.set).get("patch", family.presets[recipe.model or question.preset].patch)
        decided["classes"] = 2 * patch**2
    _, model = choose.build(recipe.model or question.preset, recipe.set, decided)
    learnt, watched = (
        batches(recipe, question, split, count) for split, count in (("train", recipe.items), ("val", recipe.watched))
    )
    return Task(
        model=model,
        family=family,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=lambda model, batch: loss(question, model, batch),
        score=lambda model: {name: each.value for name, each in scores(question, model, watched).items()},
        metric=question.metric,
        higher_is_better=question.better,
        unit={"flow": "clips", "letters": "sentences", "film": "films"}[recipe.asks],
        task="queries",
        card={
            "title": f"Answers to queries: perceiver, {recipe.asks} of the world",
            "data": "world",
            "asks": {"what": recipe.asks, **asdict(question)},
        },
        trained_with={"tokens": None},
        measure=lambda model: measure(recipe, question, model),
        notes=[count_learning(model)],
    )


def batches(recipe: Recipe, question: "Question", split: str, count: int) -> "Batches[Given]":
    """What is asked, in any order."""
    from regard.chance import Chance
    from regard.data import Batches, Order
    from regard.data.asked import checksum

    known = question.known(split, count)

    def collate(rows: Any, chance: Chance | None) -> "Given":
        return question.lay_out(known, rows, chance)

    order = Order([1] * len(known), room=min(recipe.batch_size, len(known)), seed=recipe.seed, data=checksum(known))
    return Batches(order, collate)


def loss(question: "Question", model: Any, batch: "Given") -> "Tensor":
    """How far the answers are off, summed over what is asked."""
    from regard.pipelines.asking import run

    config = getattr(model, "module", model).config
    return question.loss(run(model, batch), batch, config)


def scores(question: "Question", model: Any, watched: "Batches[Given]", *, beside: bool = False) -> dict[str, Any]:
    """The scores; `beside` them, those of what can be said without looking."""
    from regard.pipelines.asking import run

    given = list(watched.once())
    found = question.scores([run(model, each).cpu() for each in given], given, model.config)
    return {name: each for name, each in found.items() if beside or "/" not in name}


def measure(recipe: Recipe, question: "Question", model: Any) -> dict[str, Any]:
    """What the card says: every score on the test with its interval, and what it is compared with."""
    from regard.recipes.tuning import told

    test = batches(recipe, question, "test", min(500, max(recipe.watched, 2)))
    return told("test", scores(question, model, test, beside=True))
