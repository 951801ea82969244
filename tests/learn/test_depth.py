"""Depth is learnt within seconds: from two eyes, and from the truth."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import regard
from regard.data import DataError
from regard.recipes import monodepth
from regard.train.loop import fit

QUICK: dict[str, Any] = dict(threads=1, precision="float32", warmup=5, evaluate=60, steps=60)
SMALL = ("size=32", "columns=32", "widths=8,16,16", "decoder_widths=8,8,16", "kernels=3,3,3", "scales=2")


def small(**changes: Any) -> monodepth.Recipe:
    given: dict[str, Any] = dict(set=SMALL, pictures=128, batch_size=16)
    return monodepth.Recipe(**QUICK, **(given | changes))


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.data.stereo.COUNTS", {"train": 128, "val": 24, "test": 24})


@pytest.mark.parametrize("supervised", [False, True])
def test_depth_becomes_better_than_the_best_constant(tmp_path: Path, supervised: bool) -> None:
    recipe = small(supervised=supervised)
    outcome = fit(monodepth.build(recipe), recipe, tmp_path / "run", recipe="monodepth", quiet=True)
    assert outcome.best is not None
    card = dict(regard.load(tmp_path / "run").card)
    measured = card["measured"]
    assert measured["abs rel"] < 0.9 * measured["constant abs rel"]
    assert card["taught by"] == ("true disparities" if supervised else "two eyes")
    assert regard.load(tmp_path / "run")("world:7")[0].metric


def test_who_learns_from_the_truth_needs_some(tmp_path: Path) -> None:
    for side in ("left", "right"):
        for split in ("train", "val"):
            (tmp_path / split / side).mkdir(parents=True)
            Image.new("RGB", (32, 32)).save(tmp_path / split / side / "a.png")
    with pytest.raises(DataError, match="has no true disparities to learn from; leave --supervised out"):
        monodepth.build(small(data=str(tmp_path), supervised=True))
    with pytest.raises(ValueError, match="vit-nano is a vit, which says no depth; choose a preset of monodepth"):
        monodepth.build(small(model="vit-nano", set=()))
