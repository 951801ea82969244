"""Items of the little world as text for people and as JSON for programs."""

from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from regard.cli.errors import UsageError
from regard.cli.ink import BOLD, CYAN, DIM, ink
from regard.names import unknown
from regard.world import language as world
from regard.world.view import View

if TYPE_CHECKING:
    from regard.cli.world import Sample


# Each view, and which of the flags about language it takes.
VIEWS: dict[str, tuple[Callable[["Sample"], View[Any]], tuple[str, ...]]] = {
    "pairs": (
        lambda w: world.pairs(w.source, w.target, seed=w.seed, split=w.split, length=w.length),
        ("source", "target", "length"),
    ),
    "sentences": (
        lambda w: world.sentences(w.language, seed=w.seed, split=w.split, length=w.length),
        ("language", "length"),
    ),
    "trees": (lambda w: world.trees(seed=w.seed, split=w.split, length=w.length), ("length",)),
    "descriptions": (lambda w: world.descriptions(w.language, seed=w.seed, split=w.split), ("language",)),
    "questions": (lambda w: world.questions(w.language, seed=w.seed, split=w.split), ("language",)),
    "stories": (lambda w: world.stories(w.language, seed=w.seed, split=w.split), ("language",)),
    "nexts": (lambda w: world.nexts(w.language, seed=w.seed, split=w.split), ("language",)),
    "senses": (lambda w: world.senses(seed=w.seed, split=w.split), ()),
    "reports": (lambda w: world.reports(seed=w.seed, split=w.split), ()),
    "episodes": (lambda w: world.episodes(seed=w.seed, split=w.split), ()),
}
_FLAGS = {"source": "--from", "target": "--to", "language": "--language", "length": "--length"}


def view(wishes: "Sample") -> View[Any]:
    """The view that was asked for by name; a flag that it would ignore is refused."""
    if wishes.view not in VIEWS:
        raise UsageError(unknown("view", wishes.view, VIEWS))
    make, takes = VIEWS[wishes.view]
    usual = {field.name: field.default for field in fields(wishes)}
    for name, flag in _FLAGS.items():
        if name not in takes and getattr(wishes, name) != usual[name]:
            others = [_FLAGS[each] for each in takes]
            ways = f"take only {', '.join(others)}" if others else "are in English and take no such flag"
            raise UsageError(f"{flag} does nothing for {wishes.view}, which {ways}")
    return make(wishes)


def format_item(item: object) -> str:
    """An item in a few lines."""
    match item:
        case world.Pair(source, target, alignment):
            links = (f"{source[i]}–{target[j]}" for i, j in sorted(alignment))
            return "\n".join((world.text(source), world.text(target), ink("  ".join(links), DIM)))
        case world.Spoken(words, tags):
            return f"{world.text(words)}\n" + ink(" ".join(map("/".join, zip(words, tags, strict=True))), DIM)
        case world.Parsed(words, tree):
            return f"{world.text(words)}\n{ink(world.bracket(tree), DIM)}"
        case world.Described(scene, description):
            named = {
                i: " ".join(
                    word for word, which in zip(description.words, description.names, strict=True) if i in which
                )
                for i in range(len(scene.things))
            }
            return f"{description.text}\n" + ink("  ".join(f"{i}: {words}" for i, words in named.items() if words), DIM)
        case world.Asked(scene, question):
            about = world.describe(scene).text
            return f"{ink(about, DIM)}\n{world.text(question.words)} {ink(question.answer, BOLD)}"
        case world.Story(sentences, antecedents):
            told = [world.text(sentence) for sentence in sentences]
            links = (f"{_word(sentences, a)} → {_word(sentences, b)}" for a, b in antecedents)
            return "\n".join((*told, *([ink("  ".join(links), DIM)] if antecedents else [])))
        case world.Next(story, sentence, follows):
            told = [world.text(sentence) for sentence in story]
            return "\n".join((*told, f"{ink('then' if follows else 'not', BOLD)}  {world.text(sentence)}"))
        case world.Sense(words, place, word, sense, translations):
            others = " ".join(f"{code} {other}" for code, other in zip(("de", "it", "cs"), translations, strict=True))
            return f"{world.text(words)}\n{ink(word, CYAN)} (word {place}): {ink(sense, BOLD)}  {ink(others, DIM)}"
        case world.Report(words, label):
            return f"{ink(label, BOLD)}  {world.text(words)}"
        case world.Episode(lessons, question, answer):
            return "\n".join((*map(world.text, lessons), f"{world.text(question)} {ink(answer, BOLD)}"))
        case _:
            raise TypeError(f"no way to draw a {type(item).__name__}")


def plain(item: object) -> object:
    """An item as JSON can hold it; what a sentence means stays behind, its words and links come along."""
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        kept = (name for name in item._fields if name not in ("meaning", "meanings"))
        return {name: plain(getattr(item, name)) for name in kept}
    if isinstance(item, frozenset):
        return sorted(plain(each) for each in item)  # type: ignore[type-var]
    if isinstance(item, tuple | list):
        return [plain(each) for each in item]
    if is_dataclass(item) and not isinstance(item, type):
        return asdict(item)
    return item


def _word(sentences: tuple[tuple[str, ...], ...], where: tuple[int, int]) -> str:
    sentence, place = where
    return f"{sentences[sentence][place]} ({sentence}.{place})"
