"""The loop: draw batches, follow the gradient, score, write down where we are.

All that happens in step s depends on the seed, on s and on the weights: dice are thrown anew for each batch, the rate
is a function of s, and the batches know their place. So a run that stopped anywhere goes on bit by bit as if it had
not, and several processes do together what one would do alone.
"""

import copy
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import isfinite, isnan, nan
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from regard.chance import Chance
from regard.train import checkpoint, machine
from regard.train.plan import Plan, check, fields_of
from regard.train.progress import Live
from regard.train.ranks import Ranks, full_tensor, like, local
from regard.train.run import Run, RunError, newest
from regard.train.schedule import lr
from regard.train.task import Task


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a training ended."""

    step: int
    best: float | None  # the first of the scores
    minutes: float
    finished: bool  # it came to its end, and was not stopped by a signal
    folder: Path


def fit(
    task: Task,
    plan: Plan,
    folder: Path,
    *,
    recipe: str,
    card: Mapping[str, Any] | None = None,
    ranks: Ranks | None = None,
    quiet: bool = False,
) -> Outcome:
    """Train a task in a folder, from its last checkpoint if the plan says resume, and leave a model there."""
    ranks = Ranks() if ranks is None else ranks
    check(plan, ranks.count)
    if plan.threads:
        torch.set_num_threads(plan.threads)
    machine.keep_memory()
    run = Run(folder, recipe, fields_of(plan), resume=plan.resume)
    ranks.barrier()  # all have seen the folder as it was
    try:
        said = run.open() if ranks.first else []
        ranks.barrier()  # all see the checkpoints that are whole
        training = _Training(task, plan, ranks)
        last = newest(folder) if plan.resume else None
        if last is not None:
            training.restore(*checkpoint.read(last))
        if ranks.first:
            run.go_on(training.step)
        return _fit(training, run, card or {}, said, quiet or not ranks.first)
    finally:
        run.close()


def _fit(training: "_Training", run: Run, card: Mapping[str, Any], said: list[str], quiet: bool) -> Outcome:
    task, plan, ranks = training.task, training.plan, training.ranks
    first = ranks.first
    with (
        Live(plan.steps, training.step, task.unit, quiet=quiet) as live,
        _board(run.folder if first and plan.tensorboard else None) as board,
        _stoppable(live) as wanted,
    ):
        for line in said:
            live.say(line)
        stopped = False
        while training.step < plan.steps and not stopped and not training.out_of_patience:
            began = monotonic()
            row, stopped = training.advance(wanted)
            live.step(training.step, row["loss"], row["size"])
            scored: Mapping[str, float] = {}
            if training.step % plan.evaluate == 0 or training.step == plan.steps:
                scored, best = training.score()
                if first and task.show is not None:
                    run.show(training.step, task.show(training.plain))
                live.score(training.step, scored, best, (training.seconds + monotonic() - began) / 60)
                if best:
                    state, weights = training.state, training.shown()
                    if first:
                        checkpoint.write(run.checkpoints / "best.safetensors", weights, state)
            training.seconds += monotonic() - began
            row |= {"seconds": round(training.seconds, 3), **scored}
            if first:
                run.log(row)
                board(row)
            if training.step % plan.save == 0 or training.step == plan.steps or stopped or training.out_of_patience:
                tensors = training.tensors()
                if first:
                    checkpoint.write(checkpoint.place(run.checkpoints, training.step), tensors, training.state)
                    there = checkpoint.present(run.checkpoints)
                    for old in set(there).difference(checkpoint.regular(there, plan.save)[-plan.keep :]):
                        old.unlink(missing_ok=True)
        if stopped:
            live.say(f"stopped at step {training.step}; go on with the same command and --resume --out {run.folder}")
        elif first:
            _finish(training, run, card)
        ranks.barrier()
    return Outcome(training.step, training.best, training.seconds / 60, not stopped, run.folder)


class _Training:
    """What changes while a model is trained."""

    def __init__(self, task: Task, plan: Plan, ranks: Ranks) -> None:
        self.task, self.plan, self.ranks = task, plan, ranks
        task.batches.rank, task.batches.ranks = ranks.rank, ranks.count
        self.plain = copy.deepcopy(task.model).to(ranks.device)  # never shared: scored, averaged into, saved
        self.shared = ranks.share(task.model, plan.parallel)
        named = dict(task.model.named_parameters())
        self.names, self.parameters = list(named), list(named.values())
        # Where one parameter has several names, its average has them too.
        first = {id(parameter): name for name, parameter in named.items()}
        everywhere = task.model.named_parameters(remove_duplicate=False)
        self.aliases = {name: first[id(parameter)] for name, parameter in everywhere}
        self.optimizer = torch.optim.AdamW(
            [
                {"params": [p for p in self.parameters if p.ndim > 1], "weight_decay": plan.weight_decay},
                {"params": [p for p in self.parameters if p.ndim <= 1], "weight_decay": 0.0},
            ],
            betas=(0.9, 0.98),
            eps=1e-9,
            fused=True,
        )
        self.ema = [p.detach().clone() for p in self.parameters] if plan.ema else []
        self.step, self.seconds = 0, 0.0
        self.best: float | None = None
        self.since_best = 0

    @property
    def out_of_patience(self) -> bool:
        return 0 < self.plan.patience <= self.since_best

    def advance(self, wanted: "_Wanted") -> tuple[dict[str, Any], bool]:
        """One step of all processes; what is measured, and whether any process wants to stop behind it."""
        plan, ranks = self.plan, self.ranks
        self.step += 1
        batches = [next(self.task.batches) for _ in range(plan.accumulate // ranks.count)]
        (size,) = ranks.sum(float(sum(map(self.task.size, batches))))
        lost = 0.0
        self.shared.train()
        for i, batch in enumerate(batches):
            # The dice of a batch belong to its place in the step, whichever process throws them.
            torch.manual_seed(_dice(plan, self.step, i * ranks.count + ranks.rank))
            with ranks.no_sync(self.shared, last=i == len(batches) - 1):
                with machine.autocast(ranks.device, plan.precision):
                    loss = self.task.loss(self.shared, batch)
                # Gradients are averaged over the processes, and the loss is a mean over all that they predict.
                (loss * (ranks.count / size)).backward()
            lost += loss.item()
        lost, stops = ranks.sum(lost, float(wanted.stop))
        if not isfinite(lost):
            raise FloatingPointError(
                f"the loss of step {self.step} is {lost / size}; begin anew in another folder with a lower --lr than "
                f"{plan.lr:g}, or with --precision float32"
            )
        norm = nn.utils.clip_grad_norm_(self.parameters, plan.grad_clip or torch.inf)
        for group in self.optimizer.param_groups:
            group["lr"] = lr(plan, self.step)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.ema:
            # A young average remembers less, so that the first weights are soon forgotten.
            memory = min(plan.ema, self.step / (self.step + 10))
            torch._foreach_lerp_([local(e) for e in self.ema], [local(p.detach()) for p in self.parameters], 1 - memory)
        row = {"step": self.step, "loss": lost / size, "lr": lr(plan, self.step), "grad_norm": float(full_tensor(norm))}
        return row | {"size": int(size)}, stops > 0

    def score(self) -> tuple[Mapping[str, float], bool]:
        """The scores on held-out data, and whether they are the best so far."""
        self.plain.load_state_dict(self.shown())
        self.plain.eval()
        with torch.no_grad():
            scores = self.task.score(self.plain)
        # Processes on unlike machines may differ in the last digit, and must decide alike.
        (value,) = self.ranks.sum(float(next(iter(scores.values()))) if self.ranks.first else 0.0)
        before = nan if self.best is None else self.best
        better = isnan(before) or (value < before if self.task.lower_is_better else value > before)
        self.best, self.since_best = (value, 0) if better else (self.best, self.since_best + 1)
        return scores, better

    def shown(self) -> dict[str, Tensor]:
        """The weights that are scored and kept: the moving average where there is one."""
        state = {name: full_tensor(tensor) for name, tensor in self.task.model.state_dict().items()}
        averages = {name: full_tensor(tensor) for name, tensor in zip(self.names, self.ema, strict=False)}
        return state | ({name: averages[first] for name, first in self.aliases.items()} if averages else {})

    def tensors(self) -> dict[str, Tensor]:
        """All that a checkpoint holds."""
        found = {f"model.{name}": full_tensor(tensor) for name, tensor in self.task.model.state_dict().items()}
        found |= {f"shown.{name}": tensor for name, tensor in self.shown().items()} if self.ema else {}
        for name, parameter in zip(self.names, self.parameters, strict=True):
            moments = self.optimizer.state.get(parameter, {})  # none for what never had a gradient
            found |= {f"{key}.{name}": full_tensor(tensor) for key, tensor in moments.items()}
        return found

    @property
    def state(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "batches": self.task.batches.state,
            "best": self.best,
            "since_best": self.since_best,
            "seconds": self.seconds,
        }

    def restore(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        """Stand where a checkpoint stood, whatever number of processes wrote it."""
        mine, theirs = self.task.model.state_dict(), checkpoint.under(tensors, "model.")
        if other := [name for name in {**mine, **theirs} if _shape(mine, name) != _shape(theirs, name)]:
            raise RunError(
                f"the checkpoint is of another model: {other[0]} has shape {_shape(theirs, other[0])} there and "
                f"{_shape(mine, other[0])} here, as one of {len(other)} that differ; resume with the code and the data "
                "that the run began with"
            )
        with torch.no_grad():
            for name, tensor in theirs.items():
                mine[name].copy_(like(tensor, mine[name]))
            for average, name in zip(self.ema, self.names, strict=False):
                average.copy_(like(tensors[f"shown.{name}"], average))
        for name, parameter in zip(self.names, self.parameters, strict=True):
            if f"exp_avg.{name}" in tensors:
                moments = {key: like(tensors[f"{key}.{name}"], parameter) for key in ("exp_avg", "exp_avg_sq")}
                count = tensors.get(f"step.{name}", torch.tensor(float(state["step"])))
                self.optimizer.state[parameter] = {"step": count.to(parameter.device), **moments}
        self.task.batches.restore(state["batches"])
        self.step, self.seconds = state["step"], state["seconds"]
        self.best, self.since_best = state["best"], state["since_best"]


def _shape(tensors: Mapping[str, Tensor], name: str) -> tuple[int, ...] | None:
    return tuple(tensors[name].shape) if name in tensors else None


def _dice(plan: Plan, step: int, batch: int) -> int:
    return Chance(plan.seed, "training", step * plan.accumulate + batch).bits()


def _finish(training: _Training, run: Run, card: Mapping[str, Any]) -> None:
    """Leave a model: the mean of the last checkpoints where the plan says so, else the best."""
    plan = training.plan
    if plan.average > 1:
        kept = checkpoint.regular(checkpoint.present(run.checkpoints), plan.save)[-plan.average :]
        weights = checkpoint.mean(kept, "shown." if plan.ema else "model.")
    else:
        best = run.checkpoints / "best.safetensors"
        try:
            weights, _ = checkpoint.read(best)
        except (FileNotFoundError, checkpoint.DamageError) as error:
            raise RunError(f"the best weights are lost ({error}); begin anew in another folder") from None
    training.plain.load_state_dict(weights)
    training.plain.eval()
    facts = {
        "recipe": run.recipe,
        "fields": run.fields,
        "seed": plan.seed,
        "steps": training.step,
        "minutes": round(training.seconds / 60, 1),
        "parameters": sum(parameter.numel() for parameter in training.plain.parameters()),
        "machine": machine.describe(),
        "processes": training.ranks.count,
    }
    training.task.save(run.model, training.plain, {**card, **facts})


class _Wanted:
    stop = False
    since = 0.0


@contextmanager
def _stoppable(live: Live) -> Iterator[_Wanted]:
    """Ctrl-C and a polite kill end the training behind the step that runs; a second Ctrl-C ends it at once."""
    wanted = _Wanted()

    def ask(number: int, _: FrameType | None) -> None:
        if wanted.stop:
            # A runner may pass on the one Ctrl-C that the terminal has sent us too.
            if number == signal.SIGINT and monotonic() - wanted.since > 1.0:
                raise KeyboardInterrupt
            return
        wanted.stop, wanted.since = True, monotonic()
        with suppress(RuntimeError):  # we may have interrupted another line in its middle
            live.say("stopping behind this step; once more to stop at once")

    try:
        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: whoever runs us handles signals
        before = {}
    try:
        yield wanted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _board(folder: Path | None) -> Iterator[Any]:
    """Measurements for TensorBoard, where they are wanted."""
    if folder is None:
        yield lambda _: None
        return
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ImportError("--tensorboard needs a package of that name; pip install regard[log]") from None
    writer = SummaryWriter(str(folder / "tensorboard"))
    try:

        def write(row: Mapping[str, Any]) -> None:
            for name, value in row.items():
                if name != "step":
                    writer.add_scalar(name, value, row["step"])

        yield write
    finally:
        writer.close()
