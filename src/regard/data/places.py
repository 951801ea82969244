"""Where your own table of a split lies: in a file of its own, in a folder, or in one table that is to be divided."""

from pathlib import Path

from regard.data.errors import DataError
from regard.data.records import READERS

# What the file or folder of a split may be called.
ALSO = {"train": ("train",), "val": ("val", "dev", "valid", "validation"), "test": ("test",)}


def find(path: Path, split: str, absent: str) -> tuple[Path, bool]:
    """The table of a split, and whether it has all splits in one; `absent` begins the sentence where nothing lies."""
    if path.is_file():
        return path, True
    if not path.is_dir():
        raise DataError(
            f"{absent}, a table that ends in {', '.join(READERS)}, or a folder with such a table called train, val and "
            "test"
        )
    if is_saved(path):
        return path, True
    for name in ALSO[split]:
        for end in READERS:
            for each in (path / f"{name}{end}", path / f"{name}{end}.gz"):
                if each.is_file():
                    return each, False
        if is_saved(path / name):  # of a saved dictionary of data sets
            return path / name, False
        if shards := [*path.glob(f"{name}-*.parquet"), *path.glob(f"data/{name}-*.parquet")]:
            if len(shards) > 1:
                raise DataError(f"{path} has {split} in {len(shards)} Parquet files; join them, or give one of them")
            return shards[0], False
    raise DataError(f"{path} has no table of the split {split!r}; put one there, such as {ALSO[split][0]}.tsv")


def is_saved(folder: Path) -> bool:
    """Whether Hugging Face's library has saved a data set here."""
    return (folder / "dataset_info.json").is_file() and any(folder.glob("*.arrow"))
