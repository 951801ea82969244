"""Tag words: fine-tune a trained encoder to name what each word is, such as people and places (Devlin 2019, §5.3).

Data are a word and its tag a line, as in CoNLL's files, or JSON lines with `words` and `tags`. The first piece of a
word decides about its tag. Where tags mark spans, as B-PER and I-PER do, the F1 of whole spans is the score.

regard train tag --data my-corpus --model hub:google-bert/bert-base-cased
regard train tag --data sentences.conll --model my-encoder --lora 8
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from regard.recipes.tuning import TextTuning

if TYPE_CHECKING:
    from torch import Tensor, nn

    from regard.data import Batch, Batches
    from regard.data.tagged import Sentence
    from regard.recipes.tuning import Begin
    from regard.text.template import Window
    from regard.train.task import Task

NONE = -100  # where no word begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(TextTuning):
    data: str = ""
    """A file of words and tags, which is divided, or a folder with train.conll, val.conll and, if any, test.conll."""
    model: str = "bert-tiny"
    """A trained encoder to begin with (a folder, a bundled one, hub:owner/name), or a preset that is drawn anew."""
    vocab: int = 8000
    """Vocabulary size of a fresh model, in pieces of words."""
    lower: bool = False
    """Lower-case all text of a fresh model."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {**TextTuning.bounds, "vocab": (5, 10**7)}


def build(recipe: Recipe) -> "Task":
    """An encoder that tags words, scored by the F1 of spans, or by how many words are right."""
    from regard.analysis.spans import prefixed
    from regard.data import DataError
    from regard.data.tagged import tagged
    from regard.recipes import encoded, tuning
    from regard.text import Tokenizer
    from regard.train.task import Task

    if not recipe.data:
        raise ValueError("there are no data to learn from; give a file of words and tags by --data")
    train, held = tagged(recipe.data, "train"), tagged(recipe.data, "val")
    if not train or not held:
        raise DataError(f"{recipe.data} has too few sentences to be divided; give more, or a folder with train and val")
    labels = sorted({tag for sentence in train for tag in sentence.tags})
    begin = tuning.begin(
        recipe,
        lambda _: Tokenizer.train(
            (" ".join(each.words) for each in train), kind="pieces", vocab=recipe.vocab, lower=recipe.lower
        ),
        head="tokens",
        labels=labels,
    )
    merge = tuning.restrict(recipe, begin)
    learnt, watched = (batches(recipe, begin, labels, rows, learn=rows is train) for rows in (train, held))
    card: dict[str, Any] = {
        "title": f"Tags of words: {begin.family.name}, {recipe.data}",
        "data": recipe.data,
        "labels": labels,
    }
    card |= {"lower": begin.tokenizer.lower, "limit": encoded.limit_of(recipe, begin)}
    return Task(
        model=begin.model,
        family=begin.family,
        tokenizer=begin.tokenizer,
        batches=learnt,
        size=words_in,
        loss=lambda model, batch: loss(begin, model, batch),
        score=lambda model: {name: each.value for name, each in scores_of(begin, model, watched, held, labels).items()},
        metric="f1" if prefixed(labels) else "accuracy",
        higher_is_better=("f1", "accuracy"),
        settled=tuning.settle(recipe, begin, len(learnt)),
        layer_decay=recipe.layer_decay,
        merge=merge,
        task="tag",
        card=card | ({"before": dict(begin.before)} if begin.trained else {}),
        trained_with={"vocab": begin.tokenizer.vocab},
        measure=lambda model: measure(recipe, begin, model, labels),
        dtype="float32" if begin.trained else "bfloat16",
        notes=tuning.notes(begin),
    )


def batches(
    recipe: Recipe, begin: "Begin", labels: Sequence[str], rows: "Sequence[Sentence]", *, learn: bool = False
) -> "Batches[Batch]":
    """Sentences as ids, and the number of a word's tag at its first piece."""
    from regard.data import DataError
    from regard.recipes import encoded

    if strange := sorted({tag for row in rows for tag in row.tags}.difference(labels)):
        raise DataError(f"the tag {strange[0]!r} of {recipe.data} is none of those to learn: {', '.join(labels)}")
    texts = [(" ".join(row.words),) for row in rows]
    found = [each for (each,) in begin.tokenizer.windows(texts, limit=encoded.limit_of(recipe, begin))]
    wanted = []
    for row, window in zip(rows, found, strict=True):
        places = [NONE] * len(window.ids)
        for piece, tag in zip(first_pieces(row.words, window), row.tags, strict=False):
            places[piece] = labels.index(tag)
        wanted.append(places)
    ids, segments = [each.ids for each in found], [each.segments for each in found]
    return encoded.batches(recipe, begin, ids, wanted, segments, learn=learn)


def first_pieces(words: Sequence[str], window: "Window") -> list[int]:
    """Where each word of a sentence begins in its ids, as far as they are read."""
    pieces = [(place[1], i) for i, place in enumerate(window.places) if place is not None]
    ends, found, start = [end for end, _ in pieces], [], 0
    for word in words:
        first = bisect_right(ends, start)
        if first == len(pieces):
            break
        found.append(pieces[first][1])
        start += len(word) + 1
    return found


def words_in(batch: "Batch") -> int:
    """How many words of a batch are tagged."""
    return int(sum((row[:length] != NONE).sum() for row, length in zip(batch.sides[1], batch.lengths[1], strict=True)))


def predict(begin: "Begin", model: "nn.Module", batch: "Batch") -> "tuple[Tensor, Tensor]":
    """The scores of the tags of every token of a batch, one text behind another, and the right ones."""
    import torch

    from regard.recipes import encoded

    scores: Tensor = encoded.read(begin, model, batch).logits[0]
    real = torch.arange(batch.sides[1].shape[1]) < torch.as_tensor(batch.lengths[0])[:, None]
    return scores, torch.as_tensor(batch.sides[1])[real].to(scores.device)


def loss(begin: "Begin", model: "nn.Module", batch: "Batch") -> "Tensor":
    from regard.train.loss import cross_entropy

    return cross_entropy(*predict(begin, model, batch), ignore_index=NONE)


def scores_of(
    begin: "Begin", model: "nn.Module", rows: "Batches[Batch]", sentences: "Sequence[Sentence]", labels: Sequence[str]
) -> dict[str, Any]:
    """How many of a hundred words are tagged right, and the F1 of spans, with intervals; what was cut off is O."""
    from regard.analysis.scores import accuracy
    from regard.analysis.spans import prefixed, span_f1

    found: dict[int, list[str]] = {}
    for batch in rows.once():
        scores, wanted = predict(begin, model, batch)
        best, lengths = scores.argmax(dim=-1), batch.lengths[0].tolist()
        for row, said, right in zip(batch.rows.tolist(), best.split(lengths), wanted.split(lengths), strict=True):
            tags = [labels[i] for i in said[right != NONE].tolist()]
            found[row] = tags + ["O"] * (len(sentences[row].words) - len(tags))
    said, right = [found[i] for i in range(len(sentences))], [list(each.tags) for each in sentences]
    hits = [a == b for some, tags in zip(said, right, strict=True) for a, b in zip(some, tags, strict=True)]
    return {"accuracy": accuracy(hits)} | ({"f1": span_f1(said, right)} if prefixed(labels) else {})


def measure(recipe: Recipe, begin: "Begin", model: "nn.Module", labels: Sequence[str]) -> dict[str, Any]:
    """What the card says: scores on the validation data, and on the test where there is one."""
    from regard.data import DataError
    from regard.data.tagged import tagged
    from regard.recipes import tuning

    found: dict[str, Any] = {}
    for split in ("val", "test"):
        try:
            rows = tagged(recipe.data, split)
            watched = batches(recipe, begin, labels, rows)
        except (DataError, ValueError):  # a folder need not have a test
            continue
        found |= tuning.told(split, scores_of(begin, model, watched, rows, labels))
    return found
