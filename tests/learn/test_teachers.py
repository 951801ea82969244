"""Teachers that see more or otherwise teach within seconds: by privileged masks, and through a projection."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import torch

import regard
from regard.data import painted
from regard.data.rigged import sensed_detections, taught_detections
from regard.recipes import colearn, lupi
from regard.train.loop import fit

QUICK: dict[str, Any] = dict(threads=1, precision="float32", warmup=5)


def learnt(module: Any, recipe: Any, folder: Path) -> tuple[float, dict[str, Any]]:
    outcome = fit(module.build(recipe), recipe, folder, recipe="teachers", quiet=True)
    assert outcome.best is not None
    return outcome.best, dict(regard.hub.load(folder).card)


def small(**changes: Any) -> lupi.Recipe:
    given: dict[str, Any] = dict(model="resnet-nano", size=32, labels=100, batch_size=32)
    given |= {"pictures": 300} if "teacher" in changes else {}
    return lupi.Recipe(**QUICK, **(given | {"steps": 60, "evaluate": 60} | changes))


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(painted, "COUNTS", {"train": 400, "val": 100, "test": 100})
    painted._chosen.cache_clear()
    yield
    painted._chosen.cache_clear()


@pytest.mark.usefixtures("_few")
def test_a_privileged_teacher_learns_and_a_student_takes_its_answers(tmp_path: Path) -> None:
    best, card = learnt(lupi, small(privileged="mask"), tmp_path / "teacher")
    assert best > 18  # a guess is right in 12.5 of a hundred
    assert card["privileged"] == "mask"
    best, card = learnt(lupi, small(teacher=str(tmp_path / "teacher")), tmp_path / "student")
    assert best > 15
    assert regard.load(tmp_path / "student")("world:7")[0].label in card["labels"]  # which sees pictures alone
    task = lupi.build(small(teacher=str(tmp_path / "teacher"), batch_size=400))
    targets = next(iter(task.batches.once())).targets
    assert targets.shape == (400, 8)
    assert torch.allclose(targets.sum(dim=-1), torch.ones(400), atol=1e-4)
    assert int((targets.max(dim=-1).values == 1).sum()) in range(100, 200)  # labels, and what it is quite sure of


def test_a_student_has_no_privilege_and_a_teacher_knows_the_classes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a student sees pictures alone; leave --privileged out, or --teacher"):
        lupi.build(small(teacher="somebody", privileged="mask"))
    with pytest.raises(ValueError, match="world-detr is no teacher of this recipe; train one by regard train lupi"):
        lupi.build(small(teacher="world-detr", labels=10, pictures=10))


def test_a_camera_begins_to_teach_a_sensor_for_warmth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy")
    pytest.importorskip("pycocotools")
    monkeypatch.setattr("regard.data.painted.COUNTS", {"train": 32, "val": 8, "test": 8})
    given: dict[str, Any] = dict(model="detr-nano", size=32, batch_size=8, steps=40, evaluate=40, limit=32, **QUICK)
    recipe = colearn.Recipe(**given)
    task = colearn.build(recipe)
    batch = next(iter(task.batches))
    with torch.no_grad():
        first = float(task.loss(task.model, batch))
    best, card = learnt(colearn, recipe, tmp_path / "run")
    assert 0 <= best <= 100
    assert {"test ap", "untaught ap"} <= set(card["measured"])
    assert (card["sensor"], card["taught by"]) == ("infrared", "the camera (world-detr)")
    model = regard.hub.load(tmp_path / "run").model
    with torch.no_grad():
        assert float(task.loss(model, batch)) < first
    told = next(iter(colearn.build(colearn.Recipe(supervised=True, **given)).batches.once()))
    assert sum(len(each.classes) for each in told.targets) > 0


def test_scenes_that_a_camera_marks_are_none_that_it_learnt_from() -> None:
    first = colearn.unlabelled()
    learnt = set(painted.world_detections("train").names)
    more = painted.world_detections("train", first=first)
    assert len(more) == len(learnt)
    assert learnt.isdisjoint(more.names)
    found: list[Any] = [
        sensed_detections("infrared", "train", count=1, first=first).source,
        taught_detections("infrared", "train", [more.objects(0)], first=first).source,
    ]
    scene = cast(Any, more.source).view[first]
    assert [each.drawn.view[each.drawn.numbers[0]] for each in found] == [scene, scene]


def test_a_teacher_that_detects_nothing_of_the_world_is_refused() -> None:
    with pytest.raises(ValueError, match="world-vit does not detect the things of the world; train one by regard"):
        colearn.build(colearn.Recipe(teacher="world-vit"))
    with pytest.raises(ValueError, match="stereo has one sensor; leave --data out"):
        colearn.build(colearn.Recipe(data="stereo"))
