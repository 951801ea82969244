"""Rows of files: lines, tables with tabs, and files that go together line by line; and their division into splits."""

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from regard.data.errors import DataError
from regard.files import check
from regard.names import listed

SPLITS = ("train", "val", "test")  # what `divide` makes


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
            f"{path} names its columns {listed(cells)}, and none is {missing!r}; ask for those it has, or name both"
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


LONGEST = 2**20  # bytes of a line


def regular(path: Path) -> None:
    """Refuse what is not there, and what is no regular file, such as a pipe, which would never end."""
    try:
        check(path)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{path} cannot be read ({said}); give a regular file that is there") from None


def lines(path: Path) -> Iterator[str]:
    """Lines of a file, gzipped or not, in strict UTF-8. Only a line feed ends one; a return before it is dropped."""
    regular(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            for number, raw in enumerate(iter(lambda: stream.readline(LONGEST + 1), b""), start=1):
                if len(raw) > LONGEST:  # a few bytes of gzip may unpack to gigabytes without an end of line
                    raise DataError(f"{path}, line {number} has more than {LONGEST:,} bytes; break it into lines")
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

    Pairs that share a sentence on either side, directly or through others, stay together.
    """
    split: dict[str, list[tuple[str, str]]] = {name: [] for name in SPLITS}
    for pair, name in zip(whole, folds([((0, first), (1, second)) for first, second in whole]), strict=True):
        split[name].append(pair)
    return split


def folds(rows: Sequence[Sequence[tuple[int, str]]]) -> list[str]:
    """The split of each row of sentences, each with the number of its side: rows that share one stay together.

    Two sentences of a side are the same if their words are, whatever their case and punctuation. Such a group goes
    where the hash of its first sentence, in order of the alphabet, sends it. So the order of the rows does not matter.
    """
    parent: dict[tuple[int, str], tuple[int, str]] = {}

    def root(sentence: tuple[int, str]) -> tuple[int, str]:
        above = parent.setdefault(sentence, sentence)
        while above != parent[above]:
            parent[above] = above = parent[parent[above]]
        return above

    keys = [[(side, _words(sentence)) for side, sentence in row] for row in rows]
    for row in keys:
        first, *others = sorted(map(root, row))
        for other in others:
            parent[root(other)] = root(first)  # so the root is the first of its group
    return [_fold(root(row[0])[1]) for row in keys]


def belongs(sentence: str) -> str:
    """The split that `divide` would send a sentence to that stands for itself."""
    return _fold(_words(sentence))


def _fold(words: str) -> str:
    fold = int.from_bytes(sha256(words.encode()).digest()[:8]) % 20
    return "test" if fold == 0 else "val" if fold == 1 else "train"


def _words(sentence: str) -> str:
    return " ".join(re.findall(r"\w+", sentence.casefold())) or sentence
