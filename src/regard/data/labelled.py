"""Texts with a label: of a named set, or from your own tables with tabs."""

from pathlib import Path

from regard.data.errors import DataError
from regard.data.rows import SPLITS, belongs, labels
from regard.data.sets import MODULES, SETS, names

ALSO = {"val": ("val", "dev"), "train": ("train",), "test": ("test",)}  # what the file of a split may be called


def labelled(name: str | Path, split: str = "train") -> list[tuple[str, str]]:
    """Texts and their labels: of a named set, or of your own, a folder with train.tsv and val.tsv, or one table.

    A table whose first line has a `label` says where text and label are; else they are its first two columns. Files may
    end in .gz. One table is divided by its texts, so that none is in two splits.
    """
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    if str(name) in SETS:
        if SETS[str(name)].kind != "labels":
            raise ValueError(f"{name} has {SETS[str(name)].kind}, not labels; choose {names('labels')}")
        SETS[str(name)].check(split)
        found: list[tuple[str, str]] = MODULES[str(name)].read(split)
        return found
    path = Path(name)
    if path.is_dir():
        places = [path / f"{each}.tsv{end}" for each in ALSO[split] for end in ("", ".gz")]
        here = next((each for each in places if each.is_file()), None)
        if here is None:
            raise DataError(f"{path} has no {' or '.join(each.name for each in places)}; put one of them there")
        return labels(here)
    if not path.is_file():
        raise DataError(
            f"no labelled set is called {str(name)!r} and nothing lies there; choose {names('labels')}, a folder with "
            f"train.tsv and val.tsv, or a table of texts and labels with a tab between"
        )
    return [(text, label) for text, label in labels(path) if belongs(text) == split]
