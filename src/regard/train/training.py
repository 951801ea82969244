"""What changes while a model is trained: weights, the optimizer's state, averages, the best score."""

import copy
from collections.abc import Iterable, Mapping
from math import isfinite, isnan, nan
from typing import Any

import torch
from torch import Tensor, nn

from regard.chance import Chance
from regard.train import checkpoint, machine, optimizer
from regard.train.features import weights_hash
from regard.train.plan import Plan
from regard.train.ranks import Ranks, full_tensor, like, local
from regard.train.run import RunError
from regard.train.schedule import lr
from regard.train.signals import Stop
from regard.train.source import as_source
from regard.train.task import Task

MEASURED = ("step", "loss", "lr", "grad_norm", "size", "seconds")  # in every step; a score has another name


class Training:
    """One training at a step."""

    def __init__(self, task: Task, plan: Plan, ranks: Ranks) -> None:
        self.task, self.plan, self.ranks = task, plan, ranks
        self.batches = as_source(task.batches, plan.seed)
        self.batches.rank, self.batches.ranks = ranks.rank, ranks.count
        self.plain = copy.deepcopy(task.model).to(ranks.device)  # never shared: scored, averaged into, saved
        self.shared = ranks.share(Losing(task), plan.parallel, idle=task.idle)
        self.parameters = dict(task.model.named_parameters())
        # Where one parameter has several names, its average has them too.
        first = {id(parameter): name for name, parameter in self.parameters.items()}
        everywhere = task.model.named_parameters(remove_duplicate=False)
        self.aliases = {name: first[id(parameter)] for name, parameter in everywhere}
        self.optimizer = optimizer.build(task, plan)
        self.ema = {name: p.detach().clone() for name, p in self.parameters.items()} if plan.ema else {}
        self.teacher = {} if task.teacher is None else {"teacher": weights_hash(task.teacher)}
        self.step, self.seconds = 0, 0.0
        self.best: float | None = None
        self.since_best = 0

    @property
    def out_of_patience(self) -> bool:
        return 0 < self.plan.patience <= self.since_best

    @property
    def ended(self) -> bool:
        return self.step >= self.plan.steps or self.out_of_patience

    def advance(self, stop: Stop) -> tuple[dict[str, Any], bool]:
        """One step of all processes; what is measured, and whether any process wants to stop behind it."""
        plan, ranks = self.plan, self.ranks
        self.step += 1
        batches = [next(self.batches) for _ in range(plan.accumulate // ranks.count)]
        (size,) = ranks.sum(float(sum(map(self.task.size, batches))))
        lost = 0.0
        self.shared.train()
        for i, batch in enumerate(batches):
            # The random numbers of a batch belong to its place in the step, whichever process draws them.
            place = self.step * plan.accumulate + i * ranks.count + ranks.rank
            torch.manual_seed(Chance(plan.seed, "training", place).bits())
            with ranks.no_sync(self.shared, last=i == len(batches) - 1):
                with machine.autocast(ranks.device, plan.precision):
                    loss = self.shared(batch)
                # Gradients are averaged over the processes, and the loss is a mean over all that they predict.
                (loss * (ranks.count / size)).backward()
            lost += loss.item()
        ranks.average(self.shared)
        lost, stops = ranks.sum(lost, float(stop.wanted))
        if not isfinite(lost):
            raise FloatingPointError(
                f"the loss of step {self.step} is {lost / size}; begin anew in another folder with a lower --lr than "
                f"{plan.lr:g}, or with --precision float32"
            )
        norm = nn.utils.clip_grad_norm_(self.parameters.values(), plan.grad_clip or torch.inf)
        rate = lr(plan, self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["lr_scale"]
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.task.after_step is not None:
            with torch.no_grad():
                self.task.after_step(self.task.model, self.step)
        if self.ema:
            # A young average remembers less, so that the first weights are soon forgotten.
            memory = min(plan.ema, self.step / (self.step + 10))
            weights = [local(parameter.detach()) for parameter in self.parameters.values()]
            torch._foreach_lerp_([local(average) for average in self.ema.values()], weights, 1 - memory)
        row = {"step": self.step, "loss": lost / size, "lr": rate, "grad_norm": float(full_tensor(norm))}
        return row | {"size": int(size)}, stops > 0

    def score(self) -> tuple[Mapping[str, float], bool]:
        """The scores on held-out data, and whether they are the best so far."""
        self.plain.load_state_dict(self.shown())
        self.plain.eval()
        with torch.no_grad():
            scores = self.task.score(self.plain)
        check_scores(scores)
        if self.task.metric not in scores:
            raise RunError(
                f"the metric is {self.task.metric!r}, and the scores are {', '.join(scores)}; name one of them"
            )
        # Processes on unlike machines may differ in the last digit, and must decide alike.
        (value,) = self.ranks.sum(float(scores[self.task.metric]) if self.ranks.first else 0.0)
        before = nan if self.best is None else self.best
        better = isnan(before) or self.task.is_better(self.task.metric, value, before)
        self.best, self.since_best = (value, 0) if better else (self.best, self.since_best + 1)
        return scores, better

    def shown(self) -> dict[str, Tensor]:
        """The weights that are scored and kept: the moving average where there is one."""
        state = {name: full_tensor(tensor) for name, tensor in self.task.model.state_dict().items()}
        averages = {name: full_tensor(tensor) for name, tensor in self.ema.items()}
        return state | ({name: averages[first] for name, first in self.aliases.items()} if averages else {})

    def tensors(self) -> dict[str, Tensor]:
        """All that a checkpoint holds."""
        found = {f"model.{name}": full_tensor(tensor) for name, tensor in self.task.model.state_dict().items()}
        found |= {f"shown.{name}": tensor for name, tensor in self.shown().items()} if self.ema else {}
        for name, parameter in self.parameters.items():
            moments = self.optimizer.state.get(parameter, {})  # none for what never had a gradient
            found |= {f"optimizer.{key}.{name}": full_tensor(t) for key, t in moments.items() if isinstance(t, Tensor)}
        return found

    @property
    def state(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "batches": self.batches.state,
            "best": self.best,
            "since_best": self.since_best,
            "seconds": self.seconds,
            **self.teacher,
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
        if self.teacher.get("teacher", "") != state.get("teacher", self.teacher.get("teacher", "")):
            raise RunError("the teacher is another one than the run began with; resume with the same, or begin anew")
        with torch.no_grad():
            for name, tensor in theirs.items():
                mine[name].copy_(like(tensor, mine[name]))
            for name, average in self.ema.items():
                average.copy_(like(tensors[f"shown.{name}"], average))
        for path, tensor in checkpoint.under(tensors, "optimizer.").items():
            key, _, name = path.partition(".")
            parameter = self.parameters[name]
            # A moment lies where its parameter does; a count of steps is a number.
            placed = like(tensor, parameter) if tensor.shape == parameter.shape else tensor.to(parameter.device)
            self.optimizer.state[parameter][key] = placed
        try:
            self.batches.restore(state["batches"])
        except ValueError as error:
            raise RunError(str(error)) from None
        self.step, self.seconds = state["step"], state["seconds"]
        self.best, self.since_best = state["best"], state["since_best"]


class Losing(nn.Module):
    """What is shared by several processes: a model with its loss, which may ask it by other ways than `forward`."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.model, self.loss = task.model, task.loss

    def forward(self, batch: Any) -> Tensor:
        return self.loss(self.model, batch)


def check_scores(names: Iterable[str]) -> None:
    """Refuse a score that would overwrite what is measured in every step."""
    for name in names:
        if name in MEASURED:
            raise RunError(f"the score {name!r} has the name of a measurement of every step; call it val_{name}")


def _shape(tensors: Mapping[str, Tensor], name: str) -> tuple[int, ...] | None:
    return tuple(tensors[name].shape) if name in tensors else None
