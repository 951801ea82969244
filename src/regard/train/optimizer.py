"""The optimizer of a plan, and which parameters learn how fast."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from regard.train.plan import Plan
from regard.train.task import Task


def build(task: Task, plan: Plan) -> torch.optim.Optimizer:
    """The optimizer of a task's model, by its own groups or by ours."""
    given = (
        _groups(task.model, task.layer_decay) if task.parameter_groups is None else task.parameter_groups(task.model)
    )
    groups = [{"lr_scale": 1.0, "weight_decay": plan.weight_decay, **group} for group in given]
    if plan.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=plan.lr, momentum=plan.momentum)
    return torch.optim.AdamW(groups, lr=plan.lr, betas=plan.betas, eps=plan.eps, fused=True)


def _groups(model: nn.Module, layer_decay: float) -> Sequence[Mapping[str, Any]]:
    """Matrices, and vectors without weight decay, of each layer that learns at its own rate."""
    layers = layers_of(model) if layer_decay != 1.0 else {}
    top = max(layers.values(), default=0)
    groups: dict[tuple[int, bool], dict[str, Any]] = {}
    for name, parameter in model.named_parameters():
        layer, matrix = layers.get(name, top), parameter.ndim > 1
        usual = {"params": [], "lr_scale": layer_decay ** (top - layer)} | ({} if matrix else {"weight_decay": 0.0})
        groups.setdefault((layer, matrix), usual)["params"].append(parameter)
    # Matrices first: the order of groups is the order in which torch updates them.
    return [group for _, group in sorted(groups.items(), key=lambda item: (item[0][0], not item[0][1]))]


def layers_of(model: nn.Module) -> dict[str, int]:
    """How high each parameter lies: 0 before the blocks (elements of a ModuleList), and what follows them on top."""
    blocks = {
        f"{name}.{i}.": i + 1
        for name, module in model.named_modules()
        if isinstance(module, nn.ModuleList)
        for i in range(len(module))
    }
    top = max(blocks.values(), default=0)
    found, seen = dict[str, int](), False
    for name, _ in model.named_parameters():
        inside = [height for prefix, height in blocks.items() if name.startswith(prefix)]
        seen = seen or bool(inside)
        found[name] = inside[0] if inside else (top + 1 if seen else 0)
    return found
