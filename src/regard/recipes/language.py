"""Train a language model: predict the next token of a text, by a GPT or any other decoder (Radford 2018).

A text is read as one stream in windows of the model's context, or line by line where each line stands for itself.

regard train language --data shakespeare --tokenizer characters
regard train language --data my-texts --init-from hub:HuggingFaceTB/SmolLM2-135M --lr 1e-4
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from regard.train.plan import Plan

if TYPE_CHECKING:
    from torch import Tensor, nn

    from regard.data import Batch, Batches
    from regard.text import Tokenizer
    from regard.train.task import Task

Rows = Literal["auto", "stream", "lines"]

LINES = ("flickr8k", "world")  # sets whose lines stand for themselves
SHOWN = 3  # beginnings that the model continues, score by score


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Plan):
    data: str = "shakespeare"
    """A named set of text (`regard data list`), the world, a text file, or a folder of .txt files."""
    rows: Rows = "auto"
    """Read the text as one stream, or each line by itself; auto takes lines for captions and the world."""
    model: str = "gpt-mini"
    """The model, by the name of a preset: a gpt or a llama."""
    set: tuple[str, ...] = ()
    """Fields of the preset to change, such as width=192 depth=6 context=256."""
    tokenizer: Literal["bytes", "characters", "pieces", "words"] = "bytes"
    """Byte-level BPE, characters, WordPiece, or whole words."""
    vocab: int = 4000
    """Vocabulary size; of characters and words, those that are there at most."""
    texts: int = 100_000
    """Of the world, which has no end: how many texts to learn from."""
    init_from: str = ""
    """Fine-tune: start from a trained model (a folder, a bundled one, hub:owner/name); size and words are its own."""
    tokens: int = 4096
    """Batch size in tokens: windows of the context, or padded lines."""
    lr: float = 2e-3
    """Peak learning rate (the optimizer's step size)."""
    betas: tuple[float, float] = (0.9, 0.99)
    """AdamW's betas: how long it remembers the mean of the gradients, and of their squares."""
    weight_decay: float = 0.1
    """Weight decay: pulls matrices towards zero; vectors have none."""
    warmup: int = 100
    """Warm-up: steps in which the learning rate rises from zero to its peak."""

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {**Plan.bounds, "vocab": (5, 10**7), "texts": (1, 10**9)}


def build(recipe: Recipe) -> "Task":
    """A model that says what comes next, scored by its loss on held-out text."""
    from regard.data import SETS
    from regard.train.task import Task

    by_line = recipe.rows == "lines" or (recipe.rows == "auto" and recipe.data in LINES)
    train, held = read(recipe, "train", by_line), read(recipe, "val", by_line)
    family, model, tokenizer, before = start(recipe, train)
    context = model.config.context
    batches = line_batches if by_line else window_batches
    watched = batches(tokenizer, held, context, max(recipe.tokens, context), recipe.seed)
    card: dict[str, Any] = {
        "title": f"Language model: {family.name}, {recipe.data}",
        "data": recipe.data,
        "lower": tokenizer.lower,
        "rows": "lines" if by_line else "stream",  # how a text is to be given
        **({"terms": SETS[recipe.data].terms} if recipe.data in SETS else {}),
        **({"before": before} if before else {}),
    }
    return Task(
        model=model,
        family=family,
        tokenizer=tokenizer,
        batches=batches(tokenizer, train, context, recipe.tokens, recipe.seed),
        size=words_in,
        loss=loss,
        score=lambda model: {"val_loss": val_loss(model, watched)},
        metric="val_loss",
        unit="tokens",
        show=lambda model: samples(model, tokenizer, held),
        task="generate",
        card=card,
        trained_with={"vocab": tokenizer.vocab} | ({"model": None, "set": None} if before else {}),
        measure=lambda model: {
            "val_loss": round(val_loss(model, watched), 4),
            **(compare(recipe, model, tokenizer, train) if by_line else {}),
        },
    )


def compare(recipe: Recipe, model: Any, tokenizer: "Tokenizer", train: Sequence[str]) -> dict[str, float]:
    """Perplexity of a token of the test lines, beside that of a Kneser–Ney 5-gram over the same tokens."""
    from math import exp

    from regard.analysis.ngram import KneserNey
    from regard.data import DataError

    try:
        test = read(recipe, "test", by_line=True)
    except (DataError, ValueError):  # own data need not have one
        return {}
    context = model.config.context
    lost = val_loss(model, line_batches(tokenizer, test, context, max(recipe.tokens, context), recipe.seed))
    learnt, unseen = (encode_lines(tokenizer, texts, context) for texts in (train, test))
    counted = KneserNey(learnt, order=5, vocab=tokenizer.vocab).perplexity(unseen)
    return {"test_perplexity": round(exp(lost), 3), "test_perplexity_kneser_ney_5": round(counted, 3)}


def start(recipe: Recipe, train: Sequence[str]) -> tuple[Any, Any, "Tokenizer", Mapping[str, Any]]:
    """Family, model and tokenizer to begin with, and the story of a trained model where one is gone on with."""
    import torch

    from regard.recipes import choose, writer
    from regard.text import Tokenizer

    torch.manual_seed(recipe.seed)
    if recipe.init_from:
        begin = writer.load_trained(recipe.init_from)
        if not hasattr(begin.model, "advance"):
            raise ValueError(f"{recipe.init_from} is a {begin.family.name}, which does not predict the next word alone")
        return begin.family, begin.model, begin.tokenizer, writer.story(begin.card)
    tokenizer = Tokenizer.train(train, kind=recipe.tokenizer, vocab=recipe.vocab)
    family, model = choose.build(recipe.model, recipe.set, {"vocab": tokenizer.vocab})
    return family, model, tokenizer, {}


def read(recipe: Recipe, split: str, by_line: bool) -> list[str]:
    """The texts of a split: its lines, or one text."""
    from regard.data import DataError, text
    from regard.data.told import HELD, world_texts

    if recipe.data == "world":
        return world_texts(split, recipe.texts if split == "train" else min(HELD, recipe.texts))
    whole = text(recipe.data, split)
    found = [line for line in whole.split("\n") if line.strip()] if by_line else [whole]
    if not any(each.strip() for each in found):
        raise DataError(f"{recipe.data} has no text in its split {split!r}; give more, or a folder with {split}.txt")
    return found


def line_batches(
    tokenizer: "Tokenizer", texts: Sequence[str], context: int, tokens: int, seed: int
) -> "Batches[Batch]":
    """Lines between start and stop, those of similar length side by side; what is longer than the context is cut."""
    from regard.data import token_batches

    rows = encode_lines(tokenizer, texts, context)
    return token_batches(rows, tokens=max(tokens, context + 1), seed=seed, pad=tokenizer.pad or 0)


def encode_lines(tokenizer: "Tokenizer", texts: Sequence[str], context: int) -> list[list[int]]:
    """Between start and stop; a tokenizer without a start, as GPT-2's, begins a text with its stop."""
    if tokenizer.start is not None:
        return tokenizer.encode(texts, start=True, stop=True, limit=context + 1)
    return [[tokenizer.special("stop"), *row] for row in tokenizer.encode(texts, start=False, stop=True, limit=context)]


def window_batches(
    tokenizer: "Tokenizer", texts: Sequence[str], context: int, tokens: int, seed: int
) -> "Batches[Batch]":
    """Windows of one stream; in training each is moved by chance, so that no border is always the same."""
    import numpy as np

    from regard.data import windows

    ids = np.asarray([i for row in tokenizer.encode(texts, start=False, stop=False) for i in row], np.int32)
    return windows(ids, context=context, rows=max(1, tokens // context), seed=seed)


def words_in(batch: "Batch") -> int:
    """How many words of a batch are predicted: all but the first of each row."""
    return int(batch.lengths[0].sum()) - len(batch.rows)


def loss(model: "nn.Module", batch: "Batch") -> "Tensor":
    """The summed cross entropy of every next word; padding stands behind, where no word looks."""
    import torch

    from regard.train.loss import cross_entropy

    device = next(iter(model.parameters())).device
    ids = torch.as_tensor(batch.sides[0], device=device)
    lengths = torch.as_tensor(batch.lengths[0], device=device)
    beyond = torch.arange(1, ids.shape[1], device=device) >= lengths[:, None]
    return cross_entropy(model(ids[:, :-1]), ids[:, 1:].masked_fill(beyond, -100))


def val_loss(model: "nn.Module", held: "Batches[Batch]") -> float:
    """The mean cross entropy of a token of held-out text, in nats."""
    lost = [(loss(model, batch).item(), words_in(batch)) for batch in held.once()]
    return sum(each for each, _ in lost) / sum(count for _, count in lost)


def samples(model: Any, tokenizer: "Tokenizer", held: Sequence[str]) -> list[dict[str, str]]:
    """How the model goes on from the beginnings of held-out texts."""
    from regard.pipelines.generate import Generate

    texts = held[:SHOWN] if len(held) > 1 else held[0][:4000].split("\n\n")[1 : SHOWN + 1] or [held[0][:40]]
    begins = [" ".join(text.split(" ")[: max(1, min(4, text.count(" ")))]) for text in texts]
    written = Generate.of(model, tokenizer, limit=model.config.context)(begins, max_new_tokens=40, seed=0)
    return [
        {"read": begin, "wanted": text[len(begin) :][:120], "written": each.text}
        for begin, text, each in zip(begins, texts, written, strict=True)
    ]
