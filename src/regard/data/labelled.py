"""Texts with a label: of a named set, or from your own tables."""

from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from regard.data.errors import DataError
from regard.data.places import find
from regard.data.records import Records, open_records
from regard.data.rows import SPLITS, folds
from regard.data.sets import MODULES, SETS, names
from regard.names import listed

# What the columns of a table may be called: two texts that belong together, one text, and what is said of them.
PAIRS = (
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("sentence_a", "sentence_b"),
    ("anchor", "positive"),
    ("query", "passage"),
    ("question", "answer"),
    ("question", "sentence"),
)
TEXTS = ("text", "sentence", "review", "question", "content", "comment", "message", "tweet", "title", "body", "phrase")
LABELS = ("label", "labels", "class", "category", "sentiment", "score", "target", "rating", "stars", "intent", "topic")


class Example(NamedTuple):
    """One text, or two that belong together, and what is said of them: a class, or a score as it is written."""

    texts: tuple[str, ...]
    label: str  # empty where a table of pairs says nothing of them


class Where(NamedTuple):
    """The columns of texts and label."""

    texts: Sequence[int]
    label: int | None


def labelled(name: str | Path, split: str = "train", *, text: str = "", label: str = "") -> list[Example]:
    """Texts and their labels: of a named set, or of your own, a folder with a table for each split, or one table.

    A table is CSV, TSV, JSON lines or Parquet, or a data set that Hugging Face's library saved. Its columns are known
    by usual names, or by those that you give; `text` may name two, as in `question,answer`. Where the first line names
    none, the first two columns are text and label. Files may end in .gz. One table is divided by its texts, so that
    none is in two splits.
    """
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    if str(name) in SETS:
        dataset = SETS[str(name)]
        if dataset.kind not in ("labels", "similarity"):
            raise ValueError(f"{name} has {dataset.kind}, not labels; choose {_sets()}")
        dataset.check(split)
        found: list[Example] = [Example(*row) for row in MODULES[dataset.name].read(split)]
        return found
    path, whole = find(
        Path(name), split, f"no labelled set is called {str(name)!r} and nothing lies there; choose {_sets()}"
    )
    rows = list(examples(path, text=text, label=label))
    if not whole:
        return rows
    sides = folds([[(0, each) for each in row.texts] for row in rows])
    return [row for row, side in zip(rows, sides, strict=True) if side == split]


def examples(path: Path, *, text: str = "", label: str = "") -> Iterator[Example]:
    """The examples of one table, as they come."""
    asked = frozenset(part.strip().casefold() for part in (*text.split(","), label) if part.strip())
    table = open_records(path, lambda cells: not cells.isdisjoint(asked) if asked else _is_header(cells))
    where: Where | None = None
    for number, cells in table.rows:
        if where is None:
            where = _columns(table, len(cells), text, label)
        last = max(*where.texts, -1 if where.label is None else where.label)
        if len(cells) <= last:
            raise DataError(f"{path}, line {number} has {len(cells)} columns, not {last + 1}; give it all of them")
        texts = tuple(_written(cells[place], path, number) for place in where.texts)
        yield Example(texts, "" if where.label is None else _written(cells[where.label], path, number))


def _is_header(cells: Set[str]) -> bool:
    """A `label`, or another usual name of one beside that of a text, or those of two; data may have one of them."""
    texts = {*TEXTS, *(name for pair in PAIRS for name in pair)}
    pair = any(cells >= set(each) for each in PAIRS)
    return pair or (len(cells) > 1 and ("label" in cells or not (cells.isdisjoint(LABELS) or cells.isdisjoint(texts))))


def _columns(table: Records, width: int, text: str, label: str) -> Where:
    """Where a table has its texts and its label."""
    names = [name.casefold() for name in table.columns] or [str(i + 1) for i in range(width)]
    if text or label:
        texts = [part.strip() for part in text.split(",") if part.strip()]
        at = _place(table, names, label) if label else _known(names, LABELS)
        found = [_place(table, names, each) for each in texts] or _texts(names, at)
    elif table.columns:
        at = _known(names, LABELS)
        found = _texts(names, at)
    else:
        found, at = ([0], 1) if width == 2 else ([], None)
    if at is None and len(found) == 2:
        return Where(found, None)  # pairs that belong together
    if at is None or not found or at in found:
        shown = f"names its columns {listed(table.columns)}" if table.columns else f"has {width} columns without names"
        called = table.columns or [str(i + 1) for i in range(width)]
        first, last = (listed([name], 40) for name in (called[0], called[-1]))
        raise DataError(
            f"{table.path} {shown}, and which are text and label is not clear; say it, as by --text {first} "
            f"--label {last}"
        )
    return Where(found, at)


def _place(table: Records, names: Sequence[str], wanted: str) -> int:
    if wanted.casefold() in names:
        return names.index(wanted.casefold())
    raise DataError(f"{table.path} has no column {wanted!r}; it has {', '.join(table.columns or names)}")


def _known(names: Sequence[str], usual: Sequence[str]) -> int | None:
    return next((names.index(name) for name in usual if name in names), None)


def _texts(names: Sequence[str], label: int | None) -> list[int]:
    """Two columns that go together by their names, or one; where there is one beside the label, that one."""
    for first, second in PAIRS:
        if first in names and second in names:
            return [names.index(first), names.index(second)]
    usual = _known(names, TEXTS)
    if usual is not None:
        return [usual]
    return [1 - label] if len(names) == 2 and label is not None else []


def _written(cell: Any, path: Path, number: int) -> str:
    if isinstance(cell, str):
        try:
            cell.encode()
        except UnicodeEncodeError:
            raise DataError(f"{path}, line {number} has half a character; write it as UTF-8") from None
        return cell.strip()
    if isinstance(cell, bool | int | float):
        return str(cell)
    raise DataError(f"{path}, line {number} has {type(cell).__name__} where text or a number is wanted; give one")


def _sets() -> str:
    return ", ".join(filter(None, (names("labels"), names("similarity"))))
