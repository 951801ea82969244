"""Two processes do together what one does alone, and either goes on where the other stopped."""

import copy
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from safetensors.torch import load_file
from tests.contracts.test_families import fold
from tests.unit.train import copying
from tests.unit.train.copying import Copy, train
from torch import nn
from torch.distributed.fsdp import FSDPModule

from regard.models import build, families
from regard.models.family import Family
from regard.train.checkpoint import place, present
from regard.train.ranks import Ranks, full_tensor, like, local
from regard.train.run import metrics
from regard.train.task import Task
from regard.train.training import Losing

PLAN: dict[str, Any] = {"steps": 6, "accumulate": 2, "evaluate": 3, "save": 3, "ema": 0.9, "scaled": True}
WITHOUT_BLOCKS = ("deepsets", "intra", "memnet", "seq2seq", "tcn", "vqvae", "word2vec")  # which are shared as a whole
PATIENCE = 240  # seconds, on a machine that does much else


def together(job: list[Any], said: Path) -> "subprocess.Popen[bytes]":
    """Two processes that train as a job says."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", copying.__file__]
    with said.open("a") as file:
        return subprocess.Popen([*command, json.dumps([job])], stderr=file, env=os.environ | {"OMP_NUM_THREADS": "1"})


def learnt(path: Path) -> dict[str, torch.Tensor]:
    """All but the constant term of keys: the softmax takes it away, so its gradient is nothing but rounding."""
    return {name: tensor for name, tensor in load_file(path).items() if not name.endswith(".k.bias")}


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_two_processes_do_what_one_does_and_go_on_where_it_stopped(way: str, tmp_path: Path) -> None:
    fields, said = PLAN | {"parallel": way}, tmp_path / "said.txt"
    train(tmp_path / "one", Copy(**PLAN))
    train(tmp_path / "continued", Copy(**PLAN), halt=4)  # in the middle of step 2
    jobs: list[list[Any]] = [
        [str(tmp_path / "whole"), fields, 0],
        [str(tmp_path / "begun"), fields, 2],
        [str(tmp_path / "continued"), fields | {"resume": True}, 0],
    ]
    for job in jobs:
        together(job, said).wait(timeout=PATIENCE)
    train(tmp_path / "begun", Copy(**PLAN, resume=True))
    alone = list(metrics(tmp_path / "one"))
    for name in ("whole", "begun", "continued"):
        rows = list(metrics(tmp_path / name))
        assert [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6], said.read_text()
        for key in ("loss", "size", "lr", "grad_norm"):
            assert [row[key] for row in rows] == pytest.approx([row[key] for row in alone], rel=1e-5)
        for file in ("model/model.safetensors", "checkpoints/step-00000006.safetensors"):
            wanted, found = (learnt(tmp_path / run / file) for run in ("one", name))
            torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    assert said.read_text().count("step 6/6") == 2  # only the first process speaks


def test_ctrl_c_stops_all_and_saves_once(tmp_path: Path) -> None:
    run, said = tmp_path / "run", tmp_path / "said.txt"
    endless = PLAN | {"steps": 100_000, "evaluate": 100_000, "save": 100_000}
    process, until = together([str(run), endless, 0], said), time.monotonic() + PATIENCE
    while not any(metrics(run)) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=PATIENCE)
    (saved,) = present(run / "checkpoints")
    steps = [row["step"] for row in metrics(run)]
    assert saved == place(saved.parent, steps[-1])
    assert said.read_text().count(f"stopped at step {steps[-1]}; go on with") == 1


@pytest.fixture(scope="module")
def one_of_two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ranks]:
    """Two processes, of whom one is here."""
    if not dist.is_gloo_available():
        pytest.skip("torch was built without gloo")
    ranks = Ranks()
    ranks.count = 2
    meeting = tmp_path_factory.mktemp("ranks") / "meeting"
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=0, world_size=1)
    yield ranks
    dist.destroy_process_group()


@pytest.mark.parametrize("preset", ["caption-nano", "sam-nano"])
def test_a_loss_may_ask_a_shared_model_by_other_ways_than_forward(preset: str, one_of_two: Ranks) -> None:
    """A captioner tells where it looked; a segmenter sees once, is asked by clicks, and leaves its boxes idle."""

    def loss(model: Any, batch: Any) -> torch.Tensor:
        if preset == "sam-nano":
            said = model.prompt(model.encode(batch["image"]), batch["points"], batch["labels"]).masks
        else:
            said = model.tell(batch["image"], batch["target"]).logits
        return said.square().mean()

    model: Any = build(preset).eval()  # nothing is dropped
    given = families()[preset.partition("-")[0]].example(model.config)
    plain: Any = {"size": len, "score": dict, "metric": "val_loss", "batches": [], "idle": preset == "sam-nano"}
    task = Task(model=model, loss=loss, **plain)
    loss(model, given).backward()
    wanted = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    shared = one_of_two.share(Losing(task), "ddp", idle=task.idle)
    for _ in range(2):  # the second time, DDP asks what became of the first
        model.zero_grad()
        shared(given).backward()
    for name, gradient in wanted.items():
        torch.testing.assert_close(model.get_parameter(name).grad, gradient, msg=name)


@pytest.mark.parametrize("one", families().values(), ids=lambda one: one.name)
def test_every_family_learns_block_by_block_as_it_learns_whole(one: Family, one_of_two: Ranks) -> None:
    def loss(model: nn.Module, batch: dict[str, Any]) -> torch.Tensor:
        torch.manual_seed(0)  # for a model that throws dice
        return torch.stack([each.square().mean() for each in fold(model(**batch)) if each.requires_grad]).sum()

    model: Any = build(f"{one.name}-nano").eval()
    given, whole = one.example(model.config), copy.deepcopy(model)
    loss(whole, given).backward()
    task = Task(model=model, loss=loss, size=len, score=dict, metric="val_loss", batches=[])
    shared = one_of_two.share(Losing(task), "fsdp")
    for _ in range(2):  # the second time, of what was let go after the first
        model.zero_grad()
        shared(given).backward()
    units = [each for each in shared.modules() if isinstance(each, FSDPModule)]
    found = {name: full_tensor(each.grad) for name, each in model.named_parameters() if each.grad is not None}
    wanted = {name: each.grad for name, each in whole.named_parameters() if each.grad is not None}
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-6)
    assert list(model.state_dict()) == list(whole.state_dict())
    assert len(units) > 1 or one.name in WITHOUT_BLOCKS


def test_one_process_needs_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with Ranks() as ranks:
        assert ranks.first
        assert ranks.sum(1.5, 2.0) == [1.5, 2.0]
        ranks.barrier()
        model = nn.Linear(2, 2)
        assert ranks.share(model, "fsdp") is model
        with ranks.no_sync(model, last=False):
            pass
    x = torch.ones(2)
    assert full_tensor(x).equal(x)
    assert local(x) is x
    assert like(x, x).equal(x)
