"""The loop learns, averages, stops, and goes on as if it had not stopped."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tests.unit.train.copying import Copy, task, train
from torch import Tensor, nn

from regard.train import checkpoint, machine, signals
from regard.train.loop import fit
from regard.train.plan import Plan
from regard.train.run import RunError, metrics, newest
from regard.train.source import Source
from regard.train.task import Task


class Rows:
    """Batches of a matrix, a few rows each, in order and without end."""

    rank, ranks = 0, 1

    def __init__(self, x: Tensor, rows: int) -> None:
        self.x, self.rows, self.taken = x, rows, 0

    def __iter__(self) -> "Rows":
        return self

    def __next__(self) -> Tensor:
        self.taken += 1
        places = torch.arange((self.taken - 1) * self.rows, self.taken * self.rows) % len(self.x)
        return self.x[places]

    @property
    def state(self) -> dict[str, int]:
        return {"taken": self.taken}

    def restore(self, state: dict[str, int]) -> None:
        self.taken = state["taken"]


def line(rows: int = 4, scores: list[float] | None = None, model: nn.Module | None = None) -> Task:
    """Find the line y = 2x."""
    x = torch.arange(1.0, 9.0)[:, None] / 8
    torch.manual_seed(0)
    given = iter(scores or [])

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        return (model(x) - 2 * x).square().sum()

    def score(model: nn.Module) -> dict[str, float]:
        assert not model.training
        return {"val_loss": next(given) if scores else loss(model, x).item()}

    return Task(
        model=nn.Linear(1, 1) if model is None else model,
        batches=Rows(x, rows),
        size=len,
        loss=loss,
        score=score,
        metric="val_loss",
        card={"title": "A line"},
    )


def left(folder: Path) -> dict[str, Tensor]:
    """The model that a run left."""
    return load_file(folder / "model" / "model.safetensors")


SHORT = Plan(steps=20, warmup=0, lr=0.1, schedule="constant", evaluate=5, save=5, weight_decay=0.0, precision="float32")


def equal(one: Path, other: Path) -> bool:
    """Weights, moments, averages, state, measurements and the model left are the same, but for the time it took."""
    (tensors, state), (others, theirs) = (checkpoint.read(newest(folder) or folder) for folder in (one, other))
    rows, their_rows = ([row | {"seconds": 0} for row in metrics(folder)] for folder in (one, other))
    models = [load_file(folder / "model" / "model.safetensors") for folder in (one, other)]
    return (
        tensors.keys() == others.keys()
        and all(tensors[name].equal(others[name]) for name in tensors)
        and state | {"seconds": 0} == theirs | {"seconds": 0}
        and rows == their_rows
        and all(models[0][name].equal(models[1][name]) for name in models[0])
    )


def test_rows_are_a_source() -> None:
    assert isinstance(Rows(torch.ones(1, 1), 1), Source)


def test_it_learns_and_leaves_the_best_model_with_its_card(tmp_path: Path) -> None:
    outcome = fit(line(), replace(SHORT, steps=150), tmp_path, recipe="line", quiet=True)
    assert outcome.finished
    assert outcome.step == 150
    assert outcome.best is not None
    assert outcome.best < 1e-2
    card = json.loads((tmp_path / "model" / "card.json").read_text())
    assert abs(left(tmp_path)["weight"].item() - 2.0) < 0.1
    assert card["title"] == "A line"
    assert card["steps"] == 150
    assert card["parameters"] == 2
    assert card["machine"] == machine.describe() | {"processes": 1}
    rows = list(metrics(tmp_path))
    assert [row["step"] for row in rows] == list(range(1, 151))
    assert rows[-1]["loss"] < rows[0]["loss"]


def test_two_half_batches_are_one(tmp_path: Path) -> None:
    fit(line(rows=4), SHORT, tmp_path / "one", recipe="line", quiet=True)
    fit(line(rows=2), replace(SHORT, accumulate=2), tmp_path / "two", recipe="line", quiet=True)
    torch.testing.assert_close(left(tmp_path / "one"), left(tmp_path / "two"))
    ours, theirs = ([row["loss"] for row in metrics(tmp_path / name)] for name in ("one", "two"))
    assert ours == pytest.approx(theirs)


def test_clipping_bounds_the_gradient_and_the_log_tells_its_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = []

    def step(self: Any) -> None:
        gradients = [p.grad for group in self.param_groups for p in group["params"]]
        lengths.append(float(torch.cat([g.flatten() for g in gradients]).norm()))

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    plan = replace(SHORT, steps=1, evaluate=9, save=9)
    for clip in (0.01, 0.0):
        fit(line(), replace(plan, grad_clip=clip), tmp_path / str(clip), recipe="line", quiet=True)
    norm = next(metrics(tmp_path / "0.01"))["grad_norm"]
    assert norm > 0.01
    assert lengths == pytest.approx([0.01, norm], rel=1e-4)


def test_the_moving_average_is_that_of_a_hand(tmp_path: Path) -> None:
    plan = replace(SHORT, steps=4, save=1, keep=4, evaluate=4, ema=0.2)
    fit(line(), plan, tmp_path, recipe="line", quiet=True)
    average = line().model.state_dict()["weight"]
    for path in checkpoint.present(tmp_path / "checkpoints"):
        tensors, state = checkpoint.read(path)
        memory = min(0.2, state["step"] / (state["step"] + 10))
        average = memory * average + (1 - memory) * tensors["model.weight"]
        torch.testing.assert_close(tensors["shown.weight"], average)
    torch.testing.assert_close(left(tmp_path)["weight"], average)


@pytest.mark.parametrize("ema", [0.0, 0.9])
def test_the_model_left_is_the_mean_of_the_last_checkpoints(tmp_path: Path, ema: float) -> None:
    fit(line(), replace(SHORT, average=3, keep=4, ema=ema), tmp_path, recipe="line", quiet=True)
    paths = checkpoint.present(tmp_path / "checkpoints")
    assert [checkpoint.step(path) for path in paths] == [5, 10, 15, 20]
    kept = [checkpoint.read(path)[0]["shown.weight" if ema else "model.weight"] for path in paths[1:]]
    torch.testing.assert_close(left(tmp_path)["weight"], sum(kept) / 3)


def test_it_stops_when_nothing_gets_better_and_keeps_the_best(tmp_path: Path) -> None:
    scores = [3.0, 2.0, 2.5, float("nan"), 1.0]
    outcome = fit(
        line(scores=scores), replace(SHORT, steps=50, patience=2, keep=9), tmp_path, recipe="line", quiet=True
    )
    assert outcome.finished
    assert (outcome.step, outcome.best) == (20, 2.0)
    kept = checkpoint.read(checkpoint.place(tmp_path / "checkpoints", 10))[0]
    assert left(tmp_path)["weight"].equal(kept["model.weight"])


def test_higher_may_be_better_and_a_first_score_that_is_no_number_is_soon_beaten(tmp_path: Path) -> None:
    task = replace(line(scores=[float("nan"), 1.0, 3.0, 2.0]), higher_is_better=("val_loss",))
    assert fit(task, SHORT, tmp_path, recipe="line", quiet=True).best == 3.0


def test_a_part_that_never_learns_and_one_with_two_names_are_kept(tmp_path: Path) -> None:
    def model() -> nn.Module:
        torch.manual_seed(0)
        parts = nn.ModuleDict(
            {"a": nn.Linear(1, 1), "b": nn.Linear(1, 1), "still": nn.Linear(2, 2), "idle": nn.Linear(3, 3)}
        )
        parts["b"].weight = parts["a"].weight
        parts["still"].requires_grad_(False)
        parts.forward = lambda x: parts["b"](parts["a"](x))
        return parts

    for name, steps in (("whole", [20]), ("parts", [7, 20])):
        for stop in steps:
            task, calls = line(model=model()), iter(range(1, 99))

            def loss(model: nn.Module, x: Tensor, task: Task = task, calls: Any = calls, stop: int = stop) -> Tensor:
                if next(calls) == stop < 20:
                    os.kill(os.getpid(), 2)
                return task.loss(model, x)

            resume = stop != steps[0]
            fit(
                replace(task, loss=loss),
                replace(SHORT, ema=0.9, resume=resume),
                tmp_path / name,
                recipe="x",
                quiet=True,
            )
    one, other = (checkpoint.read(newest(tmp_path / name) or tmp_path)[0] for name in ("whole", "parts"))
    assert one.keys() == other.keys()
    assert all(one[name].equal(other[name]) for name in one)
    assert one["shown.a.weight"].equal(one["shown.b.weight"])
    assert not one["shown.a.weight"].equal(one["model.a.weight"])
    assert "optimizer.exp_avg.idle.weight" not in one


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"ema": 0.9, "average": 2, "schedule": "inverse_sqrt"},
        {"accumulate": 2, "precision": "bfloat16", "average": 3, "keep": 3},
    ],
    ids=["plain", "ema", "bfloat16"],
)
def test_a_run_that_was_stopped_anywhere_goes_on_as_if_it_had_not(tmp_path: Path, fields: dict[str, Any]) -> None:
    plan = Copy(**fields)
    assert train(tmp_path / "whole", plan).finished
    first = train(tmp_path / "parts", plan, halt=2 * plan.accumulate)
    assert (first.finished, first.step) == (False, 2)
    second = train(tmp_path / "parts", replace(plan, resume=True), halt=5 * plan.accumulate)  # steps 3 to 7
    assert (second.finished, second.step) == (False, 7)
    assert train(tmp_path / "parts", replace(plan, resume=True)).finished
    assert equal(tmp_path / "whole", tmp_path / "parts")


def test_a_finished_run_resumes_to_the_same_model(tmp_path: Path) -> None:
    plan = Copy(steps=4)
    train(tmp_path, plan)
    before = (tmp_path / "model" / "model.safetensors").read_bytes()
    outcome = train(tmp_path, replace(plan, resume=True))
    assert outcome.finished
    assert outcome.step == 4
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == before


def test_a_run_that_ends_before_it_has_tidied_up_does_so_when_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, regular = replace(SHORT, steps=3, save=1, keep=1), checkpoint.regular

    def end(paths: list[Path], save: int) -> list[Path]:
        if checkpoint.place(tmp_path / "checkpoints", 3) in paths:
            raise SystemExit("killed")
        return regular(paths, save)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "regular", end)
        with pytest.raises(SystemExit):
            fit(line(), plan, tmp_path, quiet=True)
    assert len(checkpoint.present(tmp_path / "checkpoints")) == 2
    fit(line(), replace(plan, resume=True), tmp_path, quiet=True)
    assert len(checkpoint.present(tmp_path / "checkpoints")) == 1


def test_a_damaged_newest_checkpoint_costs_its_steps_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = Copy()
    train(tmp_path / "whole", plan)
    train(tmp_path / "parts", plan, halt=10)
    last = newest(tmp_path / "parts") or tmp_path
    with last.open("r+b") as file:
        file.truncate(last.stat().st_size // 2)
    train(tmp_path / "parts", replace(plan, resume=True), quiet=False)
    assert "step-00000010.safetensors is no whole checkpoint" in capsys.readouterr().err
    assert equal(tmp_path / "whole", tmp_path / "parts")


def test_another_model_does_not_take_a_checkpoint(tmp_path: Path) -> None:
    fit(line(), SHORT, tmp_path, recipe="line", quiet=True)
    task = line(model=nn.Sequential(nn.Linear(1, 1)))
    with pytest.raises(
        RunError, match=r"another model: 0.weight has shape None there and \(1, 1\) here, .* 4 that differ"
    ):
        fit(task, replace(SHORT, resume=True), tmp_path, recipe="line", quiet=True)


def test_a_loss_that_is_no_number_ends_the_run_before_it_harms_the_weights(tmp_path: Path) -> None:
    task = line()
    spoilt = replace(task, loss=lambda model, x: task.loss(model, x) * torch.nan)
    before = task.model.state_dict()["weight"].clone()
    with pytest.raises(FloatingPointError, match=r"loss of step 1 is nan; begin anew .* lower --lr than 0.1"):
        fit(spoilt, SHORT, tmp_path, recipe="line", quiet=True)
    assert task.model.state_dict()["weight"].equal(before)


def test_best_weights_that_are_lost_are_told_of(tmp_path: Path) -> None:
    fit(line(), SHORT, tmp_path, recipe="line", quiet=True)
    (tmp_path / "checkpoints" / "best.safetensors").unlink()
    with pytest.raises(RunError, match="the best weights are lost"):
        fit(line(), replace(SHORT, resume=True), tmp_path, recipe="line", quiet=True)


def test_a_second_training_of_the_folder_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    task, seen = line(), []

    def score(model: nn.Module) -> dict[str, float]:
        with pytest.raises(RunError, match=f"is being trained by process {os.getpid()}"):
            fit(line(), replace(SHORT, resume=True), tmp_path, recipe="line", quiet=True)
        seen.append(True)
        return {"val_loss": 0.0}

    assert fit(replace(task, score=score), SHORT, tmp_path, recipe="line", quiet=True).finished
    assert len(seen) == 4


def test_a_polite_kill_stops_too_and_signals_are_given_back(tmp_path: Path) -> None:
    import signal

    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    task = line()

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)  # passed on by a runner, at the same moment
        return task.loss(model, x)

    outcome = fit(replace(task, loss=loss), SHORT, tmp_path, recipe="line", quiet=True)
    assert (outcome.finished, outcome.step) == (False, 1)
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import signal
    from itertools import count

    clock = count(0.0, 2.0)
    monkeypatch.setattr(signals, "monotonic", lambda: next(clock))
    task = line()

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return task.loss(model, x)

    with pytest.raises(KeyboardInterrupt):
        fit(replace(task, loss=loss), SHORT, tmp_path, recipe="line", quiet=True)


def test_tensorboard_is_asked_for_by_name_where_it_is_missing(tmp_path: Path) -> None:
    try:
        import tensorboard  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401
    except ImportError:
        with pytest.raises(
            ImportError, match=r"--tensorboard needs a package of that name; in a clone of regard, pip install"
        ):
            fit(line(), replace(SHORT, tensorboard=True), tmp_path, recipe="line", quiet=True)
    else:
        pytest.skip("tensorboard is installed")


def test_tensorboard_gets_the_measurements(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    fit(line(), replace(SHORT, tensorboard=True), tmp_path, recipe="line", quiet=True)
    assert any((tmp_path / "tensorboard").iterdir())


def test_the_task_of_these_tests_is_learnt(tmp_path: Path) -> None:
    plan = Copy(steps=60, tokens=300, warmup=5, lr=1e-2, evaluate=60, save=60, dropout=0.0)
    outcome = train(tmp_path, plan)
    assert outcome.best is not None
    assert outcome.best < 2.2  # guessing costs log 16 = 2.77, and no model is below the 0.58 of the smoothing
    assert json.loads((tmp_path / "model" / "card.json").read_text())["trained_with"]["length"] == [2, 6]
    assert task(plan).batches.state["seed"] == 0


@pytest.mark.parametrize("name", ["loss", "lr", "grad_norm", "size", "seconds", "step"])
def test_a_score_cannot_overwrite_what_is_measured_in_every_step(name: str, tmp_path: Path) -> None:
    said = f"the score '{name}' has the name of a measurement of every step; call it val_{name}"
    with pytest.raises(RunError, match=said):
        fit(replace(line(), metric=name), SHORT, tmp_path / "metric", quiet=True)
    assert not (tmp_path / "metric").exists()
    both = replace(line(), score=lambda _: {"val_loss": 1.0, name: 1.0})
    with pytest.raises(RunError, match=said):
        fit(both, SHORT, tmp_path / "beside", quiet=True)
