"""A model comes back from its folder as it went in, and a bad folder is named for what is wrong with it."""

import json
import struct
from pathlib import Path

import pytest
import torch
from torch import nn

from regard.hub import load, save
from regard.hub import store as files
from regard.models.family import Family, families, family

X = torch.randn(2, 5, 2)


@pytest.fixture
def sets() -> Family:
    return family("deepsets")


@pytest.fixture
def model(sets: Family) -> nn.Module:
    return sets.build("deepsets-nano").eval()


@pytest.fixture
def folder(tmp_path: Path, model: nn.Module, sets: Family) -> Path:
    save(tmp_path / "model", model, sets, card={"seed": 3}, extras={"tokenizer.json": "{}"})
    return tmp_path / "model"


def test_a_model_comes_back_as_it_went(folder: Path, model: nn.Module) -> None:
    stored = load(folder)
    assert stored.family.name == "deepsets"
    assert stored.card == {"seed": 3}
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
    save(tmp_path / "model", nano, one)
    again = load(tmp_path / "model").model
    assert again.config == nano.config
    for name, tensor in nano.state_dict().items():
        assert again.state_dict()[name].equal(tensor), name


def test_half_precision_takes_half_the_place(tmp_path: Path, sets: Family) -> None:
    model = sets.build()
    for name, dtype in (("whole", None), ("half", torch.bfloat16)):
        save(tmp_path / name, model, sets, dtype=dtype)
    whole, half = ((tmp_path / name / "model.safetensors").stat().st_size for name in ("whole", "half"))
    assert half < 0.51 * whole
    x = torch.randn(1, 4, 3)
    torch.testing.assert_close(load(tmp_path / "half").model(x), model(x), atol=0.05, rtol=0.05)


def test_a_folder_is_replaced_whole(folder: Path, sets: Family) -> None:
    other = sets.build("deepsets-nano").eval()
    save(folder, other, sets)
    assert load(folder).model(X).equal(other(X))
    assert not (folder / "tokenizer.json").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_what_fails_on_the_way_leaves_the_old_model(
    folder: Path, model: nn.Module, sets: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(files, "save_file", full)
    with pytest.raises(OSError, match="No space left"):
        save(folder, sets.build("deepsets-nano"), sets)
    assert load(folder).model(X).equal(model(X))
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_a_model_of_another_family_is_refused(tmp_path: Path, sets: Family) -> None:
    with pytest.raises(TypeError, match="a GraphTransformer is no model of the family deepsets, whose is DeepSets"):
        save(tmp_path / "model", family("graph").build("graph-nano"), sets)


def rewritten(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_all_that_is_wrong_with_a_config_is_told_at_once(folder: Path) -> None:
    rewritten(folder, config={"inputs": "two", "width": 16, "depth": 2, "pooling": "max", "colour": 3})
    with pytest.raises(ValueError, match=r"does not fit regard.models.deepsets") as error:
        load(folder)
    for words in ("missing field 'classes'", "unknown field 'colour'", "inputs is 'two', not int", "pooling is 'max'"):
        assert words in str(error.value)


def test_numbers_of_another_size_are_told_apart(folder: Path) -> None:
    rewritten(folder, config={"inputs": 2, "width": 8, "depth": 2, "classes": 3, "pooling": "sum"})
    with pytest.raises(ValueError, match=r"does not fit its config: phi.0.bias has shape \(16,\), not \(8,\)"):
        load(folder)


def test_other_formats_and_families_are_named(folder: Path) -> None:
    rewritten(folder, format=2)
    with pytest.raises(ValueError, match="has format 2, and this regard reads 1; update regard"):
        load(folder)
    rewritten(folder, format=1, family="deepest")
    with pytest.raises(KeyError, match="no family is called 'deepest'; try deepsets"):
        load(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "card.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"{name} is missing; a model folder holds config.json and model.saf"):
        load(folder)


def test_damaged_numbers_are_told_before_they_are_read(folder: Path) -> None:
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    for damaged, words in (
        (whole[:-10], "bytes where its header announces"),
        (whole + b"x", "bytes where its header announces"),
        (whole[:4], "is damaged"),
        (struct.pack("<Q", 2**60) + whole[8:], "its header claims 1,152,921,504,606,846,976 bytes"),
        (struct.pack("<Q", 4) + b"null", "is damaged"),
        (b"", "is damaged"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=words):
            load(folder)


def test_json_from_strangers_is_bounded(folder: Path) -> None:
    for text in ("[1]", "{", "[" * 200_000, '{"a": "' + "x" * (17 * 2**20) + '"}'):
        (folder / "card.json").write_text(text)
        with pytest.raises(ValueError, match=r"card.json cannot be read"):
            load(folder)
