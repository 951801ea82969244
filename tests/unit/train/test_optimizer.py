"""Which parameters learn how fast, and a teacher that follows its student."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.unit.train.copying import Copy, task, train
from tests.unit.train.test_loop import SHORT, equal, line
from torch import Tensor, nn

from regard.train import checkpoint, optimizer
from regard.train.loop import fit
from regard.train.plan import Plan
from regard.train.run import newest


def names(given: torch.optim.Optimizer, model: nn.Module) -> dict[str, dict[str, Any]]:
    """The group of each parameter."""
    called = {id(parameter): name for name, parameter in model.named_parameters()}
    return {called[id(p)]: group for group in given.param_groups for p in group["params"]}


def test_matrices_decay_and_vectors_do_not() -> None:
    given = task(Copy())
    groups = names(optimizer.build(given, Plan(weight_decay=0.3)), given.model)
    assert groups.keys() == dict(given.model.named_parameters()).keys()
    for name, parameter in given.model.named_parameters():
        assert groups[name]["weight_decay"] == (0.3 if parameter.ndim > 1 else 0.0)
        assert groups[name]["lr_scale"] == 1.0


def test_with_layer_decay_lower_blocks_learn_more_slowly() -> None:
    model = nn.ModuleDict(
        {
            "embed": nn.Embedding(3, 2),
            "blocks": nn.ModuleList(nn.Linear(2, 2) for _ in range(2)),
            "head": nn.Linear(2, 3),
        }
    )
    groups = names(optimizer.build(replace(line(model=model), layer_decay=0.5), Plan()), model)
    scales = {name: group["lr_scale"] for name, group in groups.items()}
    assert scales["embed.weight"] == 0.125
    assert (scales["blocks.0.weight"], scales["blocks.1.bias"]) == (0.25, 0.5)
    assert scales["head.weight"] == scales["head.bias"] == 1.0


def test_groups_may_be_ones_own(tmp_path: Path) -> None:
    still = replace(line(), parameter_groups=lambda model: [{"params": list(model.parameters()), "lr_scale": 0.0}])
    before = copy.deepcopy(still.model.state_dict())
    fit(still, replace(SHORT, weight_decay=0.0), tmp_path, recipe="line", quiet=True)
    assert all(tensor.equal(before[name]) for name, tensor in still.model.state_dict().items())


def test_sgd_takes_the_steps_of_a_hand_and_goes_on_with_its_momentum(tmp_path: Path) -> None:
    plan = replace(SHORT, optimizer="sgd", momentum=0.5, steps=3, grad_clip=0.0, save=1, keep=3)
    fit(line(), plan, tmp_path / "line", recipe="line", quiet=True)
    by_hand = line()
    source: Any = by_hand.batches
    velocity = [torch.zeros_like(p) for p in by_hand.model.parameters()]
    for _ in range(3):
        x = next(source)
        gradients = torch.autograd.grad(by_hand.loss(by_hand.model, x) / len(x), list(by_hand.model.parameters()))
        with torch.no_grad():
            for i, (p, g) in enumerate(zip(by_hand.model.parameters(), gradients, strict=True)):
                velocity[i] = 0.5 * velocity[i] + g
                p.sub_(0.1 * velocity[i])
    found, _ = checkpoint.read(newest(tmp_path / "line") or tmp_path)
    torch.testing.assert_close(found["model.weight"], by_hand.model.state_dict()["weight"])
    copied = Copy(optimizer="sgd", lr=0.1, momentum=0.9)
    train(tmp_path / "whole", copied)
    train(tmp_path / "parts", copied, halt=5)
    train(tmp_path / "parts", replace(copied, resume=True))
    assert equal(tmp_path / "whole", tmp_path / "parts")


def test_muon_turns_the_matrices_of_blocks_and_leaves_the_rest_to_adamw(tmp_path: Path) -> None:
    model = nn.ModuleDict({"embed": nn.Embedding(3, 6), "blocks": nn.ModuleList([nn.Linear(6, 9)])})
    given = optimizer.build(line(model=model), Plan(optimizer="muon", lr=0.1, weight_decay=0.0))
    before = copy.deepcopy(model.state_dict())
    beside = torch.optim.AdamW([before["embed.weight"].requires_grad_()], lr=0.1, weight_decay=0.0)
    before["embed.weight"].grad = torch.randn(3, 6)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    model["embed"].weight.grad = before["embed.weight"].grad.clone()
    given.step()
    beside.step()
    torch.testing.assert_close(model["embed"].weight, before["embed.weight"])
    moved = (before["blocks.0.weight"] - model["blocks"][0].weight) / (0.1 * 0.2 * 9**0.5)
    stretched = torch.linalg.svdvals(moved.detach())
    assert 0.5 < float(stretched.min()) <= float(stretched.max()) < 1.5  # every direction by about the same
    assert model["blocks"][0].weight.grad is not None
    copied = Copy(optimizer="muon", lr=0.01)
    train(tmp_path / "whole", copied)
    train(tmp_path / "parts", copied, halt=5)
    train(tmp_path / "parts", replace(copied, resume=True))
    assert equal(tmp_path / "whole", tmp_path / "parts")


def test_muon_turns_the_filters_of_a_convolution_and_none_that_see_a_channel_each() -> None:
    torch.manual_seed(0)
    full, apart = nn.Conv2d(2, 6, 3), nn.Conv2d(6, 6, 3, groups=6)
    model = nn.ModuleDict({"blocks": nn.ModuleList([full, apart])})
    given = optimizer.build(line(model=model), Plan(optimizer="muon", lr=0.1, weight_decay=0.0))
    before = full.weight.detach().clone()
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    given.step()
    after = full.weight.detach()
    torch.testing.assert_close(after.norm(), before.norm())  # it has turned, and is as long as it was
    grown = (before.norm() ** 2 + 6 * (0.1 * 0.2) ** 2 * 18) ** 0.5 / before.norm()  # by a step across itself, about
    stretched = torch.linalg.svdvals((before - after * grown).flatten(1) / (0.1 * 0.2 * 18**0.5))
    assert 0.5 < float(stretched.min()) <= float(stretched.max()) < 1.5
    assert not names(given, model)["blocks.1.weight"]["orthogonal"]


def test_muon_is_refused_where_it_has_no_matrices() -> None:
    with pytest.raises(ValueError, match="need --optimizer adamw"):
        optimizer.build(line(), Plan(optimizer="muon"))
    with pytest.raises(ValueError, match="need --optimizer adamw"):
        optimizer.build(task(Copy()), Plan(optimizer="muon", parallel="fsdp"))


class Distilled(nn.Module):
    """A student and the moving average of it that teaches."""

    def __init__(self) -> None:
        super().__init__()
        self.student, self.teacher = nn.Linear(1, 1), nn.Linear(1, 1)
        self.teacher.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.student(x) + 0.1 * (self.student(x) - self.teacher(x))


def follow(model: nn.Module, step: int) -> None:
    for mine, theirs in zip(model.teacher.parameters(), model.student.parameters(), strict=True):
        mine.lerp_(theirs, 0.1 / step)


def test_a_teacher_that_follows_its_student_is_kept_so_that_a_run_goes_on_bit_by_bit(tmp_path: Path) -> None:
    def distilled() -> Any:
        torch.manual_seed(0)
        return replace(line(model=Distilled()), after_step=follow)

    plan = replace(SHORT, schedule="constant")
    fit(distilled(), plan, tmp_path / "whole", recipe="x", quiet=True)
    fit(distilled(), replace(plan, steps=7), tmp_path / "parts", recipe="x", quiet=True)
    fit(distilled(), replace(plan, resume=True), tmp_path / "parts", recipe="x", quiet=True)
    one, other = (checkpoint.read(newest(tmp_path / name) or tmp_path)[0] for name in ("whole", "parts"))
    assert one.keys() == other.keys()
    assert all(one[name].equal(other[name]) for name in one)
    assert not one["model.teacher.weight"].equal(distilled().model.teacher.weight)


def test_a_metric_that_nobody_scores_is_named(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="the metric is 'bleu', and the scores are val_loss; name one of them"):
        fit(replace(line(), metric="bleu"), SHORT, tmp_path, recipe="line", quiet=True)
