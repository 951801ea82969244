"""Recipes of pictures learn something within seconds: a written number that guessing does not reach."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from regard.data import DataError
from regard.recipes import detect, recognize
from regard.train.loop import fit

QUICK: dict[str, Any] = dict(threads=1, precision="float32")


@pytest.fixture
def album(tmp_path: Path) -> Path:
    """A folder of pictures: bright on the left, or on the right."""
    chance = np.random.default_rng(0)
    for side in ("left", "right"):
        (tmp_path / "album" / side).mkdir(parents=True)
        for i in range(120):
            pixels = chance.integers(0, 100, (20, 20, 3), dtype=np.uint8)
            half = slice(0, 10) if side == "left" else slice(10, 20)
            pixels[:, half] += 100
            Image.fromarray(pixels).save(tmp_path / "album" / side / f"{i}.png")
    return tmp_path / "album"


def learnt(recipe: Any, module: Any, folder: Path) -> tuple[float, dict[str, Any]]:
    outcome = fit(module.build(recipe), recipe, folder, recipe="pictures", quiet=True)
    assert outcome.best is not None
    return outcome.best, dict(regard.load(folder).card)


def small(album: Path, **changes: Any) -> recognize.Recipe:
    given: dict[str, Any] = dict(model="vit-nano", steps=60, evaluate=60, batch_size=32, lr=3e-3, warmup=10, size=16)
    return recognize.Recipe(data=str(album), **QUICK, **(given | {"augment": "move"} | changes))


def test_sides_are_told_apart_and_the_model_is_used_by_its_folder(album: Path, tmp_path: Path) -> None:
    best, card = learnt(small(album), recognize, tmp_path / "run")
    assert best > 90
    assert card["labels"] == ["left", "right"]
    assert card["measured"]["val accuracy"] == pytest.approx(best, abs=0.01)
    said = regard.load(tmp_path / "run")([album / "left" / "0.png", album / "right" / "0.png"])
    assert [each.label for each in said] == ["left", "right"]


@pytest.mark.parametrize(
    "changes",
    [
        {"augment": "crop", "mixup": 0.8, "cutmix": 1.0, "label_smoothing": 0.1},
        {"augment": "rand", "erase": 0.5, "repeats": 3},
        {"augment": "three", "loss": "bce", "optimizer": "muon"},
        {"model": "resnet-nano", "optimizer": "sgd", "lr": 0.05},
        {"model": "swin-nano", "size": 32},
    ],
    ids=str,
)
def test_every_way_to_vary_pictures_makes_finite_steps(album: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    recipe = small(album, **({"steps": 3, "evaluate": 3} | changes))
    best, card = learnt(recipe, recognize, tmp_path / "run")
    assert 0 <= best <= 100
    assert card["task"] == "recognize"


def test_a_trained_model_goes_on_with_other_classes_and_its_head_alone(album: Path, tmp_path: Path) -> None:
    learnt(small(album, steps=5, evaluate=5), recognize, tmp_path / "first")
    for i, side in enumerate(("one", "other")):
        (album / ("left", "right")[i]).rename(album / side)
    recipe = small(album, model=str(tmp_path / "first"), steps=5, evaluate=5, freeze="all", size=0)
    _, card = learnt(recipe, recognize, tmp_path / "second")
    assert card["labels"] == ["one", "other"]
    assert card["before"]["data"] == str(album)
    before, after = (regard.hub.load(tmp_path / name).model.state_dict() for name in ("first", "second"))
    changed = {name for name in after if not torch.equal(before[name], after[name])}
    assert changed == {"head.weight", "head.bias"}


def test_a_deit_learns_from_a_teacher_and_nothing_else_does(album: Path, tmp_path: Path) -> None:
    learnt(small(album, steps=5, evaluate=5), recognize, tmp_path / "teacher")
    recipe = small(album, model="deit-nano", teacher=str(tmp_path / "teacher"), steps=5, evaluate=5)
    best, _ = learnt(recipe, recognize, tmp_path / "student")
    assert 0 <= best <= 100
    with pytest.raises(ValueError, match="--teacher is for a DeiT"):
        recognize.build(small(album, teacher=str(tmp_path / "teacher")))


def test_what_cannot_be_learnt_is_refused(album: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="bert-nano is a bert, which classifies no pictures"):
        recognize.build(small(album, model="bert-nano"))
    with pytest.raises(DataError, match="no set of pictures is called"):
        recognize.build(small(tmp_path / "nowhere"))


def test_things_of_the_world_begin_to_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy")
    pytest.importorskip("pycocotools")
    monkeypatch.setattr("regard.data.painted.COUNTS", {"train": 16, "val": 8, "test": 8})
    recipe = detect.Recipe(
        model="detr-nano", size=32, batch_size=4, steps=40, evaluate=40, warmup=5, lr=2e-3, limit=16, **QUICK
    )
    task = detect.build(recipe)
    batch = next(iter(task.batches))
    with torch.no_grad():
        first = float(task.loss(task.model, batch))
    best, card = learnt(recipe, detect, tmp_path / "run")
    assert 0 <= best <= 100
    assert card["measured"]["signature"].startswith("pycocotools")
    model = regard.hub.load(tmp_path / "run").model
    with torch.no_grad():
        assert float(task.loss(model, batch)) < first
