"""A progress bar on standard error, where somebody watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[float], object]  # told how much is done: a share from 0 to 1, unless a bar has another total


@contextmanager
def bar(name: str, total: float = 1.0, *, unit: str = "") -> Iterator[Progress]:
    """A bar with a name while the scope lasts; silent where standard error is no terminal. `unit` may be bytes."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as Bars

    counts = (DownloadColumn(), TransferSpeedColumn()) if unit == "bytes" else (TaskProgressColumn(),)
    columns = (TextColumn("{task.description}"), BarColumn(), *counts, TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(name, total=total)
        yield lambda done: bars.update(task, completed=done)
