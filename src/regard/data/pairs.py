"""Sentences in two languages: of a named set, or from your own files."""

from pathlib import Path

from regard.data.errors import DataError
from regard.data.rows import SPLITS, columns, divide, parallel, table
from regard.data.sets import MODULES, SETS, names
from regard.world.view import View


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
    if dataset.kind != "pairs":
        raise ValueError(f"{name} has {dataset.kind}, not pairs; choose {names('pairs')}")
    dataset.check(split, source, target)
    found: list[tuple[str, str]] | View[tuple[str, str]] = MODULES[dataset.name].read(split, source, target)
    return found


def _own(path: Path, source: str, target: str, split: str) -> list[tuple[str, str]]:
    if path.is_dir():
        return parallel(*(_either(path / f"{split}.{language}") for language in (source, target)))
    if not path.is_file():
        raise ValueError(
            f"no data set is called {str(path)!r} and nothing lies there; choose {names('pairs')}, "
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
