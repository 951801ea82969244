"""Windowed beside full attention as the map grows: one is linear in the tokens, the other quadratic."""

import math

import torch
from rich.table import Table

from bench.clock import console, race
from regard.attention import Partitioned, Window, multihead

WIDTH, HEADS, WINDOW = 96, 3, 8
SIDES = (16, 32, 48, 64, 96, 128)
FULL = 96  # beyond this side, full attention alone takes seconds


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    full = multihead(WIDTH, HEADS).eval()
    windowed = Partitioned(full, Window(WINDOW))
    table = Table(
        title=f"Windows of {WINDOW}×{WINDOW} beside full attention, width {WIDTH}",
        title_justify="left",
        title_style="bold",
    )
    for column in ("tokens", "windowed ms", "µs/token", "full ms", "µs/token", "full / windowed"):
        table.add_column(column, justify="right")
    numbers: list[dict[str, object]] = []
    with torch.no_grad():
        for side in SIDES:
            x = torch.randn(1, side, side, WIDTH)
            contestants = {"windowed": lambda x=x: windowed(x)}
            if side <= FULL:
                contestants["full"] = lambda x=x: full(x.flatten(1, 2))
            times = race(contestants, seconds=0.5 if quick else 2.0, least=3)
            a, b = times["windowed"].best, times["full"].best if "full" in times else math.nan
            tokens = side * side
            ours = f"{a * 1e3:.2f}", f"{a / tokens * 1e6:.2f}"
            theirs = (f"{b * 1e3:.2f}", f"{b / tokens * 1e6:.2f}", f"{b / a:.1f}×") if side <= FULL else ("–",) * 3
            table.add_row(str(tokens), *ours, *theirs)
            numbers.append({"table": "Windows", "tokens": tokens, "windowed_ms": a * 1e3, "full_ms": b * 1e3})
    console.print(table)
    for kind, rows in (
        ("windowed", numbers),
        ("full", [r for r in numbers if not math.isnan(float(str(r["full_ms"])))]),
    ):
        console.print(f"  {kind}: time grows as tokens^{_exponent(rows, f'{kind}_ms'):.2f}")
    return numbers


def _exponent(rows: list[dict[str, object]], column: str) -> float:
    """The slope of a straight line through the logarithms, over the larger half of the maps."""
    half = rows[len(rows) // 2 - 1 :]
    x = torch.tensor([math.log(float(str(row["tokens"]))) for row in half])
    y = torch.tensor([math.log(float(str(row[column]))) for row in half])
    return float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum())
