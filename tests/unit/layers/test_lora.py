"""Low-rank adaptation: a frozen matrix, two thin ones beside it, and one matrix in the end."""

import copy

import pytest
import torch
from torch import nn

from regard.layers.lora import LoRA, adapt, merge
from regard.models import build


def test_an_adapted_model_is_at_first_the_model_that_it_was() -> None:
    model = build("bert-nano", head="none").eval()
    ids = torch.randint(48, (2, 7))
    before = model(ids).hidden
    assert len(adapt(model, 2)) == 4
    torch.testing.assert_close(model(ids).hidden, before)


def test_only_the_thin_matrices_learn() -> None:
    model = build("bert-nano", head="none")
    adapt(model, 2, layers=("q",))
    learning = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert {name.rpartition(".")[2] for name in learning} == {"up", "down"}
    model(torch.randint(48, (2, 7))).hidden.square().sum().backward()
    assert all(p.grad is not None for n, p in model.named_parameters() if n in learning and n.endswith("up"))


def test_merging_keeps_every_output_and_leaves_a_plain_model() -> None:
    model = build("bert-nano", head="none").eval()
    names = list(model.state_dict())
    adapt(model, 3, layers=("q", "v", "up"))
    for module in model.modules():
        if isinstance(module, LoRA):
            nn.init.normal_(module.up)
    ids = torch.randint(48, (2, 7))
    before = model(ids).hidden
    merge(model)
    torch.testing.assert_close(model(ids).hidden, before, atol=1e-4, rtol=1e-4)
    assert list(model.state_dict()) == names
    assert not any(isinstance(module, LoRA) for module in model.modules())


def test_the_rank_is_that_of_the_change() -> None:
    layer = LoRA(nn.Linear(8, 6), 2)
    nn.init.normal_(layer.up)
    change = layer.merged().weight - layer.weight
    assert torch.linalg.matrix_rank(change) == 2


def test_a_copy_learns_apart_from_its_original() -> None:
    model = nn.Sequential(nn.Linear(4, 4))
    adapt(model, 1, layers=("0",))
    other = copy.deepcopy(model)
    with torch.no_grad():
        other[0].up.add_(1.0)
    assert not model[0].up.any()


def test_what_cannot_be_adapted_is_said() -> None:
    model = build("bert-nano", head="none")
    with pytest.raises(
        ValueError, match=r"no linear layer is called query; this model has dense, down, k, out, q, up, v"
    ):
        adapt(model, 2, layers=("query",))
    with pytest.raises(ValueError, match=r"a rank of 33 does not fit a matrix of 32 × 32; give 1 to 32"):
        adapt(model, 33)
