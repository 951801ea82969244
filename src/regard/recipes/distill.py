"""Distil an encoder: a DistilBERT of half the depth learns from what its teacher says of hidden words (Sanh 2019).

The student begins with every other layer of the teacher. Its loss is that of the paper: the teacher's probabilities at
a temperature, the hidden words themselves, and the direction of the last states. There is no next sentence.

regard train distill --teacher world-bert --data world
regard train distill --teacher hub:google-bert/bert-base-uncased --data my-texts
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.recipes import pretrain

if TYPE_CHECKING:
    from torch import Tensor, nn

    from regard.data import Batch, Batches
    from regard.models.distilbert import DistilBERT
    from regard.train.task import Task

WEIGHTS = {"teacher": 5.0, "words": 2.0, "states": 1.0}  # of the three losses, as the authors' code has them


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(pretrain.Recipe):
    teacher: str = "world-bert"
    """A trained encoder that guesses hidden words: a folder, a bundled one, hub:owner/name."""
    data: str = "world"
    """A named set of text (`regard data list`), the world, a text file, or a folder of .txt files."""
    depth: int = 0
    """Layers of the student; 0 is half of the teacher's."""
    temperature: float = 2.0
    """Temperature of both distributions: how much the unlikely words count."""
    second: Literal["next", "order", "none"] = "none"
    """A student learns hidden words alone."""
    model: str = ""
    """A student is a DistilBERT with the widths of its teacher, so that no preset is named."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **pretrain.Recipe.bounds,
        "depth": (0, 1000),
        "temperature": (0.1, 100),
    }


def build(recipe: Recipe) -> "Task":
    """A student, scored by how many hidden words it gets right, beside its teacher."""
    import torch

    from regard.data import SETS
    from regard.models.distilbert import FAMILY
    from regard.recipes.writer import load_trained
    from regard.train.task import Task

    useless = [
        name for name in ("begin", "model", "set", "vocab", "lower", "init") if getattr(recipe, name) != _default(name)
    ]
    if useless or recipe.second != "none":
        raise ValueError(f"--{useless[0] if useless else 'second'} is decided by the teacher; leave it out")
    found = load_trained(recipe.teacher)
    teacher, tokenizer = found.model, found.tokenizer
    if getattr(teacher.config, "head", "") not in ("masked", "pretraining") or tokenizer.mask is None:
        raise ValueError(f"{recipe.teacher} does not guess hidden words; choose a teacher that regard fill takes")
    torch.manual_seed(recipe.seed)
    student = halve(teacher, recipe.depth or max(1, teacher.config.depth // 2))
    teacher = teacher.eval().requires_grad_(False)
    texts = (pretrain.encode(tokenizer, pretrain.read(recipe, split)) for split in ("train", "val"))
    met, watched = (pretrain.batches(recipe, tokenizer, known) for known in texts)
    known = pretrain.score(teacher, watched)["masked_accuracy"]
    return Task(
        model=student,
        family=FAMILY,
        tokenizer=tokenizer,
        batches=met,
        size=pretrain.words_in,
        loss=lambda model, batch: loss(model, teacher, batch, recipe.temperature),
        teacher=teacher,
        score=lambda model: score(model, watched, known),
        metric="masked_accuracy",
        higher_is_better=("masked_accuracy", "of_teacher"),
        task="fill",
        card={
            "title": f"Masked words: distilbert of {recipe.teacher}, {recipe.data}",
            "data": recipe.data,
            "lower": tokenizer.lower,
            "teacher": {"name": recipe.teacher, "depth": teacher.config.depth, "masked_accuracy": round(known, 3)},
            **({"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}),
        },
        trained_with={
            "begin": None,
            "model": None,
            "set": None,
            "init": None,
            "vocab": tokenizer.vocab,
            "lower": tokenizer.lower,
        },
        measure=lambda model: {name: round(value, 3) for name, value in score(model, watched, known).items()},
        notes=[f"the teacher gets {known:.1f} % of the hidden words right"],
    )


def _default(name: str) -> Any:
    return next(field.default for field in fields(Recipe) if field.name == name)


def halve(teacher: "nn.Module", depth: int) -> "DistilBERT":
    """A student with the words of its teacher, and of its layers as many as wanted, evenly spread."""
    from regard.models.distilbert import Config, DistilBERT

    theirs: Any = teacher.config
    if not 1 <= depth <= theirs.depth:
        raise ValueError(
            f"a student of {depth} layers cannot begin with those of {theirs.depth}; give 1 to {theirs.depth}"
        )
    shared = {field.name for field in fields(Config)} & {field.name for field in fields(theirs)}
    config = Config(**{name: getattr(theirs, name) for name in shared - {"head", "depth"}}, depth=depth, head="masked")
    student = DistilBERT(config)
    chosen = [round(i * theirs.depth / depth) for i in range(depth)]
    wanted, state = student.state_dict(), teacher.state_dict()
    for new, old in enumerate(chosen):
        prefix = f"encoder.blocks.{old}."
        state |= {
            f"encoder.blocks.{new}.{name.removeprefix(prefix)}": tensor
            for name, tensor in teacher.state_dict().items()
            if name.startswith(prefix)
        }
    missing = [name for name in wanted if name not in state or state[name].shape != wanted[name].shape]
    if missing:
        raise ValueError(f"a {type(teacher).__name__} has no {missing[0]} to begin a DistilBERT with; take a BERT")
    student.load_state_dict({name: state[name] for name in wanted})
    return student


def loss(model: "nn.Module", teacher: "nn.Module", batch: "Batch", temperature: float) -> "Tensor":
    """The three losses, summed over hidden words; that of the states is a mean over tokens and weighs as much."""
    import torch
    import torch.nn.functional as F

    from regard.train.loss import cross_entropy

    device = next(iter(model.parameters())).device
    ids, segments, wanted, _ = (torch.as_tensor(side, device=device) for side in batch.sides)
    lengths = torch.as_tensor(batch.lengths[0], device=device)
    hidden = wanted >= 0
    with torch.no_grad():
        taught = teacher(ids, segments=segments, lengths=lengths, masked=hidden)
    said = model(ids, lengths=lengths, masked=hidden)
    soft = F.kl_div(
        (said.logits / temperature).log_softmax(dim=-1),
        (taught.logits / temperature).log_softmax(dim=-1),
        log_target=True,
        reduction="sum",
    )
    real = torch.arange(ids.shape[1], device=device) < lengths[:, None]
    apart = 1 - F.cosine_similarity(said.hidden[real], taught.hidden[real], dim=-1)
    return (
        WEIGHTS["teacher"] * temperature**2 * soft
        + WEIGHTS["words"] * cross_entropy(said.logits, wanted[hidden])
        + WEIGHTS["states"] * apart.mean() * int(hidden.sum())
    )


def score(model: "nn.Module", held: "Batches[Batch]", teacher: float) -> dict[str, float]:
    """Of a hundred hidden words, how many are told right; and how many of those that the teacher gets right."""
    right = pretrain.score(model, held)["masked_accuracy"]
    return {"masked_accuracy": right, "of_teacher": 100 * right / teacher}
