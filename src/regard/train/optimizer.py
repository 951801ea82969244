"""The optimizer of a plan, and which parameters learn how fast."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import torch
from torch import nn

from regard.train.muon import Muon
from regard.train.plan import Plan
from regard.train.task import Task


def build(task: Task, plan: Plan) -> torch.optim.Optimizer:
    """The optimizer of a task's model, by its own groups or by ours."""
    of_muon = matrices(task.model) if plan.optimizer == "muon" else set[str]()
    if plan.optimizer == "muon" and (plan.parallel == "fsdp" or not of_muon or task.parameter_groups is not None):
        raise ValueError(
            "muon moves the whole matrices of a model's blocks: a model without blocks, one with parameter groups of "
            "its own, and --parallel fsdp need --optimizer adamw"
        )
    given = (
        _groups(task.model, task.layer_decay, of_muon)
        if task.parameter_groups is None
        else task.parameter_groups(task.model)
    )
    groups = [{"lr_scale": 1.0, "weight_decay": plan.weight_decay, **group} for group in given]
    if plan.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=plan.lr, momentum=plan.momentum)
    settings: dict[str, Any] = {"lr": plan.lr, "betas": plan.betas, "eps": plan.eps, "fused": True}
    if plan.optimizer == "muon":
        return Muon(groups, momentum=plan.muon_momentum, **settings)
    return torch.optim.AdamW(groups, **settings)


def _groups(model: nn.Module, layer_decay: float, of_muon: Set[str]) -> Sequence[Mapping[str, Any]]:
    """Matrices, and vectors without weight decay, of each layer that learns at its own rate."""
    layers = layers_of(model) if layer_decay != 1.0 else {}
    top = max(layers.values(), default=0)
    groups: dict[tuple[int, bool, bool], dict[str, Any]] = {}
    for name, parameter in model.named_parameters():
        layer, vector, turned = layers.get(name, top), parameter.ndim < 2, name in of_muon
        usual = {"params": [], "lr_scale": layer_decay ** (top - layer)}
        usual |= ({"weight_decay": 0.0} if vector else {}) | ({"orthogonal": True} if turned else {})
        groups.setdefault((layer, vector, turned), usual)["params"].append(parameter)
    # Matrices first: the order of groups is the order in which torch updates them.
    return [group for _, group in sorted(groups.items(), key=lambda item: item[0])]


def layers_of(model: nn.Module) -> dict[str, int]:
    """How high each parameter lies: 0 before the blocks (elements of a ModuleList), and what follows them on top."""
    blocks = _blocks(model)
    top = max(blocks.values(), default=0)
    found, seen = dict[str, int](), False
    for name, _ in model.named_parameters():
        inside = [height for prefix, height in blocks.items() if name.startswith(prefix)]
        seen = seen or bool(inside)
        found[name] = inside[0] if inside else (top + 1 if seen else 0)
    return found


def matrices(model: nn.Module) -> set[str]:
    """The names of the weights that Muon is made for: those of linear layers and full convolutions within blocks."""
    blocks = tuple(_blocks(model))
    return {
        f"{name}.weight"
        for name, module in model.named_modules()
        if (isinstance(module, nn.Linear) or (isinstance(module, nn.Conv2d) and module.groups == 1))
        and f"{name}.".startswith(blocks)
    }


def _blocks(model: nn.Module) -> dict[str, int]:
    """How the names within a block (an element of a ModuleList) begin, and how high it lies, from 1."""
    return {
        f"{name}.{i}.": i + 1
        for name, module in model.named_modules()
        if isinstance(module, nn.ModuleList)
        for i in range(len(module))
    }
