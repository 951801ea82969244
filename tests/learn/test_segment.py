"""Masks by clicks are learnt within seconds."""

from pathlib import Path
from typing import Any

import pytest

import regard
from regard.recipes import segment
from regard.train.loop import fit

QUICK: dict[str, Any] = dict(threads=1, precision="float32", warmup=5, evaluate=70, steps=70)


def small(**changes: Any) -> segment.Recipe:
    given: dict[str, Any] = dict(size=48, masks=("thing", "group"), limit=160, batch_size=16, prompts=2)
    return segment.Recipe(**QUICK, **(given | changes))


def test_masks_become_better_than_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "WATCHED", 24)
    monkeypatch.setattr(segment, "MEASURED", 24)
    recipe = small()
    task = segment.build(recipe)
    assert task.score is not None
    before = task.score(task.model.eval())
    outcome = fit(task, recipe, tmp_path / "run", recipe="segment", quiet=True)
    assert outcome.best is not None
    assert outcome.best > before["miou"] + 8
    one: Any = regard.load(tmp_path / "run")
    measured = one.card["measured"]
    assert measured["val oracle"] >= measured["val miou"]
    assert {"val miou", "val miou 2 clicks", "val miou 3 clicks", "test miou"} <= set(measured)
    assert len(one("world:7", points=[(40, 40)])[0]) == 3


def test_what_cannot_be_learnt_is_refused() -> None:
    with pytest.raises(ValueError, match="vit-nano is a vit, which draws no masks; choose a preset of sam"):
        segment.build(small(model="vit-nano"))
    with pytest.raises(ValueError, match="coco128 has masks of things alone; leave thing, part to the world"):
        segment.build(small(data="coco128", masks=("thing", "part")))
