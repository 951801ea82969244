"""A task that a language model is shown in its prompt: examples, tests, and how one of them is written down."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard import files
from regard.world import language
from regard.world.language import Episode
from regard.world.scene import KINDS

SIZE = 64 * 2**20  # bytes of a file
FORMAT = "Input: {input}\nOutput: {answer}"
SEPARATOR = "\n\n"
ENDLESS = 200  # tests of the world, which has no last one, and as many examples
_FIELD = re.compile(r"\{(\w+)\}")
_KEYS = ("instruction", "format", "separator", "choices", "examples", "tests")


@dataclass(frozen=True, slots=True)
class Item:
    """What is asked, by the names that the format has for its parts, the right answer, and what it is chosen from."""

    fields: Mapping[str, str]
    answer: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """Examples and tests; `format` is one of them as a text, and its `{answer}` is what the model has to say."""

    name: str
    examples: tuple[Item, ...]
    tests: tuple[Item, ...]
    format: str = FORMAT
    instruction: str = ""
    separator: str = SEPARATOR  # between two examples
    _parts: tuple[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        before, answer, after = self.format.partition("{answer}")
        if not answer or "{answer}" in after or _FIELD.search(after):
            raise ValueError(
                f"the format {self.format!r} of {self.name} needs {{answer}} once, behind everything asked"
            )
        if not self.tests:
            raise ValueError(f"{self.name} has no tests; give one or more, each with an answer")
        object.__setattr__(self, "_parts", (before, after))
        asked = set(_FIELD.findall(before))
        for item in (*self.examples, *self.tests):
            if missing := sorted(asked - item.fields.keys()):
                raise ValueError(
                    f"an item of {self.name} has no {missing[0]!r}, which its format {self.format!r} asks for"
                )
            if item.choices and item.answer not in item.choices:
                raise ValueError(f"{item.answer!r} is an answer of {self.name} and none of its choices {item.choices}")

    def prompt(self, shown: Sequence[Item], test: Item) -> str:
        """The text before the answer to a test, behind examples with theirs."""
        told = [self._ask(item) + item.answer + self._parts[1] for item in shown]
        return self.separator.join(filter(None, [self.instruction, *told, self._ask(test)]))

    @property
    def ends(self) -> tuple[str, ...]:
        """What follows an answer, and so ends one that is written."""
        after = self._parts[1] + self.separator
        end = "\n" if after.startswith("\n") else self._parts[1] or self.separator
        return (end,) if end.strip(" ") else ()

    def _ask(self, item: Item) -> str:
        return _FIELD.sub(lambda name: item.fields[name[1]], self._parts[0])


def read_task(what: str | Path) -> Task:
    """The task of a file, JSON or TOML; or `world`, new words that are explained and asked for."""
    if str(what) == "world":
        return world_task()
    path = Path(what)
    if path.suffix not in (".json", ".toml"):
        raise ValueError(f"{what} is no task; give a file that ends in .json or .toml, or say world")
    if not path.is_file():
        raise FileNotFoundError(f"there is no task {path}; give a file that is there, or say world")
    if path.suffix == ".json":
        about = files.read_json(path, SIZE)
    else:
        try:
            about = tomllib.loads(files.read(path, SIZE).decode())
        except ValueError as error:
            raise ValueError(f"{path} is no TOML: {error}") from None
    strange = [name for name in about if name not in _KEYS]
    if strange:
        raise ValueError(f"{path} has {strange[0]!r}, which a task does not have; it has {', '.join(_KEYS)}")
    choices = _choices(path, about.get("choices", []))
    return Task(
        path.stem,
        _items(path, "examples", about.get("examples", []), choices),
        _items(path, "tests", about.get("tests", []), choices),
        format=_text(path, "format", about.get("format", FORMAT)),
        instruction=_text(path, "instruction", about.get("instruction", "")),
        separator=_text(path, "separator", about.get("separator", SEPARATOR)),
    )


def world_task(count: int = ENDLESS) -> Task:
    """Episodes of the world as shots: each explains new words and asks for one of them."""
    examples = tuple(_item(each) for each in language.episodes(split="train")[:count])
    tests = tuple(_item(each) for each in language.episodes(split="test")[:count])
    # As the episodes are written down for training: one behind another, and the answer alone at the end.
    return Task("world", examples, tests, format="{lessons} {question} {answer}", separator=" ")


def _item(episode: Episode) -> Item:
    """An episode; one answers with yes or no, with one of the new words, or with a kind of thing."""
    names = tuple(lesson[1] for lesson in episode.lessons)
    choices = next(some for some in (names, ("no", "yes"), KINDS) if episode.answer in some)
    lessons = " ".join(map(language.text, episode.lessons))
    return Item({"lessons": lessons, "question": language.text(episode.question)}, episode.answer, choices)


def _items(path: Path, name: str, given: Any, choices: tuple[str, ...]) -> tuple[Item, ...]:
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise ValueError(f"{name} of {path} must be a list of objects, each with an answer")
    found = []
    for number, each in enumerate(given, start=1):
        own = {
            key: _text(path, f"{key} of number {number} in {name}", value)
            for key, value in each.items()
            if key != "choices"
        }
        if "answer" not in own:
            raise ValueError(f"number {number} in {name} of {path} has no answer; give each of them one")
        answer = own.pop("answer")
        found.append(Item(own, answer, _choices(path, each["choices"]) if "choices" in each else choices))
    return tuple(found)


def _choices(path: Path, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or len({str(each) for each in given}) < len(given) or "" in given:
        raise ValueError(f"choices of {path} must be a list of different texts, none of them empty")
    return tuple(_text(path, "a choice", each) for each in given)


def _text(path: Path, name: str, given: Any) -> str:
    if not isinstance(given, str | int | float):
        raise ValueError(f"{name} in {path} is {str(given)[:40]}, and must be a text")
    return str(given)
