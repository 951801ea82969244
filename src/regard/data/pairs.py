"""Sentences in two languages: of a named set, of the little world, or from your own files."""

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from regard.data.errors import DataError
from regard.data.fetch import get
from regard.data.sets import SETS, Dataset
from regard.world.language import Pair, text
from regard.world.language import pairs as imagined
from regard.world.view import View

SPLITS = ("train", "val", "test")  # what `divide` makes


def pairs(
    name: str | Path, source: str, target: str, split: str = "train"
) -> list[tuple[str, str]] | View[tuple[str, str]]:
    """Pairs of a named set, or of your own: a folder with `train.de` beside `train.en`, or a table with tabs.

    A table whose first line names its columns has source and target where that says, any other in its first two
    columns; `divide` splits it. Files may end in .gz. The pairs of the world have no last one: slice them.
    """
    if str(name) not in SETS:
        return _own(Path(name), source, target, split)
    dataset = SETS[str(name)]
    _offered(dataset, source, target, split)
    if dataset.name == "world":
        view = imagined(source, target, split=split)
        return View(view.name, _Written(view), view.facts)
    if dataset.name == "multi30k":
        return parallel(*get(dataset, [f"{split}.{source}.gz", f"{split}.{target}.gz"]))
    (path,) = get(dataset)
    english_first = table(path, Columns(2, 3))
    chosen = divide(english_first)[split]
    return chosen if source == "en" else [(second, first) for first, second in chosen]


class Columns(NamedTuple):
    """Where a table has what is wanted, and whether its first line says so."""

    first: int
    second: int
    header: bool = False


def columns(path: Path, first: str, second: str) -> Columns:
    """The columns that the first line of a table calls by these names; where it has neither, the first two."""
    cells = [cell.strip().casefold() for cell in next(lines(path), "").split("\t")]
    places = [cells.index(name.casefold()) if name.casefold() in cells else None for name in (first, second)]
    if places[0] is not None and places[1] is not None:
        return Columns(places[0], places[1], header=True)
    if cells[:2] == ["source", "target"]:
        return Columns(0, 1, header=True)
    if places != [None, None]:
        missing = first if places[0] is None else second
        raise DataError(
            f"{path} names its columns {', '.join(cells)}, and none is {missing!r}; ask for those it has, or name both"
        )
    return Columns(0, 1)


def table(path: Path, where: Columns = Columns(0, 1)) -> list[tuple[str, str]]:
    """Two columns of a file whose columns are divided by tabs, without its header and blank lines."""
    found = []
    for number, line in enumerate(lines(path), start=1):
        if not line.strip() or (number == 1 and where.header):
            continue
        cells = line.split("\t")
        if len(cells) <= max(where.first, where.second):
            raise DataError(
                f"{path}, line {number} has {len(cells)} columns, not {max(where.first, where.second) + 1}; divide "
                "them by tabs"
            )
        found.append((cells[where.first], cells[where.second]))
    return found


def parallel(source: Path, target: Path) -> list[tuple[str, str]]:
    """Pairs of two files, line by line, without those that are blank in both."""
    first, second = list(lines(source)), list(lines(target))
    if len(first) != len(second):
        raise DataError(
            f"{source} has {len(first)} lines and {target} has {len(second)}; line by line they must mean the same"
        )
    return [pair for pair in zip(first, second, strict=True) if "".join(pair).strip()]


def lines(path: Path) -> Iterator[str]:
    """Lines of a file, gzipped or not, in strict UTF-8. Only a line feed ends one; a return before it is dropped."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                try:
                    line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise DataError(
                        f"{path}, line {number} is not UTF-8: byte 0x{raw[error.start]:02x} at place {error.start}; "
                        "mend the line, or convert the file to UTF-8"
                    ) from None
                yield line.removesuffix("\n").removesuffix("\r")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path} is cut short or damaged ({error}); make or fetch it again") from None


def divide(whole: list[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Split pairs into train (nine tenths), val and test (a twentieth each), so that no sentence is in two of them.

    Pairs that share a sentence on either side, directly or through others, stay together; two sentences are the same
    if their words are, whatever their case and punctuation. Such a group goes where the hash of its first sentence,
    in order of the alphabet, sends it. So the order of the pairs does not matter.
    """
    parent: dict[tuple[int, str], tuple[int, str]] = {}

    def root(sentence: tuple[int, str]) -> tuple[int, str]:
        above = parent.setdefault(sentence, sentence)
        while above != parent[above]:
            parent[above] = above = parent[parent[above]]
        return above

    keys = [((0, _words(first)), (1, _words(second))) for first, second in whole]
    for one, other in keys:
        low, high = sorted((root(one), root(other)))
        parent[high] = low  # so the root is the first of its group
    split: dict[str, list[tuple[str, str]]] = {name: [] for name in SPLITS}
    for pair, (key, _) in zip(whole, keys, strict=True):
        split[_fold(root(key)[1])].append(pair)
    return split


def belongs(sentence: str) -> str:
    """The split that `divide` would send a sentence to that stands for itself."""
    return _fold(_words(sentence))


@dataclass(frozen=True, slots=True)
class _Written:
    """The pairs of the world as people write them."""

    view: View[Pair]

    def __call__(self, index: int) -> tuple[str, str]:
        pair = self.view[index]
        return text(pair.source), text(pair.target)


def _own(path: Path, source: str, target: str, split: str) -> list[tuple[str, str]]:
    if path.is_dir():
        return parallel(*(_either(path / f"{split}.{language}") for language in (source, target)))
    if not path.is_file():
        raise ValueError(
            f"no data set is called {str(path)!r} and nothing lies there; choose {', '.join(SETS)}, "
            f"a folder with {split}.{source} and {split}.{target}, or a table with tabs"
        )
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; a table is divided into {', '.join(SPLITS)}")
    return divide(table(path, columns(path, source, target)))[split]


def _either(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    if not path.is_file() and not packed.is_file():
        raise DataError(f"{path} is missing, and so is {packed.name}; put one of them there")
    return path if path.is_file() else packed


def _offered(dataset: Dataset, source: str, target: str, split: str) -> None:
    """Refuse a language or split that the set does not have."""
    for language in (source, target):
        if language not in dataset.languages:
            raise ValueError(f"{dataset.name} has no language {language!r}; it has {', '.join(dataset.languages)}")
    if source == target:
        raise ValueError(f"a pair needs two languages, not {source!r} twice; choose of {', '.join(dataset.languages)}")
    if split not in dataset.splits:
        raise ValueError(f"{dataset.name} has no split {split!r}; it has {', '.join(dataset.splits)}")


def _fold(words: str) -> str:
    fold = int.from_bytes(sha256(words.encode()).digest()[:8]) % 20
    return "test" if fold == 0 else "val" if fold == 1 else "train"


def _words(sentence: str) -> str:
    return " ".join(re.findall(r"\w+", sentence.casefold())) or sentence
