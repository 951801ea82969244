"""Classify texts, or pairs of texts: fine-tune a trained encoder on labels of your own, or train a model from scratch.

Without a model it is an LSTM that looks over its past (Cheng 2016), trained from scratch. The card of the model tells
accuracy, F1 and Matthews' correlation with intervals, and a report of each label.

regard train classify
regard train classify --data reviews.csv --model hub:google-bert/bert-base-uncased
regard train classify --data mine.csv --text question,answer --label verdict --model my-encoder --lora 8
regard train classify --data mine.csv --text one,other --model my-gpt --inputs similarity
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.recipes.tuning import TextTuning

if TYPE_CHECKING:
    from torch import Tensor, nn

    from regard.data import Batch, Batches, Example
    from regard.models.family import Family
    from regard.recipes.tuning import Begin
    from regard.text import Tokenizer
    from regard.train.task import Task

FRESH, SMALLER = "intra-sst-binary", ("width=150", "hidden=128", "depth=1")  # the default model, smaller than published


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(TextTuning):
    data: str = "sst2"
    """A named set, a table (CSV, TSV, JSON lines, Parquet), which is divided, or a folder with train, val and test."""
    text: str = ""
    """The column of the text, or of two texts with a comma between; usual names are found."""
    label: str = ""
    """The column of the label; usual names are found."""
    model: str = FRESH
    """A trained model to begin with (a folder, a bundled one, hub:owner/name), or a preset that is drawn anew."""
    metric: Literal["accuracy", "f1", "matthews"] = "accuracy"
    """The score on the validation data that decides which weights are kept."""
    positive: str = ""
    """Of two labels, the one that F1 is of; the last of the alphabet if left out. Of more, F1 is the mean of all."""
    inputs: Literal["classify", "similarity", "choice"] = "classify"
    """Of a GPT, how texts are laid out (Radford 2018): one or two in a row; two in both orders; or a context with each
    of its answers in turn, where the first label means the first answer."""
    auxiliary: float = 0.5
    """Of a GPT, the weight of the loss of the next word beside that of the label."""
    vocab: int = 12_000
    """Vocabulary size of a fresh model, in words, or in pieces for an encoder; all others are unknown."""
    word_dropout: float = 0.1
    """Word dropout of a fresh model: in training, a word is read as unknown with this probability."""
    label_smoothing: float = 0.0
    """Label smoothing (Szegedy 2016): this share of the target probability is spread over all labels."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **TextTuning.bounds,
        "vocab": (5, 10**7),
        "auxiliary": (0, 100),
        "word_dropout": (0, 1),
        "label_smoothing": (0, 1),
    }


def build(recipe: Recipe) -> "Task":
    """A model that names the label of a text, scored by accuracy, F1 and correlation."""
    from regard.data import SETS, DataError, labelled
    from regard.recipes import encoded, tuning
    from regard.train.task import Task

    if recipe.model == FRESH:
        recipe = replace(recipe, set=(*SMALLER, *recipe.set))
    train, held = (labelled(recipe.data, split, text=recipe.text, label=recipe.label) for split in ("train", "val"))
    for split, rows in (("train", train), ("val", held)):
        if not rows:
            raise DataError(
                f"{recipe.data} has no texts in its split {split!r}; give more, or a folder with {split}.tsv"
            )
    labels = sorted({row.label for row in train})
    if len(labels) < 2:
        raise DataError(f"{recipe.data} has one label, {labels[0]!r}, so that there is nothing to choose; give more")
    if recipe.positive and recipe.positive not in labels:
        raise ValueError(f"--positive {recipe.positive} is none of the labels {', '.join(labels)}; name one of them")
    begin = tuning.begin(
        recipe,
        lambda family: tokenizer_of(recipe, family, train),
        head="classify",
        labels=labels,
        task=recipe.inputs,
    )
    merge = tuning.restrict(recipe, begin)
    learnt, watched = (batches(recipe, begin, labels, rows, learn=rows is train) for rows in (train, held))
    dropout = 0.0 if begin.trained else recipe.word_dropout
    card: dict[str, Any] = {
        "title": f"Labels of texts: {begin.family.name}, {recipe.data}",
        "data": recipe.data,
        "labels": labels,
    }
    card |= {"lower": begin.tokenizer.lower, "limit": encoded.limit_of(recipe, begin)}
    card |= {"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}
    return Task(
        model=begin.model,
        family=begin.family,
        tokenizer=begin.tokenizer,
        batches=learnt,
        size=lambda batch: len(batch.rows),
        loss=lambda model, batch: loss(begin, model, batch, recipe, word_dropout=dropout),
        score=lambda model: score(recipe, labels, *answers(begin, model, watched)),
        metric=recipe.metric,
        higher_is_better=("accuracy", "f1", "matthews"),
        unit="texts",
        settled=tuning.settle(recipe, begin, len(learnt)),
        layer_decay=recipe.layer_decay,
        merge=merge,
        task="classify",
        card=card | ({"before": dict(begin.before)} if begin.trained else {}),
        trained_with={"vocab": begin.tokenizer.vocab},
        measure=lambda model: measure(recipe, begin, model, labels),
        dtype="float32" if begin.trained else "bfloat16",
        notes=tuning.notes(begin),
    )


def tokenizer_of(recipe: Recipe, family: "Family", rows: "Sequence[Example]") -> "Tokenizer":
    """What a fresh model reads: words, or the pieces of words for an encoder."""
    from regard.text import Tokenizer

    kind: Literal["words", "pieces"] = "pieces" if "head" in family.config.__dataclass_fields__ else "words"
    texts = (text for row in rows for text in row.texts)
    return Tokenizer.train(texts, kind=kind, vocab=recipe.vocab, lower=True)


def batches(
    recipe: Recipe, begin: "Begin", labels: Sequence[str], rows: "Sequence[Example]", *, learn: bool = False
) -> "Batches[Batch]":
    """Texts as ids, and the number of each one's label."""
    from regard.data import DataError
    from regard.recipes import encoded

    if strange := sorted({row.label for row in rows}.difference(labels)):
        raise DataError(f"the label {strange[0]!r} of {recipe.data} is none of those to learn: {', '.join(labels)}")
    ids, segments = encoded.encode(begin, [row.texts for row in rows], encoded.limit_of(recipe, begin))
    return encoded.batches(recipe, begin, ids, [[labels.index(row.label)] for row in rows], segments, learn=learn)


def predict(begin: "Begin", model: "nn.Module", batch: "Batch") -> "tuple[Tensor, Tensor]":
    """The scores of the labels of each text, and the right ones."""
    from regard.recipes import encoded

    return scores_of(encoded.read(begin, model, batch), batch)


def scores_of(said: Any, batch: "Batch") -> "tuple[Tensor, Tensor]":
    import torch

    scores = getattr(said, "logits", said)  # beside what was read, or alone
    return scores, torch.as_tensor(batch.sides[1][:, 0], device=scores.device)


def loss(begin: "Begin", model: "nn.Module", batch: "Batch", recipe: Recipe, *, word_dropout: float = 0.0) -> "Tensor":
    from regard.recipes import encoded
    from regard.train.loss import cross_entropy

    said = encoded.read(begin, model, batch, word_dropout=word_dropout)
    found = cross_entropy(*scores_of(said, batch), label_smoothing=recipe.label_smoothing)
    if recipe.auxiliary and hasattr(begin.model, "lay_out"):
        found = found + recipe.auxiliary * len(batch.rows) * next_words(begin.model, batch, said.hidden[0])
    return found


def next_words(model: Any, batch: "Batch", hidden: "Tensor") -> "Tensor":
    """The mean loss of the next word, from the states of the words of a batch one behind another."""
    import torch
    import torch.nn.functional as F

    ids = torch.as_tensor(batch.sides[0], device=hidden.device)
    lengths = torch.as_tensor(batch.lengths[0], device=hidden.device)
    words = ids[torch.arange(ids.shape[1], device=hidden.device) < lengths[:, None]]
    # A start begins another text, which nobody can know.
    wanted = words[1:].masked_fill(words[1:] == model.config.new[0], -100)
    return F.cross_entropy(model.body.to_vocab(hidden[:-1]).float(), wanted)


def answers(begin: "Begin", model: "nn.Module", rows: "Batches[Batch]") -> tuple[list[int], list[int]]:
    """The numbers of the labels that a model names, and of the right ones, in the order of the rows."""
    said, right = dict[int, int](), dict[int, int]()
    for batch in rows.once():
        scores, wanted = predict(begin, model, batch)
        said |= dict(zip(batch.rows.tolist(), scores.argmax(dim=-1).tolist(), strict=True))
        right |= dict(zip(batch.rows.tolist(), wanted.tolist(), strict=True))
    return [said[i] for i in sorted(said)], [right[i] for i in sorted(right)]


def score(recipe: Recipe, labels: Sequence[str], said: Sequence[int], right: Sequence[int]) -> dict[str, float]:
    """Accuracy, F1 and Matthews' correlation, in hundredths."""
    from regard.analysis.confusion import Confusion

    matrix = Confusion.of([labels[i] for i in said], [labels[i] for i in right], labels)
    hits = sum(row[i] for i, row in enumerate(matrix.counts))
    named = {"accuracy": hits / matrix.count, "f1": matrix.f1(positive(recipe, labels)), "matthews": matrix.matthews()}
    return {name: 100 * value for name, value in named.items()}


def positive(recipe: Recipe, labels: Sequence[str]) -> str | None:
    """The label that F1 is of, where there are two."""
    return (recipe.positive or labels[-1]) if len(labels) == 2 else None


def measure(recipe: Recipe, begin: "Begin", model: "nn.Module", labels: Sequence[str]) -> dict[str, Any]:
    """What the card says: scores on the validation data, and on the test, where there is one, with intervals."""
    from regard.analysis import scores
    from regard.data import DataError, labelled
    from regard.recipes import tuning

    found: dict[str, Any] = {}
    for split in ("val", "test"):
        try:
            rows = labelled(recipe.data, split, text=recipe.text, label=recipe.label)
            watched = batches(recipe, begin, labels, rows)
        except (DataError, ValueError):  # a folder need not have a test
            continue
        numbers, wanted = answers(begin, model, watched)
        said, right = [labels[i] for i in numbers], [labels[i] for i in wanted]
        named = {
            "accuracy": scores.accuracy([a == b for a, b in zip(said, right, strict=True)]),
            "f1": scores.f1(said, right, label=positive(recipe, labels)),
            "matthews": scores.matthews(said, right),
        }
        found |= tuning.told(split, named) | {f"{split} report": report(said, right, labels)}
    return found


def report(said: Sequence[str], right: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    """Precision, recall, F1 and count of each label, and how often it was taken for each label."""
    from regard.analysis.confusion import Confusion

    matrix = Confusion.of(said, right, labels)
    return {
        label: {
            "precision": round(100 * matrix.precision(label), 2),
            "recall": round(100 * matrix.recall(label), 2),
            "f1": round(100 * matrix.f1(label), 2),
            "count": sum(matrix.counts[i]),
            "taken for": dict(zip(labels, matrix.counts[i], strict=True)),
        }
        for i, label in enumerate(labels)
    }
