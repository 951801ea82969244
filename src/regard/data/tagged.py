"""Sentences whose words have tags, from your own files: a word and its tag a line, or JSON lines."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from regard.data.errors import DataError
from regard.data.rows import SPLITS, folds, lines

ENDS = (".conll", ".iob", ".bio", ".tsv", ".txt", ".jsonl")
ALSO = {"train": ("train",), "val": ("val", "dev", "valid", "validation"), "test": ("test",)}


class Sentence(NamedTuple):
    """Words, and the tag of each."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


def tagged(name: str | Path, split: str = "train") -> list[Sentence]:
    """Sentences of a split: of a folder with a file for each split, or of one file, which is divided by its sentences.

    A line has a word first and its tag last, as in CoNLL's files, and an empty line ends a sentence; or it is a JSON
    object with `words` (or `tokens`) and `tags`. Files may end in .gz.
    """
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    path = Path(name)
    if path.is_dir():
        places = [path / f"{each}{end}{more}" for each in ALSO[split] for end in ENDS for more in ("", ".gz")]
        here = next((each for each in places if each.is_file()), None)
        if here is None:
            raise DataError(f"{path} has no tagged sentences of the split {split!r}; put a {split}.conll there")
        return list(_read(here))
    if not path.is_file():
        raise DataError(f"no tagged sentences lie at {str(name)!r}; give a file with a word and its tag on each line")
    found = list(_read(path))
    sides = folds([[(0, " ".join(each.words))] for each in found])
    return [each for each, side in zip(found, sides, strict=True) if side == split]


def _read(path: Path) -> Iterator[Sentence]:
    return _jsonl(path) if path.name.removesuffix(".gz").endswith(".jsonl") else _conll(path)


def _conll(path: Path) -> Iterator[Sentence]:
    words, tags = list[str](), list[str]()
    for number, line in enumerate((*lines(path), ""), start=1):
        cells = line.split("\t") if "\t" in line else line.split()
        if not line.strip() or cells[0] == "-DOCSTART-":
            if words:
                yield Sentence(tuple(words), tuple(tags))
            words, tags = [], []
            continue
        if len(cells) < 2 or not cells[0].strip() or not cells[-1].strip():
            raise DataError(f"{path}, line {number} has no word and tag with a tab or space between; give it both")
        words.append(cells[0].strip())
        tags.append(cells[-1].strip())


def _jsonl(path: Path) -> Iterator[Sentence]:
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            words, tags = (
                row.get(first, row.get(second)) for first, second in (("words", "tokens"), ("tags", "ner_tags"))
            )
            sound = all(isinstance(each, str) and each.strip() for each in (*words, *tags))
        except (ValueError, RecursionError, AttributeError, TypeError):
            sound = False
        if not sound or not words or len(words) != len(tags):
            raise DataError(f"{path}, line {number} has no `words` and as many `tags`, all of them texts; give it both")
        yield Sentence(tuple(words), tuple(tags))
