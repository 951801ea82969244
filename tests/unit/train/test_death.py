"""A training may be killed at any moment, and goes on to the same end."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.unit.train import copying
from tests.unit.train.copying import Copy
from tests.unit.train.test_loop import equal

from regard.train import checkpoint
from regard.train.run import metrics, newest

pytest.importorskip("fcntl", reason="processes are forked and limited as on Unix")

LONG = {"steps": 16, "save": 1, "keep": 3, "average": 3, "ema": 0.9, "evaluate": 5}


class Trainer:
    """Starts trainings in processes of their own."""

    def __init__(self, server: "subprocess.Popen[str]", folder: Path) -> None:
        self.server, self.said = server, folder / "said.txt"

    def start(self, folder: Path, limit: int = 0, **fields: Any) -> int:
        """The process id of a training that begins now."""
        assert self.server.stdin
        self.server.stdin.write(json.dumps([str(folder), fields, str(self.said), limit]) + "\n")
        self.server.stdin.flush()
        return self._told("process")

    def ended(self) -> int:
        """The exit code of the training, when it is over."""
        return self._told("code")

    def _told(self, kind: str) -> int:
        assert self.server.stdout
        said, number = self.server.stdout.readline().split()
        assert said == kind  # a signal must never go to what is no process id
        return int(number)


@pytest.fixture(scope="module")
def server() -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, copying.__file__, "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        yield running


@pytest.fixture
def trainer(server: "subprocess.Popen[str]", tmp_path: Path) -> Trainer:
    return Trainer(server, tmp_path)


def test_killed_again_and_again_it_comes_to_the_same_end(trainer: Trainer, tmp_path: Path) -> None:
    began = time.monotonic()
    trainer.start(tmp_path / "whole", **LONG)
    assert trainer.ended() == 0
    undisturbed = time.monotonic() - began
    folder, dice, reached, kills = tmp_path / "parts", random.Random(0), 0, 0
    for _ in range(6):
        process = trainer.start(folder, **LONG, resume=(folder / "recipe.json").exists())
        time.sleep(dice.uniform(0.0, undisturbed / 3))
        with suppress(ProcessLookupError):  # it was quick, and is over
            os.kill(process, 9)
        kills += trainer.ended() == -9
        for path in folder.glob("checkpoints/*.safetensors"):
            checkpoint.read(path)  # all that carries the name is whole
        last = newest(folder)
        step = checkpoint.step(last) if last else 0
        measured = max((row["step"] for row in metrics(folder)), default=0)
        assert reached <= step >= measured - 1  # with a checkpoint each step, one step at most is lost
        reached = step
    assert kills > 0
    assert reached > 0
    trainer.start(folder, **LONG, resume=True)
    assert trainer.ended() == 0
    assert equal(tmp_path / "whole", folder)
    assert not list(folder.glob("**/*.partial"))


def test_ctrl_c_ends_behind_the_step_with_code_130_and_says_how_to_go_on(trainer: Trainer, tmp_path: Path) -> None:
    fields = LONG | {"steps": 100_000, "save": 100_000, "evaluate": 100_000, "average": 0}
    process = trainer.start(tmp_path / "run", **fields)
    while not list(metrics(tmp_path / "run")):
        time.sleep(0.01)
    os.kill(process, 2)
    assert trainer.ended() == 130
    step = checkpoint.step(newest(tmp_path / "run") or tmp_path)
    assert step == max(row["step"] for row in metrics(tmp_path / "run"))
    said = trainer.said.read_text()
    assert "stopping behind this step; once more to stop at once" in said
    assert f"stopped at step {step}; go on with the same command and --resume --out {tmp_path / 'run'}" in said
    process = trainer.start(tmp_path / "run", **fields, resume=True)
    while max(row["step"] for row in metrics(tmp_path / "run")) <= step:
        time.sleep(0.01)
    os.kill(process, 15)
    assert trainer.ended() == 130


def test_a_disk_that_is_full_costs_nothing_but_the_steps_since(trainer: Trainer, tmp_path: Path) -> None:
    trainer.start(tmp_path / "whole", steps=12)
    assert trainer.ended() == 0
    copying.train(tmp_path / "parts", Copy(), halt=6)
    last = newest(tmp_path / "parts") or tmp_path
    before = last.read_bytes()
    trainer.start(tmp_path / "parts", limit=len(before) // 2, resume=True)
    assert trainer.ended() == 1
    said = trainer.said.read_text()
    assert "could not write" in said
    assert "the last checkpoint is whole: make room, and go on with --resume" in said
    assert last.read_bytes() == before
    trainer.start(tmp_path / "parts", resume=True)
    assert trainer.ended() == 0
    assert equal(tmp_path / "whole", tmp_path / "parts")
