"""Recipes without labels learn something within seconds: a written number that knowing nothing does not reach."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from regard.recipes import dino, inpaint, mae, recognize
from regard.train import checkpoint
from regard.train.loop import fit
from regard.train.run import metrics, newest

pytestmark = pytest.mark.usefixtures("as_users_meet_it")  # training is slow with every shape checked


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pictures: stripes that lie or stand, in any two colours."""
    where, chance = tmp_path_factory.mktemp("album"), np.random.default_rng(0)
    for name in ("lying", "standing"):
        (where / name).mkdir()
        for i in range(200):
            stripes = np.broadcast_to(((np.arange(16) + chance.integers(0, 4)) // 2 % 2)[:, None], (16, 16))
            pixels = chance.integers(0, 256, (2, 3))[stripes if name == "lying" else stripes.T]
            pixels = pixels + chance.integers(-20, 20, (16, 16, 3))
            Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(where / name / f"{i}.png")
    return where


def quick(album: Path, **changes: Any) -> dict[str, Any]:
    given = dict(data=str(album), size=16, warmup=5, batch_size=32, threads=1, precision="float32")
    return given | changes


def learnt(module: Any, recipe: Any, folder: Path) -> tuple[dict[str, float], dict[str, float], dict[str, Any]]:
    """Scores before and after, and the card."""
    task = module.build(recipe)
    with torch.no_grad():
        before = task.score(task.model.eval())
    fit(task, recipe, folder, recipe="unlabelled", quiet=True)
    return before, list(metrics(folder))[-1], dict(regard.load(folder).card)


def test_hidden_stripes_are_painted_and_the_eye_is_used(album: Path, tmp_path: Path) -> None:
    recipe = mae.Recipe(**quick(album, model="mae-nano", steps=60, evaluate=60))
    before, after, card = learnt(mae, recipe, tmp_path / "run")
    assert before["val_loss"] > 0.9  # patches have a deviation of 1
    assert after["val_loss"] < 0.75
    beside = ("", "untrained ", "raw pixels ")
    told = {f"val {who}{what} accuracy" for who in beside for what in ("knn", "probe")}
    assert told | {"val loss"} <= set(card["measured"])
    with Image.open(tmp_path / "run" / "picture.png") as drawn:
        assert drawn.size == (10 * 128, 3 * 128)
    (vector,) = regard.load(tmp_path / "run")([album / "lying" / "0.png"])
    assert vector.shape == (32,)


def test_windows_from_two_heights_are_painted_worse_where_their_height_is_not_told(album: Path, tmp_path: Path) -> None:
    recipe = mae.Recipe(**quick(album, model="mae-nano", steps=60, evaluate=60, scales=(1, 2)))
    _, after, card = learnt(mae, recipe, tmp_path / "run")
    assert after["val_loss"] < 0.85
    assert card["measured"]["val loss without distances"] > card["measured"]["val loss"]


def test_a_hole_in_stripes_is_filled(album: Path, tmp_path: Path) -> None:
    recipe = inpaint.Recipe(**quick(album, model="inpaint-nano", steps=60, evaluate=60))
    before, after, _ = learnt(inpaint, recipe, tmp_path / "run")
    assert after["val_loss"] < 0.85 * before["val_loss"]  # which the mean colour has
    assert after["sharpness"] > before["sharpness"]
    assert (tmp_path / "run" / "picture.png").exists()


def test_an_adversary_makes_edges(album: Path, tmp_path: Path) -> None:
    plain = inpaint.Recipe(**quick(album, model="inpaint-nano", steps=40, evaluate=40))
    _, soft, _ = learnt(inpaint, plain, tmp_path / "plain")
    _, sharp, _ = learnt(inpaint, replace(plain, adversary=0.2), tmp_path / "adversary")
    assert sharp["sharpness"] > soft["sharpness"]


def test_an_eye_begins_a_classifier_of_few_labels(album: Path, tmp_path: Path) -> None:
    learnt(mae, mae.Recipe(**quick(album, model="mae-nano", steps=3, evaluate=3)), tmp_path / "eye")
    given = quick(album, model=str(tmp_path / "eye"), steps=3, evaluate=3, limit=21, size=0)
    task = recognize.build(recognize.Recipe(**given))
    rows = np.concatenate([batch.rows for batch in task.batches.once()])
    assert len(rows) == 21
    recipe = recognize.Recipe(**given)
    fit(task, recipe, tmp_path / "tuned", recipe="recognize", quiet=True)
    tuned = dict(regard.load(tmp_path / "tuned").card)
    assert (tuned["recipe"], tuned["trained_with"]["limit"]) == ("recognize", 21)
    began = tuned["before"]
    assert began["data"] == str(album)
    assert (began["trained_with"]["model"], began["trained_with"]["steps"]) == ("mae-nano", 3)


def test_labels_are_few_of_each_class() -> None:
    targets = np.asarray([0, 0, 0, 0, 2, 1, 1, 0])
    assert recognize.few(targets, 5).tolist() == [0, 1, 4, 5, 6]
    assert recognize.few(targets, 99).tolist() == list(range(8))


def test_a_student_and_its_teacher_go_on_as_if_they_had_not_been_stopped(album: Path, tmp_path: Path) -> None:
    recipe = dino.Recipe(**quick(album, model="dino-nano", steps=6, evaluate=3, accumulate=2, batch_size=8, judged=20))
    for name, stops in (("whole", (0,)), ("parts", (4, 0))):
        for stop in stops:
            task, seen = dino.build(recipe), iter(range(1, 99))

            def loss(model: Any, batch: Any, task: Any = task, seen: Any = seen, stop: int = stop) -> Any:
                if next(seen) == stop:
                    os.kill(os.getpid(), 2)
                return task.loss(model, batch)

            plan = replace(recipe, resume=(tmp_path / name).exists())
            outcome = fit(replace(task, loss=loss), plan, tmp_path / name, recipe="dino", quiet=True)
            assert outcome.finished == (not stop)
    one, other = (checkpoint.read(newest(tmp_path / name) or tmp_path)[0] for name in ("whole", "parts"))
    assert one.keys() == other.keys()
    assert all(one[name].equal(other[name]) for name in one)
    assert one["model.centre"].any()
    assert not one["model.teacher.head.last"].equal(one["model.student.head.last"])


def test_two_processes_move_one_teacher_and_one_centre_as_one_alone_does(album: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = dict(model="dino-nano", steps=3, evaluate=3, accumulate=2, batch_size=8, judged=20)
    recipe = dino.Recipe(**quick(album, **given))
    fit(dino.build(recipe), recipe, tmp_path / "alone", recipe="dino", quiet=True)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in quick(album, **given).items()]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "regard"]
    command += ["train", "dino", *flags, "--out", str(tmp_path / "together")]
    done = subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    one, other = (checkpoint.read(newest(tmp_path / name) or tmp_path)[0] for name in ("alone", "together"))
    assert one.keys() == other.keys()
    assert one["model.centre"].any()
    for name in one:
        # What is added to all keys changes nothing, so that its gradient is rounding, which AdamW makes much of.
        if name.startswith("model.") and not name.endswith(".k.bias"):
            torch.testing.assert_close(other[name], one[name], rtol=1e-4, atol=1e-5, msg=name)
