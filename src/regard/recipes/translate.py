"""Translate sentences: a recurrent network with or without attention, or a Transformer.

regard train translate --source de --target en --lower
regard train translate --model additive --source de --target en --lower
regard train translate --data world --source any --target any
regard train translate --init-from de-en --data my-folder --lr 5e-4
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regard.train.plan import Plan

if TYPE_CHECKING:
    from regard.chance import Chance
    from regard.models.family import Family
    from regard.text import Tokenizer
    from regard.train.task import Task

Model = Literal["transformer", "additive", "dot", "bilinear", "concat", "none"]

# What suits some tens of thousands of sentences: on so little, a small Transformer is better than a large one.
SIZES = {
    "transformer": {"width": 128, "depth": 4, "heads": 4, "hidden": 256},
    "recurrent": {"width": 256, "depth": 1, "heads": 1, "hidden": 384},
}
NAMES = {
    "transformer": "Transformer",
    "additive": "recurrent network with additive attention",
    "dot": "recurrent network with dot attention",
    "bilinear": "recurrent network with bilinear attention",
    "concat": "recurrent network with additive attention after each word",
    "none": "recurrent network without attention",
}
SHOWN = 5  # held-out texts that can be read beside what the model makes of them, score by score
STORY = ("recipe", "fields", "seed", "steps", "minutes", "before")  # of a model that another began from
LANGUAGES = ("en", "de", "it", "cs")  # of the world, where source or target is `any`


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer(Plan):
    """A model that reads one line and writes another: the flags of translation and of whatever can be seen as one."""

    lower: bool = False
    """Read and write small letters only."""
    model: Model = "transformer"
    """A Transformer, or a recurrent network: Bahdanau's (additive), Luong's (dot, bilinear, concat), or without."""
    vocab: int = 4000
    """Pieces of words, for what is read and written together."""
    width: int = 0
    """Numbers for a word; 0 takes what suits the model, as with the next three."""
    depth: int = 0
    """Blocks of the encoder and of the decoder, or layers of recurrence."""
    heads: int = 0
    """Attention heads of the Transformer."""
    hidden: int = 0
    """Numbers inside the Transformer's MLP, or in the state of the recurrence."""
    dropout: float = 0.3
    """The chance that a number is left out in training."""
    bpe_dropout: float = 0.0
    """So many of the pieces of a sentence, from 0 to 1, are met as their two halves in training."""
    label_smoothing: float = 0.1
    """The part of the chance that is spread over all words (Szegedy 2016)."""
    limit: int = 100
    """Longer sentences are cut off, in pieces."""
    init_from: str = ""
    """Go on from a trained model, a folder or one that comes along; its size, vocabulary and dropout are its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Writer):
    data: str = "multi30k"
    """A named set, a folder with train.de beside train.en, or a table with tabs."""
    source: str = "de"
    """The language to read; `any` in the world."""
    target: str = "en"
    """The language to write; `any` in the world, and the source then says which: [de] A dog runs."""
    pairs: int = 0
    """Use so many pairs of sentences; 0 takes all, of the world 100,000."""
    length: tuple[int, int] = (6, 12)
    """The fewest and the most words of a sentence of the world, counted in English."""


def build(recipe: Recipe) -> tuple["Task", dict[str, Any]]:
    """The task of a recipe, and what its card should say."""
    held = held_out(recipe)
    card = {
        "title": f"{_called(recipe.source)} to {_called(recipe.target)}: {NAMES[recipe.model]}, {recipe.data}",
        "source": recipe.source,
        "target": recipe.target,
        "data": recipe.data,
        "lower": recipe.lower,
        "multilingual": recipe.target == "any",
    }

    def judge(model: Any, tokenizer: "Tokenizer") -> dict[str, float]:
        return {"bleu": _bleu(model, tokenizer, held)}

    return writing(recipe, pairs(recipe), held, judge), card


def _called(code: str) -> str:
    from regard.world.language import LANGUAGES as NAMED

    return "any language" if code == "any" else NAMED.get(code, code)


Judge = Callable[[Any, "Tokenizer"], dict[str, float]]


def writing(
    recipe: Writer,
    train: list[tuple[str, str]],
    held: list[tuple[str, str]],
    judge: Judge,
    measure: Judge | None = None,
) -> "Task":
    """The task of writing the second line of a pair from the first.

    `judge` says how good a model is while it learns, and `measure` what its card should say once it has.
    """
    import torch
    from torch import nn

    from regard.data import Batches
    from regard.data import split as halved
    from regard.text import Tokenizer
    from regard.train.loss import cross_entropy
    from regard.train.task import Task

    torch.manual_seed(recipe.seed)
    before: Mapping[str, Any] = {}
    if recipe.init_from:
        one, model, tokenizer, before = begun(recipe.init_from)
    else:
        tokenizer = Tokenizer.train((text for pair in train for text in pair), vocab=recipe.vocab, lower=recipe.lower)
        one, model = shaped(recipe, tokenizer.vocab)

    halves = tokenizer.halves()

    def vary(rows: Any, chance: "Chance") -> Any:
        return halved(rows, halves, recipe.bpe_dropout, chance)

    def batches(rows: list[tuple[str, str]], tokens: int) -> Batches:
        return Batches(
            tokenizer.encode([source for source, _ in rows], stop=True, limit=recipe.limit),
            tokenizer.encode([target for _, target in rows], start=True, stop=True, limit=recipe.limit),
            tokens=tokens,
            seed=recipe.seed,
            vary=vary if recipe.bpe_dropout else None,
        )

    def loss(model: nn.Module, batch: Any, smoothing: float = recipe.label_smoothing) -> torch.Tensor:
        where = next(iter(model.parameters())).device
        source, target = (torch.as_tensor(side, device=where) for side in batch.sides)
        lengths = torch.as_tensor(batch.lengths[0], device=where)
        return cross_entropy(model(source, target[:, :-1], lengths=lengths), target[:, 1:], smoothing=smoothing)

    watched = batches(held, max(recipe.tokens, 2000))

    def score(model: nn.Module) -> dict[str, float]:
        lost = [(loss(model, batch, 0.0).item(), _size(batch)) for batch in watched.once()]
        val_loss = sum(each for each, _ in lost) / sum(count for _, count in lost)
        return {**judge(model, tokenizer), "val_loss": val_loss}

    def show(model: nn.Module) -> list[dict[str, str]]:
        from regard.decode.translate import Translator

        some = held[:SHOWN]
        written = Translator(model, tokenizer).translate([source for source, _ in some], beam=1)
        return [
            {"read": source, "wanted": target, "written": each[0].text}
            for (source, target), each in zip(some, written, strict=True)
        ]

    def save(folder: Path, model: nn.Module, card: Mapping[str, Any]) -> None:
        from regard.hub.store import save

        found: dict[str, Any] = {} if measure is None else {"measured": measure(model, tokenizer)}
        # What went before belongs to the story of the model.
        found |= {"before": {key: before[key] for key in STORY if key in before}} if before else {}
        save(folder, model, family=one, card={**card, **found}, tokenizer=tokenizer, dtype="bfloat16")

    return Task(model, batches(train, recipe.tokens), _size, loss, score, save, lower_is_better=False, show=show)


def pairs(recipe: Recipe) -> list[tuple[str, str]]:
    """What to learn from."""
    if recipe.data == "world":
        return _world(recipe, 0, recipe.pairs or 100_000)
    from regard.data import pairs as named

    return list(islice(named(recipe.data, recipe.source, recipe.target, "train"), recipe.pairs or None))


def held_out(recipe: Recipe, count: int = 500) -> list[tuple[str, str]]:
    """What to score on in between: the validation data, and of the world sentences that are far behind those learnt."""
    if recipe.data == "world":
        return _world(recipe, 100_000_000, count)
    from regard.data import pairs as named

    return list(islice(named(recipe.data, recipe.source, recipe.target, "val"), count))


def _world(recipe: Recipe, start: int, count: int) -> list[tuple[str, str]]:
    """Pairs of the world from a place on, from and to each of its languages where the recipe says `any`."""
    from regard.world.language import pairs as imagined
    from regard.world.language import text

    ways = [
        (source, target)
        for source in (LANGUAGES if recipe.source == "any" else (recipe.source,))
        for target in (LANGUAGES if recipe.target == "any" else (recipe.target,))
        if source != target
    ]
    share, found = -(-count // len(ways)), list[tuple[str, str]]()
    for i, (source, target) in enumerate(ways):
        tag = f"[{target}] " if recipe.target == "any" else ""
        # Each way has meanings of its own, so that the model meets as many as it can.
        some = imagined(source, target, length=recipe.length)[start + i * share : start + (i + 1) * share]
        found += [(tag + text(pair.source), text(pair.target)) for pair in some]
    return found


def shaped(recipe: Writer, vocab: int) -> tuple["Family", Any]:
    """The family of a recipe's model, and the model with its first weights."""
    from regard.models import seq2seq, transformer

    usual = SIZES["transformer" if recipe.model == "transformer" else "recurrent"]
    size: dict[str, Any] = {name: getattr(recipe, name) or value for name, value in usual.items()}
    if recipe.model == "transformer":
        config = transformer.Config(vocab=vocab, dropout=recipe.dropout, norm_first=True, **size)
        return transformer.FAMILY, transformer.Transformer(config)
    del size["heads"]
    return seq2seq.FAMILY, seq2seq.Seq2Seq(
        seq2seq.Config(
            vocab=vocab,
            target=None,
            attention=recipe.model,
            bidirectional=recipe.model != "dot",
            dropout=recipe.dropout,
            **size,
        )
    )


def begun(wanted: str) -> tuple["Family", Any, "Tokenizer", Mapping[str, Any]]:
    """The family of a trained model, the model, the tokenizer it learnt with, and its card."""
    from regard.data import DataError
    from regard.hub import load

    try:
        stored = load(wanted)
        if stored.tokenizer is None:
            raise ValueError("it has no tokenizer")
        return stored.family, stored.model, stored.tokenizer, stored.card
    except (ValueError, OSError) as error:
        raise DataError(f"training cannot begin from {wanted}: {error}") from None


def _size(batch: Any) -> int:
    return int(batch.lengths[1].sum()) - len(batch.rows)


def _bleu(model: Any, tokenizer: "Tokenizer", rows: list[tuple[str, str]]) -> float:
    """BLEU of what the model writes greedily for held-out sentences."""
    from sacrebleu.metrics.bleu import BLEU

    from regard.decode.translate import Translator

    written = Translator(model, tokenizer).translate([source for source, _ in rows], beam=1, batch=100)
    return float(
        BLEU(lowercase=tokenizer.lower)
        .corpus_score([each[0].text for each in written], [[target for _, target in rows]])
        .score
    )
