"""Running text: of a named set, of the world, of a file, or of a folder of text files."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby
from pathlib import Path

from regard.data.errors import DataError
from regard.data.rows import SPLITS
from regard.data.sentences import sentences
from regard.data.sets import MODULES, SETS, names
from regard.data.stretch import Stretch, divided, lines_of, size
from regard.data.told import world_stories, world_texts
from regard.data.wiki import articles

ENDS = (".txt", ".txt.gz")
ALSO = {
    "val": ("val", "valid", "dev"),
    "train": ("train",),
    "test": ("test",),
}  # what the file of a split may be called


def text(name: str | Path, split: str = "train") -> str:
    """The text of a split as one string: of a named set, or of your own file or folder of .txt files.

    A folder may have train.txt, val.txt and test.txt. Any other, and one file, is divided by place: nine tenths are to
    learn from, then a twentieth is val and the last one test. Files may end in .gz.
    """
    return "".join(passages(name, split))


def passages(name: str | Path, split: str = "train") -> Iterator[str]:
    """The same text piece by piece, so that it need not fit in memory."""
    if str(name) == "world":
        return (f"{line}\n" for line in world_texts(split))
    if dataset := _named(name, split):
        found: Iterator[str] = MODULES[dataset].read(split)
        return found
    return (block for stretch in _own(Path(name), split) for block in stretch.blocks())


def fingerprint(name: str | Path, split: str = "train") -> str:
    """A few characters that change when the text does: by the checksums of a named set, else by sizes and times."""
    if dataset := _named(name, split):
        seen = [(file.name, file.sha256, 0) for file in SETS[dataset].files]
    else:
        own = {stretch.path: stretch.path.stat() for stretch in _own(Path(name), split)}
        seen = [(path.name, str(about.st_size), about.st_mtime_ns) for path, about in own.items()]
    return sha256(repr(seen).encode()).hexdigest()


def documents(name: str | Path, split: str = "train") -> Iterator[list[str]]:
    """Text that belongs together, one document after another, each as its sentences.

    Of a Wikipedia dump they are its articles without markup. Of any other text they are what blank lines divide.
    """
    if str(name) == "world":
        return iter(world_stories(split))
    if dataset := _named(name, split):
        module = MODULES[dataset]
        if hasattr(module, "documents"):
            found: Iterator[list[str]] = module.documents(split)
            return found
        return _paragraphs(lines_of(module.read(split)))
    return (each for stretch in _own(Path(name), split) for each in _documents(stretch))


def _named(name: str | Path, split: str) -> str:
    if str(name) not in SETS:
        return ""
    dataset = SETS[str(name)]
    if dataset.kind != "text":
        raise ValueError(f"{name} has {dataset.kind}, not text; choose {names('text')}")
    dataset.check(split)
    return dataset.name


def _own(path: Path, split: str) -> list[Stretch]:
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    if path.is_file():
        return divided([path], split)
    if not path.is_dir():
        raise DataError(
            f"no text is called {str(path)!r} and nothing lies there; choose {names('text')}, a text file, or a folder "
            "of .txt files"
        )
    files = sorted(each for each in path.rglob("*") if each.is_file() and each.name.endswith(ENDS))
    if not files:
        raise DataError(f"{path} has no files that end in {' or '.join(ENDS)}; put some there")
    called = {each.name.partition(".")[0]: each for each in files if each.parent == path}
    if "train" not in called:
        return divided(files, split)
    mine = next((called[each] for each in ALSO[split] if each in called), None)
    if mine is None:
        raise DataError(f"{path} has a train.txt and no {split}.txt; put one there")
    return [Stretch(mine, 0, size(mine))]


def _documents(stretch: Stretch) -> Iterator[list[str]]:
    beginning = next(Stretch(stretch.path, 0, min(size(stretch.path), 64)).blocks(), "")
    return articles(stretch.lines()) if beginning.startswith("<mediawiki") else _paragraphs(stretch.lines())


def _paragraphs(lines: Iterator[str]) -> Iterator[list[str]]:
    for blank, group in groupby(lines, key=lambda line: not line.strip()):
        if not blank and (found := [each for line in group for each in sentences(line)]):
            yield found
