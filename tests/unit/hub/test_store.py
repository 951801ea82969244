"""A model comes back from its folder as it went in, and a bad folder is named for what is wrong with it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from regard.hub import CheckpointError, convert, find, load, save, store
from regard.models import register
from regard.models.deepsets import Config, DeepSets
from regard.models.family import Family, families, family
from regard.names import Dtype
from regard.text import Tokenizer
from regard.zoo import zoo

X = torch.randn(2, 5, 2)


@pytest.fixture
def sets() -> Family:
    return family("deepsets")


@pytest.fixture
def model(sets: Family) -> nn.Module:
    return sets.build("deepsets-nano").eval()


@pytest.fixture
def folder(tmp_path: Path, model: nn.Module, sets: Family) -> Path:
    tokenizer = Tokenizer.train(["ein Hund"], kind="words", vocab=6)
    save(tmp_path / "model", model, family=sets, card={"seed": 3}, tokenizer=tokenizer)
    return tmp_path / "model"


def test_a_model_comes_back_as_it_went(folder: Path, model: nn.Module) -> None:
    stored = load(folder)
    assert stored.family.name == "deepsets"
    assert stored.card == {"seed": 3}
    assert (stored.folder, stored.name) == (folder, folder.parent.name)
    assert stored.tokenizer is not None
    assert stored.tokenizer.decode(stored.tokenizer.encode(["ein Hund"])[0]) == "ein Hund"
    assert stored.model(X).equal(model(X))
    assert sorted(path.name for path in folder.iterdir()) == [
        "card.json",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]


@pytest.mark.parametrize("one", families().values(), ids=lambda one: one.name)
def test_every_family_can_be_stored(one: Family, tmp_path: Path) -> None:
    nano = one.build(next(name for name in one.presets if name.endswith("-nano")))
    save(tmp_path / "model", nano, family=one)
    again = load(tmp_path / "model").model
    assert again.config == nano.config
    for name, tensor in nano.state_dict().items():
        assert again.state_dict()[name].equal(tensor), name


def test_half_precision_takes_half_the_place(tmp_path: Path, sets: Family) -> None:
    model = sets.build()
    dtypes: tuple[Dtype, ...] = ("float32", "bfloat16", "int8")
    for dtype in dtypes:
        save(tmp_path / dtype, model, family=sets, dtype=dtype)
    whole, half, quarter = ((tmp_path / name / "model.safetensors").stat().st_size for name in dtypes)
    assert half < 0.51 * whole
    assert quarter < 0.27 * whole
    x = torch.randn(1, 4, 3)
    torch.testing.assert_close(load(tmp_path / "bfloat16").model(x), model(x), atol=0.05, rtol=0.05)
    torch.testing.assert_close(load(tmp_path / "int8").model(x), model(x), atol=0.1, rtol=0.1)


@pytest.mark.parametrize("one", families().values(), ids=lambda one: one.name)
def test_int8_is_off_by_half_a_step_of_its_row_at_most(one: Family, tmp_path: Path) -> None:
    nano = one.build(next(name for name in one.presets if name.endswith("-nano")))
    with torch.no_grad():
        next(each for each in nano.parameters() if each.ndim > 1)[0] = 0.0  # a row of zeros has a scale all the same
    save(tmp_path / "model", nano, family=one, dtype="int8")
    again = load(tmp_path / "model").model.state_dict()
    for name, tensor in nano.state_dict().items():
        assert again[name].dtype == tensor.dtype
        if tensor.ndim < 2 or not tensor.is_floating_point():
            assert again[name].equal(tensor), name
            continue
        step = tensor.flatten(1).abs().amax(dim=1, keepdim=True) / 127
        assert ((again[name] - tensor).flatten(1).abs() <= 0.5001 * step + 1e-30).all(), name


def test_a_model_that_was_int8_is_the_same_when_stored_again(tmp_path: Path, sets: Family) -> None:
    save(tmp_path / "once", sets.build(), family=sets, dtype="int8")
    once = load(tmp_path / "once").model
    save(tmp_path / "twice", once, family=sets, dtype="int8")
    for name, tensor in load(tmp_path / "twice").model.state_dict().items():
        torch.testing.assert_close(tensor, once.state_dict()[name], rtol=1e-6, atol=0)


def test_a_folder_is_converted_and_all_else_in_it_stays(folder: Path, model: nn.Module) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    convert(folder, "int8")
    for name, data in before.items():
        same = (folder / name).read_bytes() == data
        assert same == (name != "model.safetensors"), name
    torch.testing.assert_close(load(folder).model(X), model(X), atol=0.1, rtol=0.1)
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match="is damaged"):
        convert(folder, "float32")


def test_the_type_that_is_asked_for_is_given(folder: Path) -> None:
    assert {each.dtype for each in load(folder, dtype=torch.bfloat16).model.parameters()} == {torch.bfloat16}
    assert {each.device.type for each in load(folder, device="meta").model.parameters()} == {"meta"}


@pytest.mark.usefixtures("as_users_meet_it")
def test_other_types_are_not_stored(tmp_path: Path, sets: Family) -> None:
    with pytest.raises(ValueError, match="not stored as 'int4'; choose float32, bfloat16, int8"):
        save(tmp_path / "model", sets.build("deepsets-nano"), family=sets, dtype="int4")


class Own(DeepSets):
    pass


def test_a_family_of_your_own_is_registered_before_it_is_saved(
    tmp_path: Path, sets: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.models.family._registered", {})
    own = replace(sets, name="own", model=Own, presets={})
    with pytest.raises(ValueError, match=r"no registered family 'own' has the model Own, .*; call regard.register"):
        save(tmp_path / "model", Own(Config()), family=own)
    with pytest.raises(ValueError, match="no registered family 'deepsets' has the model Own"):
        save(tmp_path / "model", Own(Config()), family=replace(own, name="deepsets"))
    assert not (tmp_path / "model").exists()
    register(own)
    save(tmp_path / "model", Own(Config()), family=own)
    assert type(load(tmp_path / "model").model) is Own


def test_a_model_is_found_by_name_by_folder_and_by_run(tmp_path: Path, folder: Path) -> None:
    first = next(iter(zoo()))
    assert find(first) == (zoo()[first], first)
    assert find(folder) == (folder, folder.parent.name)  # a folder called model is that of a run
    assert find(tmp_path) == (folder, tmp_path.name)
    assert load(str(tmp_path)).name == tmp_path.name
    for wanted in ("", "nowhere", tmp_path / "nowhere", "x" * 5000, "a\0b"):
        with pytest.raises(CheckpointError, match="no model is called"):
            load(wanted)


def test_a_folder_is_replaced_whole(folder: Path, sets: Family) -> None:
    other = sets.build("deepsets-nano").eval()
    save(folder, other, family=sets)
    assert load(folder).model(X).equal(other(X))
    assert not (folder / "tokenizer.json").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_what_fails_on_the_way_leaves_the_old_model(
    folder: Path, model: nn.Module, sets: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(store, "save_file", full)
    with pytest.raises(OSError, match="No space left"):
        save(folder, sets.build("deepsets-nano"), family=sets)
    assert load(folder).model(X).equal(model(X))
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_a_model_of_another_family_is_refused(tmp_path: Path, sets: Family) -> None:
    with pytest.raises(TypeError, match="a GraphTransformer is no model of the family deepsets, whose is DeepSets"):
        save(tmp_path / "model", family("graph").build("graph-nano"), family=sets)


def rewritten(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_all_that_is_wrong_with_a_config_is_told_at_once(folder: Path) -> None:
    rewritten(folder, config={"inputs": "two", "width": 16, "depth": 2, "pooling": "max", "colour": 3})
    with pytest.raises(CheckpointError, match=r"does not fit regard.models.deepsets") as error:
        load(folder)
    for words in ("missing field 'classes'", "unknown field 'colour'", "inputs is 'two', not int", "pooling is 'max'"):
        assert words in str(error.value)


def test_numbers_of_another_size_are_told_apart(folder: Path) -> None:
    rewritten(folder, config={"inputs": 2, "width": 8, "depth": 2, "classes": 3, "pooling": "sum"})
    with pytest.raises(ValueError, match=r"does not fit its config: phi.0.bias has shape \(16,\), not \(8,\)"):
        load(folder)


def test_other_formats_and_families_are_named(folder: Path) -> None:
    rewritten(folder, format=2)
    with pytest.raises(ValueError, match="has format 2, and this regard reads 1; update it"):
        load(folder)
    rewritten(folder, format=1, family="deepest")
    with pytest.raises(CheckpointError, match="no family is called 'deepest'; try deepsets"):
        load(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "card.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    words = "holds no model" if name == "config.json" else f"{name} is missing; the folder of a model holds config.json"
    with pytest.raises(CheckpointError, match=words):
        load(folder)
