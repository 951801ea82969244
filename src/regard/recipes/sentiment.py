"""Say whether a sentence praises or blames: an LSTM that looks over its own past (Cheng 2016), or any labels you have.

regard train sentiment
regard train sentiment --data reviews.tsv
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.train.plan import Plan

if TYPE_CHECKING:
    from regard.train.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    data: str = "sst2"
    """A named set, a folder with train.tsv and val.tsv (text, tab, label), or one such table, which is divided."""
    vocab: int = 12_000
    """Words that are known; the others are unknown."""
    width: int = 150
    """Numbers for a word."""
    hidden: int = 128
    """Numbers in the state of a reader."""
    depth: int = 1
    """Readers, one above another."""
    dropout: float = 0.5
    """The chance that a number of the classifier is left out in training."""
    forget: float = 0.1
    """The chance that a word is read as unknown in training."""
    limit: int = 60
    """Longer texts are cut off, in words."""
    steps: int = 1200
    """How many times the weights change."""
    warmup: int = 100
    """Steps in which the rate rises from zero."""


def build(recipe: Recipe) -> tuple["Task", dict[str, Any]]:
    """The task of a recipe, and what its card should say."""
    import torch
    from torch import nn

    from regard.data import Batches, DataError, labelled
    from regard.models import intra
    from regard.text import Tokenizer
    from regard.train.loss import cross_entropy
    from regard.train.task import Task

    train, held = labelled(recipe.data, "train"), labelled(recipe.data, "val")
    labels = sorted({label for _, label in train})
    tokenizer = Tokenizer.train((text for text, _ in train), kind="words", vocab=recipe.vocab, lower=True)

    def batches(rows: list[tuple[str, str]]) -> Batches:
        strange = sorted({label for _, label in rows} - set(labels))
        if strange:
            raise DataError(f"the label {strange[0]!r} of {recipe.data} is none of those to learn: {', '.join(labels)}")
        ids = tokenizer.encode([text for text, _ in rows], stop=True, limit=recipe.limit)
        return Batches(ids, [[labels.index(label)] for _, label in rows], tokens=recipe.tokens, seed=recipe.seed)

    torch.manual_seed(recipe.seed)
    model = intra.LSTMN(
        intra.Config(
            vocab=tokenizer.vocab,
            width=recipe.width,
            hidden=recipe.hidden,
            depth=recipe.depth,
            classes=len(labels),
            dropout=recipe.dropout,
        )
    )

    def read(model: nn.Module, batch: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """The scores of the labels, and the right ones."""
        where = next(iter(model.parameters())).device
        ids, right = (torch.as_tensor(side, device=where) for side in batch.sides)
        if model.training and recipe.forget:
            ids = ids.masked_fill(torch.rand(ids.shape, device=where) < recipe.forget, tokenizer.special("unknown"))
        return model(ids, lengths=torch.as_tensor(batch.lengths[0], device=where)), right[:, 0]

    def loss(model: nn.Module, batch: Any) -> torch.Tensor:
        scores, right = read(model, batch)
        return cross_entropy(scores, right, ignore=-1)

    def accuracy(model: nn.Module, rows: Batches) -> float:
        hits = [scores.argmax(dim=-1) == right for scores, right in (read(model, batch) for batch in rows.once())]
        return 100 * float(torch.cat(hits).float().mean())

    watched = batches(held)

    def score(model: nn.Module) -> dict[str, float]:
        return {"accuracy": accuracy(model, watched)}

    def save(folder: Path, model: nn.Module, card: Mapping[str, Any]) -> None:
        from regard.hub.store import save

        measured = {"val accuracy": accuracy(model, watched)} | _tested(lambda rows: accuracy(model, batches(rows)))
        about = {**card, "measured": measured}
        save(folder, model, family=intra.FAMILY, card=about, tokenizer=tokenizer, dtype="bfloat16")

    def _tested(judge: Any) -> dict[str, float]:
        try:
            test = labelled(recipe.data, "test")
        except DataError:  # a folder need not have one
            return {}
        return {"test accuracy": judge(test)} if test else {}

    card = {"title": f"an LSTM that looks back, on {recipe.data}", "data": recipe.data, "labels": labels, "lower": True}
    task = Task(
        model, batches(train), lambda batch: len(batch.rows), loss, score, save, lower_is_better=False, unit="texts"
    )
    return task, card
