"""How a training went, in a few kilobytes: `curve.json` beside the weights, which a model keeps without its run.

No torch here: the explorer thins what it sends by the same rule.
"""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from regard.files import read_json, write

NAME = "curve.json"
ROWS = 100  # of a curve
STEP = frozenset({"step", "loss", "lr", "grad_norm", "size", "seconds"})  # what every row has; the others are scores

Row = dict[str, Any]


def keep(run: Path, model: Path, rows: Iterable[Row]) -> None:
    """Leave the curve of a run in the folder of its model."""
    try:
        scores = read_json(run / "recipe.json").get("scores", {})
    except (OSError, ValueError):
        scores = {}
    write(model / NAME, json.dumps({"scores": scores, "rows": curve(list(rows))}, separators=(",", ":")) + "\n")


def curve(rows: Sequence[Row], points: int = ROWS) -> list[Row]:
    """Steps, seconds, losses and scores in so many rows at most; a loss is the mean of all since the row before."""
    kept = {row["step"] for row in thin(rows, points)}
    found: list[Row] = []
    losses: list[float] = []
    for row in rows:
        losses += [row["loss"]] if _known(row.get("loss")) else []
        if row["step"] not in kept:
            continue
        told = {name: value for name, value in row.items() if name == "seconds" or name not in STEP}
        told |= {"loss": sum(losses) / len(losses)} if losses else {}
        short = {name: _short(value) for name, value in told.items() if _known(value)}
        found.append({"step": row["step"], **short})
        losses = []
    return found


def thin(rows: Sequence[Row], points: int) -> list[Row]:
    """At most so many rows, evenly spread; the last one stays, and so do those with scores where there is room."""
    scored = [i for i, row in enumerate(rows) if row.keys() - STEP]
    if len(rows) <= points:
        return list(rows)
    scored = _spread(scored, points // 2)
    others = _spread(sorted(set(range(len(rows) - 1)).difference(scored)), points - len(scored) - 1)
    return [rows[i] for i in sorted({*scored, *others, len(rows) - 1})]


def _spread(places: list[int], count: int) -> list[int]:
    """So many of the places, the first and the last among them."""
    if len(places) <= count:
        return places
    return [places[round(i * (len(places) - 1) / (count - 1))] for i in range(count)]


def _known(value: object) -> bool:
    return type(value) is int or (isinstance(value, float) and math.isfinite(value))


def _short(value: float) -> float:
    """A number as exactly as a curve shows it."""
    return value if isinstance(value, int) else float(f"{value:.5g}")
