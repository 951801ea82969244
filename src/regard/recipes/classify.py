"""Classify texts: by default, whether a sentence praises or blames, by an LSTM that looks over its past (Cheng 2016).

regard train classify
regard train classify --data reviews.tsv
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from regard.train.plan import Plan

if TYPE_CHECKING:
    from torch import Tensor, nn

    from regard.data import Batch, Batches
    from regard.text import Tokenizer
    from regard.train.task import Task

Texts = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    data: str = "sst2"
    """A named set, a folder with train.tsv and val.tsv (text, tab, label), or one such table, which is divided."""
    model: str = "intra-sst-binary"
    """The model, by the name of a preset that classifies texts."""
    set: tuple[str, ...] = ("width=150", "hidden=128", "depth=1")
    """Fields of the preset to change, such as hidden=168 depth=2 dropout=0.3."""
    vocab: int = 12_000
    """Vocabulary size in words; all others are unknown."""
    word_dropout: float = 0.1
    """Word dropout: in training, a word is read as unknown with this probability."""
    limit: int = 60
    """Maximum length in words; longer texts are cut off."""
    steps: int = 1200
    """Optimizer steps: how many times the weights change."""
    warmup: int = 100
    """Warm-up: steps in which the learning rate rises from zero to its peak."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Plan.bounds,
        "vocab": (5, 10**7),
        "word_dropout": (0, 1),
        "limit": (2, 10**6),
    }


def build(recipe: Recipe) -> "Task":
    """A model that names the label of a text, scored by accuracy."""
    import torch

    from regard.data import SETS, DataError, labelled
    from regard.recipes import choose
    from regard.text import Tokenizer
    from regard.train.task import Task

    train, held = labelled(recipe.data, "train"), labelled(recipe.data, "val")
    for split, rows in (("train", train), ("val", held)):
        if not rows:
            raise DataError(
                f"{recipe.data} has no texts in its split {split!r}; give more, or a folder with {split}.tsv"
            )
    labels = sorted({label for _, label in train})
    tokenizer = Tokenizer.train((text for text, _ in train), kind="words", vocab=recipe.vocab, lower=True)
    torch.manual_seed(recipe.seed)
    family, model = choose.build(recipe.model, recipe.set, {"vocab": tokenizer.vocab, "classes": len(labels)})
    watched = batches(recipe, tokenizer, labels, held)
    card = {"title": f"Labels of texts: {family.name}, {recipe.data}", "data": recipe.data, "labels": labels}
    return Task(
        model=model,
        family=family,
        tokenizer=tokenizer,
        batches=batches(recipe, tokenizer, labels, train),
        size=lambda batch: len(batch.rows),
        loss=lambda model, batch: loss(model, batch, word_dropout=recipe.word_dropout, unknown=tokenizer.unknown or 0),
        score=lambda model: {"accuracy": accuracy(model, watched)},
        metric="accuracy",
        higher_is_better=("accuracy",),
        unit="texts",
        task="classify",
        card=card | {"lower": True} | ({"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}),
        trained_with={"vocab": tokenizer.vocab},
        measure=lambda model: measure(recipe, model, tokenizer, labels),
    )


def batches(recipe: Recipe, tokenizer: "Tokenizer", labels: list[str], rows: Texts) -> "Batches[Batch]":
    """Texts as padded ids, and the number of each one's label."""
    from regard.data import DataError, token_batches

    if strange := sorted({label for _, label in rows}.difference(labels)):
        raise DataError(f"the label {strange[0]!r} of {recipe.data} is none of those to learn: {', '.join(labels)}")
    ids = tokenizer.encode([text for text, _ in rows], stop=True, limit=recipe.limit)
    numbers = [[labels.index(label)] for _, label in rows]
    return token_batches(ids, numbers, tokens=recipe.tokens, seed=recipe.seed, pad=tokenizer.pad or 0)


def predict(
    model: "nn.Module", batch: "Batch", *, word_dropout: float = 0.0, unknown: int = 0
) -> "tuple[Tensor, Tensor]":
    """The scores of the labels of each text, and the right ones."""
    import torch

    device = next(iter(model.parameters())).device
    ids, right = (torch.as_tensor(side, device=device) for side in batch.sides)
    if model.training and word_dropout:
        ids = ids.masked_fill(torch.rand(ids.shape, device=device) < word_dropout, unknown)
    return model(ids, lengths=torch.as_tensor(batch.lengths[0], device=device)), right[:, 0]


def loss(model: "nn.Module", batch: "Batch", *, word_dropout: float, unknown: int) -> "Tensor":
    from regard.train.loss import cross_entropy

    return cross_entropy(*predict(model, batch, word_dropout=word_dropout, unknown=unknown))


def accuracy(model: "nn.Module", rows: "Batches[Batch]") -> float:
    """How many of a hundred texts get their label."""
    import torch

    hits = [scores.argmax(dim=-1) == right for scores, right in (predict(model, batch) for batch in rows.once())]
    return 100 * float(torch.cat(hits).float().mean())


def measure(recipe: Recipe, model: "nn.Module", tokenizer: "Tokenizer", labels: list[str]) -> dict[str, float]:
    """What the card says: accuracy on the validation data, and on the test where there is one."""
    from regard.data import DataError
    from regard.pipelines.classify import Classify

    classify = Classify.of(model, tokenizer, card={"labels": labels}, limit=recipe.limit)
    found: dict[str, float] = {}
    for split in ("val", "test"):
        try:
            found[f"{split} accuracy"] = round(classify.evaluate(recipe.data, split=split).scores["accuracy"].value, 2)
        except (DataError, ValueError):  # a folder need not have a test
            continue
    return found
