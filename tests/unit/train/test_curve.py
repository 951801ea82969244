"""What a model keeps of its training: few rows, with every score and the means of losses."""

import json
import math
from itertools import pairwise
from pathlib import Path

import pytest
from tests.unit.train.test_loop import SHORT, line

from regard.train import curve
from regard.train.loop import fit


def test_a_trained_model_keeps_its_curve(tmp_path: Path) -> None:
    fit(line(), SHORT, tmp_path, recipe="line", quiet=True)
    kept = json.loads((tmp_path / "model/curve.json").read_text())
    assert kept["scores"] == {"val_loss": "lower"}
    assert [row["step"] for row in kept["rows"]] == list(range(1, 21))
    assert [row["step"] for row in kept["rows"] if "val_loss" in row] == [5, 10, 15, 20]
    assert kept["rows"][-1]["loss"] < kept["rows"][0]["loss"]


def test_a_long_curve_is_a_few_kilobytes_and_no_loss_is_left_out(tmp_path: Path) -> None:
    rows = [
        {"step": step, "loss": 1.0 + step % 2, "lr": 1e-3, "grad_norm": 1.0, "size": 64, "seconds": 0.123456 * step}
        | ({"bleu": 41.123456 + step, "gap": math.nan} if step % 1000 == 0 else {})
        for step in range(1, 20_001)
    ]
    curve.keep(tmp_path, tmp_path, rows)
    text = (tmp_path / "curve.json").read_text()
    kept = json.loads(text)["rows"]
    assert len(kept) <= 100
    assert len(text) < 8000
    assert [row["step"] for row in kept if "bleu" in row] == list(range(1000, 20_001, 1000))
    assert kept[-1] == {"step": 20_000, "seconds": 2469.1, "bleu": 20_041.0, "loss": kept[-1]["loss"]}
    steps = [0, *(row["step"] for row in kept)]
    told = sum(row["loss"] * (end - start) for row, (start, end) in zip(kept, pairwise(steps), strict=True))
    assert told == pytest.approx(1.5 * 20_000, rel=1e-4)  # every other loss is 1, and the others 2
