"""Tables of Apache Arrow: Parquet files, and data sets that Hugging Face's library has saved (extra `tables`)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from regard import files
from regard.data.errors import DataError

Found = tuple[tuple[str, ...], Iterator[Sequence[Any]]]  # the names of the columns, and the rows


def read_parquet(paths: Sequence[Path]) -> Found:
    """Rows of Parquet files that go together."""
    arrow = _library()
    from pyarrow import parquet  # type: ignore[import-untyped,unused-ignore]

    def batches(path: Path) -> Iterator[Any]:
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches()

    try:
        with parquet.ParquetFile(paths[0]) as first:
            columns = tuple(first.schema_arrow.names)
    except (arrow.ArrowException, OSError) as error:
        raise _damage(paths[0], error) from None
    return columns, _rows(paths, columns, batches, {})


def read_saved(folder: Path) -> Found:
    """Rows of a folder that `save_to_disk` wrote; a column of classes has their names."""
    arrow = _library()
    from pyarrow import ipc  # type: ignore[import-untyped,unused-ignore]

    paths = sorted(path for path in folder.glob("*.arrow") if not path.name.startswith(("cache-", "indices")))
    if not paths:
        raise DataError(f"{folder} has no .arrow files; give a folder that save_to_disk wrote")

    def batches(path: Path) -> Iterator[Any]:
        with arrow.memory_map(str(path)) as source, ipc.open_stream(source) as stream:
            yield from stream

    try:
        with arrow.memory_map(str(paths[0])) as source, ipc.open_stream(source) as stream:
            columns = tuple(stream.schema.names)
    except (arrow.ArrowException, OSError) as error:
        raise _damage(paths[0], error) from None
    return columns, _rows(paths, columns, batches, _classes(folder))


def _rows(paths: Sequence[Path], columns: Sequence[str], batches: Any, classes: dict[str, list[str]]) -> Iterator[Any]:
    arrow = _library()
    for path in paths:
        try:
            for batch in batches(path):
                sides = [_named(batch.column(name).to_pylist(), classes.get(name)) for name in columns]
                yield from zip(*sides, strict=True)
        except (arrow.ArrowException, KeyError, IndexError, OSError, ValueError) as error:
            raise _damage(path, error) from None


def _named(values: list[Any], names: list[str] | None) -> list[Any]:
    """Numbers of classes by their names; -1 stands for none."""
    if names is None:
        return values
    return [names[value] if isinstance(value, int) and value >= 0 else value for value in values]


def _classes(folder: Path) -> dict[str, list[str]]:
    """The names of classes, by column."""
    try:
        about = files.read_json(folder / "dataset_info.json").get("features") or {}
    except (OSError, ValueError) as error:
        raise DataError(f"{folder} cannot be read: {error}; save the data set again") from None
    return {
        name: list(map(str, feature["names"]))
        for name, feature in about.items()
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
    }


def _damage(path: Path, error: Exception) -> DataError:
    return DataError(f"{path} cannot be read ({str(error).splitlines()[0]}); make or fetch it again")


def _library() -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise DataError(
            "Parquet and saved data sets need pyarrow, which is not here; in a clone of regard, pip install '.[tables]'"
        ) from None
    return pyarrow
