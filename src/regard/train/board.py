"""Measurements for TensorBoard, where they are wanted."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Board = Callable[[Mapping[str, Any]], None]


@contextmanager
def tensorboard(folder: Path | None) -> Iterator[Board]:
    """A function that writes a row of measurements to a folder, or nowhere."""
    if folder is None:
        yield lambda _: None
        return
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ImportError(
            "--tensorboard needs a package of that name; in a clone of regard, pip install '.[log]'"
        ) from None
    writer = SummaryWriter(str(folder))

    def write(row: Mapping[str, Any]) -> None:
        for name, value in row.items():
            if name != "step":
                writer.add_scalar(name, value, row["step"])

    try:
        yield write
    finally:
        writer.close()
