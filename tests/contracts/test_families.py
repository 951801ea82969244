"""What every family of models promises, whoever wrote it."""

from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest
from torch import nn

from regard.models.family import Family, families, family

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
    (nano,) = (name for name in one.presets if name.endswith("-nano"))
    model = one.build(nano)
    assert isinstance(model, nn.Module)
    assert sum(p.numel() for p in model.parameters()) < 200_000
    assert model.config == one.presets[nano]


@every_family
def test_a_family_answers_to_its_name_alone(one: Family) -> None:
    assert family(one.name) is one
    with pytest.raises(KeyError, match=f"{one.name} has no size 'huge'; choose from "):
        one.build("huge")


def test_an_unknown_family_is_answered_with_the_nearest() -> None:
    with pytest.raises(KeyError, match="no family is called 'deepset'; try deepsets"):
        family("deepset")
