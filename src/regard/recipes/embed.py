"""Learn vectors of texts: fine-tune an encoder so that texts which mean the same lie close to each other.

Pairs that belong together are told apart from all others of the batch (Henderson 2017; Oord 2018); or the cosine of two
texts learns a score that people have given them (Reimers 2019), as in the set stsb.

regard train embed --data stsb --model my-encoder
regard train embed --data questions-and-answers.csv --model hub:google-bert/bert-base-uncased
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from regard.recipes.tuning import TextTuning

if TYPE_CHECKING:
    from torch import Tensor, nn

    from regard.data import Batch, Batches, Example
    from regard.recipes.tuning import Begin
    from regard.train.task import Task

SCALE = 20.0  # of the cosines that are compared; its inverse is known as temperature


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(TextTuning):
    data: str = "stsb"
    """A named set, a table of two texts (and a score or label), which is divided, or a folder with train and val."""
    text: str = ""
    """The columns of the two texts with a comma between; usual names are found."""
    label: str = ""
    """The column of the score or label; usual names are found, and there may be none."""
    model: str = "bert-tiny"
    """A trained encoder to begin with (a folder, a bundled one, hub:owner/name), or a preset that is drawn anew."""
    objective: Literal["auto", "contrastive", "cosine"] = "auto"
    """Pairs against all others of the batch, or scores by cosine; auto takes scores where every label is a number."""
    positive: str = ""
    """Contrastive: the label of pairs that belong together, others are left out; if left out, all pairs do."""
    vocab: int = 8000
    """Vocabulary size of a fresh model, in pieces of words."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {**TextTuning.bounds, "vocab": (5, 10**7)}


class Scale(NamedTuple):
    """The lowest and the highest score of the data, which are a cosine of 0 and of 1."""

    low: float
    high: float


def build(recipe: Recipe) -> "Task":
    """An encoder whose vectors of texts lie as their meanings do."""
    from regard.data import SETS
    from regard.recipes import encoded, tuning
    from regard.text import Tokenizer
    from regard.train.task import Task

    train, held = read(recipe, "train"), read(recipe, "val")
    scale = scale_of(recipe, train)
    begin = tuning.begin(
        recipe,
        lambda _: Tokenizer.train((text for row in train for text in row.texts), kind="pieces", vocab=recipe.vocab),
        head="none",
    )
    merge = tuning.restrict(recipe, begin)
    learnt, watched = (batches(recipe, begin, rows, learn=rows is train) for rows in (train, held))
    card: dict[str, Any] = {"title": f"Vectors of texts: {begin.family.name}, {recipe.data}", "data": recipe.data}
    card |= {"pooling": ["mean"], "limit": encoded.limit_of(recipe, begin)}
    card |= {"lower": begin.tokenizer.lower} | ({"terms": SETS[recipe.data].terms} if recipe.data in SETS else {})
    return Task(
        model=begin.model,
        family=begin.family,
        tokenizer=begin.tokenizer,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=lambda model, batch: loss(model, batch, train, scale),
        score=lambda model: {name: each.value for name, each in scores_of(model, watched, held, scale).items()},
        metric="nearest" if scale is None else "spearman",
        higher_is_better=("spearman", "pearson", "nearest"),
        unit="pairs",
        settled=tuning.settle(recipe, begin, len(learnt)),
        layer_decay=recipe.layer_decay,
        merge=merge,
        task="embed",
        card=card | ({"before": dict(begin.before)} if begin.trained else {}),
        trained_with={"vocab": begin.tokenizer.vocab, "objective": "contrastive" if scale is None else "cosine"},
        measure=lambda model: measure(recipe, begin, model, scale),
        dtype="float32" if begin.trained else "bfloat16",
        notes=tuning.notes(begin),
    )


def read(recipe: Recipe, split: str) -> "list[Example]":
    """Pairs of texts, those that belong together where the recipe says which do."""
    from regard.data import DataError, labelled

    rows = labelled(recipe.data, split, text=recipe.text, label=recipe.label)
    if any(len(row.texts) != 2 for row in rows):
        raise DataError(f"{recipe.data} has one text a row; give pairs, or name both by --text first,second")
    found = [row for row in rows if not recipe.positive or row.label == recipe.positive]
    if not found:
        which = f" with the label {recipe.positive!r}" if recipe.positive else ""
        raise DataError(f"{recipe.data} has no pairs{which} in its split {split!r}; give more")
    return found


def scale_of(recipe: Recipe, rows: "Sequence[Example]") -> Scale | None:
    """The scale of scores to learn, or None where pairs are to be told from others."""
    if recipe.objective == "contrastive" or recipe.positive:
        return None
    try:
        numbers = [float(row.label) for row in rows]
    except ValueError:
        if recipe.objective == "auto":
            return None
        raise ValueError(f"{recipe.data} has labels that are no numbers; take --objective contrastive") from None
    if min(numbers) == max(numbers):
        raise ValueError(f"all pairs of {recipe.data} have the score {numbers[0]:g}; take --objective contrastive")
    return Scale(min(numbers), max(numbers))


def batches(recipe: Recipe, begin: "Begin", rows: "Sequence[Example]", *, learn: bool = False) -> "Batches[Batch]":
    """The ids of both texts of each pair."""
    from regard.data import token_batches
    from regard.recipes import encoded

    limit = encoded.limit_of(recipe, begin)
    first, second = (encoded.encode(begin, [(row.texts[i],) for row in rows], limit)[0] for i in (0, 1))
    return token_batches(
        first,
        second,
        tokens=max(recipe.tokens, limit),
        rows=(recipe.batch_size or encoded.ROWS) if learn else 0,
        seed=recipe.seed,
        pad=begin.tokenizer.pad or 0,
    )


def vectors(model: "nn.Module", batch: "Batch") -> "tuple[Tensor, Tensor]":
    """The vectors of the first and of the second texts: the mean of a text's states, of length 1."""
    import torch
    import torch.nn.functional as F

    from regard.attention import packed

    device = next(iter(model.parameters())).device
    rows = [row[:length] for side in (0, 1) for row, length in zip(batch.sides[side], batch.lengths[side], strict=True)]
    sizes = [len(row) for row in rows]
    ids = torch.cat([torch.as_tensor(row, device=device) for row in rows])[None]
    hidden = model(ids, visible=packed(sizes)).hidden[0]
    pooled = torch.stack([part.mean(dim=0) for part in hidden.split(sizes)])
    first, second = F.normalize(pooled, dim=-1).chunk(2)
    return first, second


def loss(model: "nn.Module", batch: "Batch", rows: "Sequence[Example]", scale: Scale | None) -> "Tensor":
    """The summed loss of pairs: each first text must find its second in the batch; or its cosine must be its score."""
    import torch

    from regard.train.loss import cross_entropy

    first, second = vectors(model, batch)
    chosen = [rows[i] for i in batch.rows.tolist()]
    if scale is not None:
        wanted = [(float(row.label) - scale.low) / (scale.high - scale.low) for row in chosen]
        return ((first * second).sum(dim=-1) - first.new_tensor(wanted)).square().sum()
    places = torch.arange(len(chosen), device=first.device)
    # The same text twice in a batch is no wrong answer.
    twice = torch.tensor([[a.texts[1] == b.texts[1] and a is not b for b in chosen] for a in chosen])
    return cross_entropy((SCALE * first @ second.T).masked_fill(twice.to(first.device), -torch.inf), places)


def scores_of(
    model: "nn.Module", watched: "Batches[Batch]", rows: "Sequence[Example]", scale: Scale | None
) -> dict[str, Any]:
    """How well cosines rank pairs as their scores do; or how many texts find their own among a thousand others."""
    import torch

    from regard.analysis import scores

    pairs = [(batch.rows.tolist(), *vectors(model, batch)) for batch in watched.once()]
    order = [i for chosen, _, _ in pairs for i in chosen]
    first, second = (torch.cat([each[side] for each in pairs]) for side in (1, 2))
    if scale is not None:
        found, right = (first * second).sum(dim=-1).tolist(), [float(rows[i].label) for i in order]
        return {"spearman": scores.spearman(found, right), "pearson": scores.pearson(found, right)}
    first, second, texts = first[:1000], second[:1000], [rows[i].texts[1] for i in order[:1000]]
    nearest = (first @ second.T).argmax(dim=-1).tolist()
    return {"nearest": scores.accuracy([texts[i] == texts[j] for i, j in enumerate(nearest)])}


def measure(recipe: Recipe, begin: "Begin", model: "nn.Module", scale: Scale | None) -> dict[str, Any]:
    """What the card says: scores on the validation data, and on the test where there is one."""
    from regard.data import DataError
    from regard.recipes import tuning

    found: dict[str, Any] = {}
    for split in ("val", "test"):
        try:
            rows = read(recipe, split)
        except (DataError, ValueError):  # a folder need not have a test
            continue
        found |= tuning.told(split, scores_of(model, batches(recipe, begin, rows), rows, scale))
    return found
