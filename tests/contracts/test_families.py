"""What every family of models promises, whoever wrote it."""

import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest
import torch
from torch import Tensor, nn

from regard.models.family import Family, build, families, family

# What each family is called with, at its nano size.
INPUTS: dict[str, tuple[Tensor, ...]] = {
    "deepsets": (torch.randn(2, 5, 2),),
    "graph": (torch.randn(2, 5, 3), (torch.eye(5).roll(1, 1) + torch.eye(5).roll(-1, 1)).bool().expand(2, 5, 5)),
    "intra": (torch.randint(120, (2, 5)),),
    "memnet": (torch.randint(16, (2, 4, 3)), torch.randint(16, (2, 3))),
    "seq2seq": (torch.randint(40, (2, 5)), torch.randint(48, (2, 4))),
    "tcn": (torch.randint(16, (2, 5)),),
    "transformer": (torch.randint(48, (2, 5)), torch.randint(48, (2, 4))),
}


def nano(one: Family) -> nn.Module:
    (name,) = (name for name in one.presets if name.endswith("-nano"))
    return one.build(name).eval()


every_family = pytest.mark.parametrize("one", families().values(), ids=lambda one: one.name)


def test_the_folder_is_the_registry() -> None:
    assert {"deepsets", "graph"} <= set(families())


@every_family
def test_a_config_is_frozen_small_and_knows_the_papers_base_model(one: Family) -> None:
    config = one.config()
    assert is_dataclass(config)
    assert 3 <= len(fields(config)) <= 12
    with pytest.raises((FrozenInstanceError, AttributeError)):
        config.width = 1
    with pytest.raises(TypeError, match="unexpected keyword argument 'widht'"):
        one.config(widht=1)


@every_family
def test_a_family_has_a_nano_that_a_test_can_afford(one: Family) -> None:
    model = nano(one)
    assert sum(p.numel() for p in model.parameters()) < 200_000
    assert model.config in one.presets.values()


@every_family
def test_a_model_answers_and_learns(one: Family) -> None:
    model = nano(one)
    model(*INPUTS[one.name]).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@every_family
def test_a_model_built_without_numbers_and_loaded_answers_as_the_one_that_was_saved(one: Family) -> None:
    saved = nano(one)
    with torch.device("meta"):
        loaded = nano(one)
    loaded.load_state_dict(saved.state_dict(), assign=True)
    assert loaded(*INPUTS[one.name]).equal(saved(*INPUTS[one.name]))


@every_family
def test_a_model_can_be_copied_and_sent(one: Family) -> None:
    model = nano(one)
    for other in (deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other(*INPUTS[one.name]).equal(model(*INPUTS[one.name]))


@every_family
def test_a_family_answers_to_its_name_alone(one: Family) -> None:
    assert family(one.name) is one
    with pytest.raises(KeyError, match=f"{one.name} has no size 'huge'; choose from "):
        one.build("huge")


def test_a_size_is_enough_to_build_a_model() -> None:
    assert build("deepsets-nano").config == family("deepsets").presets["deepsets-nano"]
    with pytest.raises(KeyError, match="no model has the size 'deepsets-tiny'; try deepsets"):
        build("deepsets-tiny")


def test_an_unknown_family_is_answered_with_the_nearest() -> None:
    with pytest.raises(KeyError, match="no family is called 'deepset'; try deepsets"):
        family("deepset")
