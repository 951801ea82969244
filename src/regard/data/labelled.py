"""Texts with a label: of a named set, or from your own tables with tabs."""

from pathlib import Path

from regard.data.errors import DataError
from regard.data.fetch import get
from regard.data.pairs import SPLITS, Columns, belongs, lines, table
from regard.data.sets import SETS

TEXTS = ("text", "sentence", "review")  # what the column of the texts may be called, beside one called label
ALSO = {"val": ("val", "dev"), "train": ("train",), "test": ("test",)}  # what the file of a split may be called


def labelled(name: str | Path, split: str = "train") -> list[tuple[str, str]]:
    """Texts and their labels: of sst2, or of your own, a folder with train.tsv and val.tsv, or one table.

    A table whose first line has a `label` says where text and label are; else they are its first two columns. Files may
    end in .gz. One table is divided by its texts, so that none is in two splits.
    """
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    if str(name) == "sst2":
        (path,) = get(SETS["sst2"], [f"{ALSO[split][-1]}.tsv.gz"])
        return _rows(path)
    path = Path(name)
    if path.is_dir():
        found = [path / f"{each}.tsv{end}" for each in ALSO[split] for end in ("", ".gz")]
        here = next((each for each in found if each.is_file()), None)
        if here is None:
            raise DataError(f"{path} has no {' or '.join(each.name for each in found)}; put one of them there")
        return _rows(here)
    if not path.is_file():
        raise DataError(
            f"no labelled set is called {str(name)!r} and nothing lies there; choose sst2, a folder with train.tsv and "
            f"val.tsv, or a table of texts and labels with a tab between"
        )
    return [(text, label) for text, label in _rows(path) if belongs(text) == split]


def _rows(path: Path) -> list[tuple[str, str]]:
    cells = [cell.strip().casefold() for cell in next(lines(path), "").split("\t")]
    where = Columns(0, 1)
    if "label" in cells and len(cells) > 1:
        label = cells.index("label")
        text = next((cells.index(name) for name in TEXTS if name in cells), 1 if label == 0 else 0)
        where = Columns(text, label, header=True)
    return [(text.strip(), label.strip()) for text, label in table(path, where)]
