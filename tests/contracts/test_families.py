"""What every family of models promises, whoever wrote it."""

import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import regard.models
from regard.attention import record
from regard.models.family import Family, _registered, build, families, family, register

every_family = pytest.mark.parametrize("one", families().values(), ids=lambda one: one.name)


def nano(one: Family) -> nn.Module:
    (name,) = (name for name in one.presets if name.endswith("-nano"))
    return one.build(name).eval()


def fold(output: object) -> list[Tensor]:
    """The tensors of whatever a model returns."""
    if isinstance(output, Tensor):
        return [output]
    if is_dataclass(output):
        output = [getattr(output, field.name) for field in fields(output)]
    parts = output.values() if isinstance(output, Mapping) else output if isinstance(output, list | tuple) else ()
    return [tensor for part in parts for tensor in fold(part)]


def same(one: object, other: object) -> bool:
    return all(x.equal(y) for x, y in zip(fold(one), fold(other), strict=True))


@every_family
def test_a_family_is_called_as_its_file_and_its_presets_begin_with_its_name(one: Family) -> None:
    assert one.model.__module__ == one.config.__module__
    assert one.name in one.model.__module__
    assert {preset.split("-")[0] for preset in one.presets} == {one.name}


@every_family
def test_a_config_is_frozen_small_and_knows_the_papers_base_model(one: Family) -> None:
    config = one.config()
    assert is_dataclass(config)
    assert 2 <= len(fields(config)) <= 20
    with pytest.raises((FrozenInstanceError, AttributeError)):
        setattr(config, fields(config)[0].name, 1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'widht'"):
        one.config(widht=1)


@every_family
def test_every_published_size_can_be_built_and_the_nano_is_one_that_a_test_can_afford(one: Family) -> None:
    for preset in one.presets:
        with torch.device("meta"):
            model = one.build(preset)
        assert model.config == one.presets[preset]
    assert sum(p.numel() for p in nano(one).parameters()) < 200_000


@every_family
def test_a_model_answers_its_example_in_finite_numbers_and_always_the_same(one: Family) -> None:
    model = nano(one)
    inputs = one.example(model.config)
    output = model(**inputs)
    assert fold(output)
    assert all(tensor.isfinite().all() for tensor in fold(output) if tensor.is_floating_point())
    assert same(output, model(**inputs))


@every_family
@torch.no_grad()
def test_one_of_a_batch_is_answered_as_if_it_were_alone(one: Family) -> None:
    model = nano(one)
    inputs = one.example(model.config)
    assert all(value.shape[0] == 2 for value in inputs.values() if isinstance(value, Tensor))
    together = fold(model(**inputs))
    for i in range(2):
        alone = fold(model(**{name: x[i : i + 1] if isinstance(x, Tensor) else x for name, x in inputs.items()}))
        for both, single in zip(together, alone, strict=True):
            torch.testing.assert_close(single, both[i : i + 1] if both.shape else both, atol=1e-5, rtol=1e-4)


@every_family
def test_gradients_reach_every_parameter_that_is_not_frozen(one: Family) -> None:
    model = nano(one)
    sum(tensor.square().sum() for tensor in fold(model(**one.example(model.config))) if tensor.requires_grad).backward()
    for name, parameter in model.named_parameters():
        if name.startswith(one.frozen or ("\0",)):
            assert parameter.grad is None, name
        else:
            assert parameter.grad is not None, name
            assert parameter.grad.isfinite().all(), name


@every_family
def test_a_model_built_without_weights_and_loaded_answers_as_the_one_that_was_saved(one: Family) -> None:
    saved = nano(one)
    inputs = one.example(saved.config)
    with torch.device("meta"):
        loaded = nano(one)
    loaded.load_state_dict(saved.state_dict(), assign=True)
    assert same(loaded(**inputs), saved(**inputs))


@every_family
def test_a_model_can_be_copied_and_pickled(one: Family) -> None:
    model = nano(one)
    inputs = one.example(model.config)
    for other in (deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert same(other(**inputs), model(**inputs))


@every_family
@torch.no_grad()
def test_watching_changes_no_bit(one: Family) -> None:
    model = nano(one)
    inputs = one.example(model.config)
    with record(model) as trace:
        watched = model(**inputs)
    assert same(watched, model(**inputs))
    watchable = [name for name, module in model.named_modules() if getattr(type(module), "watched", False)]
    assert sorted(trace.names) == sorted(watchable)


@every_family
def test_a_class_is_found_by_its_name_alone(one: Family) -> None:
    assert family(one.name) is one
    assert getattr(regard.models, one.model.__name__) is one.model
    assert one.model.__name__ in dir(regard.models)
    with pytest.raises(KeyError, match=f"no preset is called 'huge'; try {one.name}"):
        one.build("huge")


def test_a_name_that_no_model_has_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match=r"module 'regard.models' has no attribute 'Perceptron'"):
        _ = regard.models.Perceptron


def test_a_preset_is_enough_to_build_a_model_and_its_fields_can_be_changed() -> None:
    config = family("deepsets").presets["deepsets-nano"]
    assert build("deepsets-nano").config == config
    assert build("deepsets-nano", width=24, pooling="mean").config == replace(config, width=24, pooling="mean")
    with pytest.raises(KeyError, match="no model is called 'deepsets-tiny'; try deepsets"):
        build("deepsets-tiny")
    with pytest.raises(ValueError, match="deepsets has no field widht, heads; its fields are inputs, width, depth"):
        build("deepsets-nano", widht=24, depth=2, heads=1)


@pytest.mark.parametrize("change", [{"attention": "none"}, {"attention": "dot", "bidirectional": False}])
def test_the_tiny_recurrent_translator_does_without_attention_or_with_another(change: dict[str, Any]) -> None:
    with torch.device("meta"):
        assert build("seq2seq-tiny", **change).config.attention == change["attention"]


def test_an_unknown_family_is_answered_with_the_nearest() -> None:
    with pytest.raises(KeyError, match="no family is called 'deepset'; try deepsets"):
        family("deepset")
    for name in ("family", "os", "..", "", "__init__"):
        with pytest.raises(KeyError, match="no family is called"):
            family(name)


def test_building_a_model_imports_no_other() -> None:
    code = (
        "import sys; from regard.models import build; build('tcn-nano');"
        "print([name for name in sys.modules if name.startswith('regard.models.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "['regard.models.family', 'regard.models.tcn']"


# --- families from outside of the package


class Mine(nn.Module):
    """A model of somebody else."""


@pytest.fixture
def mine() -> Iterator[Family]:
    yield replace(family("deepsets"), name="mine", presets={"mine-nano": family("deepsets").presets["deepsets-nano"]})
    _registered.pop("mine", None)


def test_a_registered_family_is_a_family(mine: Family) -> None:
    with pytest.raises(KeyError):
        build("mine-nano")
    register(mine)
    register(mine)
    register(replace(mine))  # as a notebook does when its cell runs again
    assert type(build("mine-nano")) is mine.model
    assert families()["mine"] == family("mine") == mine


def test_a_name_is_given_once(mine: Family) -> None:
    register(mine)
    with pytest.raises(ValueError, match=r"the name 'mine' belongs to regard.models.deepsets.DeepSets; give your fam"):
        register(replace(mine, model=Mine))
    with pytest.raises(ValueError, match=r"the name 'tcn' belongs to regard.models.tcn; give your family another"):
        register(replace(mine, name="tcn", presets={}))


def test_names_that_could_not_be_found_again_are_refused(mine: Family) -> None:
    with pytest.raises(ValueError, match="the preset 'large' does not begin with 'mine'; try mine-large"):
        replace(mine, presets={"large": None})
    with pytest.raises(ValueError, match="the family 'my-own' has a hyphen; call it my_own"):
        replace(mine, name="my-own", presets={})


PLUGIN = """
from dataclasses import dataclass
import torch
from torch import nn
from regard.models import Family

@dataclass(frozen=True)
class Config:
    width: int = 4

class Outsider(nn.Linear):
    def __init__(self, config):
        super().__init__(config.width, 1)
        self.config = config

FAMILY = Family("outsider", Config, Outsider, {"outsider-nano": Config()}, lambda c: {"input": torch.randn(2, c.width)})
"""


def test_a_plugin_is_a_family_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outsider.py").write_text(PLUGIN)
    monkeypatch.setenv("REGARD_PLUGINS", str(tmp_path))
    one = families()["outsider"]
    assert one is family("outsider")
    assert regard.models.Outsider is one.model
    model = build("outsider-nano", width=6)
    assert model(**one.example(model.config)).shape == (2, 1)
