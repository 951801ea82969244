"""Translate sentences: a recurrent network with or without attention, or a Transformer.

regard train translate --source de --target en --lower
regard train translate --source de --target en --lower --model seq2seq-tiny --set attention=additive
regard train translate --data world --source any --target any
regard train translate --init-from de-en --data my-folder --lr 5e-4
"""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.recipes.writer import Pairs, Writer

if TYPE_CHECKING:
    from regard.text import Tokenizer
    from regard.train.task import Task

LANGUAGES = ("en", "de", "it", "cs")  # of the world, where source or target is `any`
FAR = 100_000_000  # where the sentences of the world begin that are scored in between


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(Writer):
    data: str = "multi30k"
    """A named set, a folder with train.de and train.en, or a table with tabs, whose first line may name its columns."""
    source: str = "de"
    """The language to read; `any` in the world."""
    target: str = "en"
    """The language to write; `any` in the world, and the source then says which: [de] A dog runs."""
    pairs: int = 0
    """Use so many pairs of sentences; 0 takes all, of the world 100,000."""
    length: tuple[int, int] = (6, 12)
    """The fewest and the most words of a sentence of the world, counted in English."""


def build(recipe: Recipe) -> "Task":
    """A model that translates, scored by BLEU."""
    from regard.data import SETS
    from regard.recipes import writer

    writer.check(recipe)
    train, held = pairs(recipe), held_out(recipe)
    begin = writer.start(recipe, train)
    multilingual = recipe.target == "any"
    card: dict[str, Any] = {
        "title": f"{_language_name(recipe.source)} to {_language_name(recipe.target)}: {begin.title}, {recipe.data}",
        "data": recipe.data,
        "languages": {
            "source": list(LANGUAGES) if recipe.source == "any" else [recipe.source],
            "target": list(LANGUAGES) if multilingual else [recipe.target],
        },
        "multilingual": multilingual,
    }
    if recipe.data in SETS:
        card["terms"] = SETS[recipe.data].terms
    return writer.task(
        recipe,
        begin,
        train,
        held,
        name="translate",
        metric="bleu",
        score=lambda model: {"bleu": bleu(model, begin.tokenizer, held, recipe.limit)},
        card=card,
        notes=_notes(recipe),
    )


def pairs(recipe: Recipe) -> Pairs:
    """What to learn from."""
    if recipe.data == "world":
        return _world(recipe, 0, recipe.pairs or 100_000)
    return _read_named(recipe, "train", recipe.pairs or None)


def held_out(recipe: Recipe, count: int = 500) -> Pairs:
    """What to score on in between: the validation data, and of the world sentences that are far behind those learnt."""
    return _world(recipe, FAR, count) if recipe.data == "world" else _read_named(recipe, "val", count)


def _read_named(recipe: Recipe, split: str, count: int | None) -> Pairs:
    from regard.data import DataError
    from regard.data import pairs as named

    found = list(islice(named(recipe.data, recipe.source, recipe.target, split), count))
    if not found:
        raise DataError(
            f"{recipe.data} has no pairs in its split {split!r}; give more (a twentieth of a table is held out), or a "
            f"folder with {split}.{recipe.source} and {split}.{recipe.target}"
        )
    return found


def _notes(recipe: Recipe) -> list[str]:
    """How the columns of a table were understood."""
    from regard.data import SETS, columns

    if recipe.data in SETS or not Path(recipe.data).is_file():
        return []
    first, second, header = columns(Path(recipe.data), recipe.source, recipe.target)
    why = "as its first line says" if header else "by their order, since its first line does not name them"
    return [f"{recipe.data}: column {first + 1} is {recipe.source}, column {second + 1} is {recipe.target}, {why}"]


def _world(recipe: Recipe, start: int, count: int) -> Pairs:
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


def bleu(model: Any, tokenizer: "Tokenizer", held: Pairs, limit: int) -> float:
    """BLEU of what the model writes greedily for held-out sentences."""
    from sacrebleu.metrics.bleu import BLEU

    from regard.recipes.writer import write

    written = write("translate", model, tokenizer, [source for source, _ in held], limit)
    return float(BLEU(lowercase=tokenizer.lower).corpus_score(written, [[target for _, target in held]]).score)


def _language_name(code: str) -> str:
    from regard.world.language import LANGUAGES as NAMES

    return "any language" if code == "any" else NAMES.get(code, code)
