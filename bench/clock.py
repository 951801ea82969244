"""Fair timing on a noisy machine: contestants take turns, and best and median are both shown."""

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

from rich.console import Console
from rich.table import Table

console = Console(highlight=False, width=118)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of each repeat."""

    all: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.all)

    @property
    def median(self) -> float:
        return median(self.all)


def race(contestants: Mapping[str, Callable[[], object]], *, seconds: float = 4.0, least: int = 5) -> dict[str, Times]:
    """Run the contestants in turn until the time is up, so that a slow moment of the machine strikes all of them."""
    for run in contestants.values():
        run()
    took: dict[str, list[float]] = {name: [] for name in contestants}
    gc.disable()
    try:
        start = time.perf_counter()
        while time.perf_counter() - start < seconds or len(next(iter(took.values()))) < least:
            for name, run in contestants.items():
                before = time.perf_counter()
                run()
                took[name].append(time.perf_counter() - before)
    finally:
        gc.enable()
    return {name: Times(tuple(each)) for name, each in took.items()}


def show(title: str, rows: Mapping[str, Mapping[str, Times]], *, reference: str) -> list[dict[str, object]]:
    """A table with one line for each contestant; ratios say how many times as fast as the reference it is."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in ("work", "who", "best ms", "median ms", f"best vs {reference}", "median", "repeats"):
        table.add_column(column, justify="left" if column in ("work", "who") else "right")
    numbers: list[dict[str, object]] = []
    for work, times in rows.items():
        base = times[reference]
        for i, (name, each) in enumerate(times.items()):
            row = {
                "table": title,
                "work": work,
                "who": name,
                "best_ms": each.best * 1e3,
                "median_ms": each.median * 1e3,
                "best_ratio": base.best / each.best,
                "median_ratio": base.median / each.median,
                "repeats": len(each.all),
            }
            numbers.append(row)
            table.add_row(
                work if i == 0 else "",
                name,
                f"{each.best * 1e3:.2f}",
                f"{each.median * 1e3:.2f}",
                f"{base.best / each.best:.2f}×",
                f"{base.median / each.median:.2f}×",
                str(len(each.all)),
            )
        table.add_section()
    console.print(table)
    return numbers
