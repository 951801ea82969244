"""A large matrix and a few rows: the table that the choice in `decode/rows.py` was read from.

The matrices lie in a row that no cache holds, as the layers of a model do.
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import torch
import torch.nn.functional as F
from rich.table import Table
from torch import Tensor, nn

from bench.clock import console, race
from regard.decode import Int8Linear, PackedLinear, rows

SHAPES = ((2304, 768), (3072, 768), (768, 3072))  # outputs and inputs, as in GPT-2 small
COPIES = 6
ROWS = (1, 2, 4, 8, 16, 32, 128, 512)


@torch.no_grad()
def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    plain = [nn.Linear(inputs, outputs) for outputs, inputs in SHAPES for _ in range(COPIES)]
    float32 = [PackedLinear(layer.weight, layer.bias) for layer in plain]
    layers: dict[str, Callable[[Tensor, int], object]] = {"plain": lambda x, i: F.linear(x, plain[i].weight)}
    layers["packed"] = lambda x, i: torch.ops.mkldnn._linear_pointwise(x, float32[i]._matrix, None, "none", [], "")
    if rows.loops() is not None:
        layers["loop"] = lambda x, i: rows.loops().multiply(
            x, float32[i]._address, float32[i]._constants, float32[i].out_features
        )
        layers["loop int8"] = _each([Int8Linear(layer.weight, layer.bias) for layer in plain])
    with ExitStack() as scope:
        scope.enter_context(patch.object(rows, "loops", lambda: None))
        layers["fbgemm int8"] = _each([Int8Linear(layer.weight, layer.bias) for layer in plain])
    size = sum(layer.weight.numel() for layer in plain)
    table = Table(title=f"Products with {size / 1e6:.0f} million weights", title_justify="left", title_style="bold")
    for column in ("rows", *(f"{name} ms" for name in layers), "best GFLOP/s", "chosen", "chosen in int8"):
        table.add_column(column, justify="right")
    numbers: list[dict[str, object]] = []
    for count in ROWS:
        x = {inputs: torch.randn(count, inputs) for _, inputs in SHAPES}
        inputs = [x[layer.in_features] for layer in plain]
        times = race(
            {name: partial(_all, product, inputs) for name, product in layers.items() if count == 1 or name != "loop"},
            seconds=0.3 if quick else 2.0,
        )
        ways = rows.way(count, plain[0].weight.numel()), rows.way(count, plain[0].weight.numel(), int8=True)
        fastest = min(each.best for each in times.values())
        table.add_row(
            str(count),
            *(f"{times[name].best * 1e3:.2f}" if name in times else "" for name in layers),
            f"{2 * size * count / fastest / 1e9:.0f}",
            *ways,
        )
        numbers += [
            {"table": "Products", "rows": count, "who": name, "best_ms": each.best * 1e3, "chosen": ways[0]}
            for name, each in times.items()
        ]
    console.print(table)
    return numbers


def _each(layers: list[Int8Linear]) -> Callable[[Tensor, int], object]:
    return lambda x, i: layers[i](x)


def _all(product: Callable[[Tensor, int], object], inputs: list[Tensor]) -> None:
    for i, x in enumerate(inputs):
        product(x, i)
