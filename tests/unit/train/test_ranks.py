"""Two processes do together what one does alone, and either goes on where the other stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest
import torch
from safetensors.torch import load_file
from tests.unit.train import copying
from tests.unit.train.copying import Copy, train
from torch import nn

from regard.train.checkpoint import place, present
from regard.train.ranks import Ranks, like, local, whole
from regard.train.run import metrics

PLAN: dict[str, Any] = {"steps": 6, "accumulate": 2, "evaluate": 3, "save": 3, "ema": 0.9}
WAYS = ("copies", "shards")
PATIENCE = 240  # seconds, on a machine that does much else


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs by one process and by two, whole, halved, and one that was interrupted from outside."""
    folder = tmp_path_factory.mktemp("ranks")
    train(folder / "one", Copy(**PLAN))
    jobs: dict[str, list[list[Any]]] = {}
    for way in WAYS:
        train(folder / f"one-then-{way}", Copy(**PLAN), halt=4)  # in the middle of step 2
        fields = PLAN | {"sharing": way}
        jobs[way] = [
            [str(folder / way), fields, 0],
            [str(folder / f"{way}-then-one"), fields, 2],
            [str(folder / f"one-then-{way}"), fields | {"resume": True}, 0],
        ]
    endless = PLAN | {"steps": 100_000, "evaluate": 100_000, "save": 100_000}
    with (folder / "said.txt").open("w") as said:
        for sharded in jobs["shards"]:  # torch shards one model in the life of a process group
            assert _started([sharded], said).wait(timeout=PATIENCE) in (0, 1)
        process = _started([*jobs["copies"], [str(folder / "interrupted"), endless, 0]], said)
        until = time.monotonic() + PATIENCE
        while not any(metrics(folder / "interrupted")) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE)
    for way in WAYS:
        train(folder / f"{way}-then-one", Copy(**PLAN, resume=True))
    return folder


def _started(jobs: list[list[Any]], said: IO[str]) -> "subprocess.Popen[bytes]":
    """Two processes that do some jobs one after another."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", copying.__file__]
    return subprocess.Popen([*command, json.dumps(jobs)], stderr=said, env=os.environ | {"OMP_NUM_THREADS": "1"})


def learnt(path: Path) -> dict[str, torch.Tensor]:
    """All but the constant term of keys: the softmax takes it away, so its gradient is nothing but rounding."""
    return {name: tensor for name, tensor in load_file(path).items() if not name.endswith(".k.bias")}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["{}", "one-then-{}", "{}-then-one"])
def test_the_losses_and_the_weights_are_those_of_one_process(folder: Path, way: str, name: str) -> None:
    alone, together = (list(metrics(folder / run)) for run in ("one", name.format(way)))
    assert [row["step"] for row in together] == [1, 2, 3, 4, 5, 6]
    for key in ("loss", "size", "rate", "norm"):
        assert [row[key] for row in together] == pytest.approx([row[key] for row in alone], rel=1e-5)
    wanted, found = (learnt(folder / run / "model" / "model.safetensors") for run in ("one", name.format(way)))
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_a_checkpoint_does_not_tell_how_many_wrote_it(folder: Path, way: str) -> None:
    wanted, found = (learnt(place(folder / run / "checkpoints", 6)) for run in ("one", way))
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_ctrl_c_stops_all_and_saves_once(folder: Path) -> None:
    (saved,) = present(folder / "interrupted" / "checkpoints")
    steps = [row["step"] for row in metrics(folder / "interrupted")]
    assert saved == place(saved.parent, steps[-1])
    assert (folder / "said.txt").read_text().count(f"stopped at step {steps[-1]}; go on with") == 1


def test_only_the_first_process_speaks(folder: Path) -> None:
    said = (folder / "said.txt").read_text()
    assert said.count("step 6/6") == 2 * len(WAYS)  # the whole runs and those that went on


def test_one_process_needs_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with Ranks() as ranks:
        assert ranks.first
        assert ranks.sum(1.5, 2.0) == [1.5, 2.0]
        ranks.wait()
        model = nn.Linear(2, 2)
        assert ranks.share(model, "shards") is model
        with ranks.alone(model, last=False):
            pass
    x = torch.ones(2)
    assert whole(x).equal(x)
    assert local(x) is x
    assert like(x, x).equal(x)
