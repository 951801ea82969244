"""What this machine can do at best: matrix products and reading memory. The other tables are to be read against it."""

import torch
from rich.table import Table

from bench.clock import console, race
from regard.attention.kernel import cpu_multiplies_bfloat16


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    seconds = 0.5 if quick else 2.0
    table = Table(title="The limits", title_justify="left", title_style="bold")
    table.add_column("what")
    table.add_column("best", justify="right")
    a = torch.randn(2048, 2048)
    product = race({"product": lambda: a @ a}, seconds=seconds)["product"].best
    big = torch.randn(64 * 1024 * 1024)
    reading = race({"sum": lambda: big.sum()}, seconds=seconds)["sum"].best
    numbers: list[dict[str, object]] = [
        {"table": "Limits", "what": "float32 product, GFLOP/s", "best": 2 * 2048**3 / product / 1e9},
        {"table": "Limits", "what": "reading, GB/s", "best": big.numel() * 4 / reading / 1e9},
    ]
    for row in numbers:
        table.add_row(str(row["what"]), f"{row['best']:.0f}")
    table.add_row("bfloat16 products in hardware", "yes" if cpu_multiplies_bfloat16() else "no")
    console.print(table)
    return numbers
