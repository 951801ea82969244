"""ConvNeXt as `transformers` has it: the same weights see the same, in and out."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tests.parity.pictures import change_config, close, opened
from tests.parity.pictures import theirs as theirs_of

from regard.hub import CheckpointError, export, load
from regard.hub.tables.convnext import RULES
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.models.convnext import Config, ConvNeXt

SIZE = dict(hidden_sizes=[8, 16, 12], depths=[1, 2, 1], num_stages=3, image_size=32, num_labels=3)
IMAGE = torch.randn(2, 3, 36, 44, generator=torch.Generator().manual_seed(1))
architectures = pytest.mark.parametrize("architecture", ["ConvNextForImageClassification", "ConvNextModel"])


def theirs(architecture: str, **changes: Any) -> Any:
    return theirs_of(architecture, transformers.ConvNextConfig(**SIZE | changes))


def compare(ours: Any, other: Any) -> None:
    told = other(IMAGE, output_hidden_states=True)
    close(ours(IMAGE), told.logits if "logits" in told else told.pooler_output)
    x = ours.stem_norm(ours.stem(IMAGE))
    maps = [x]
    for stage in ours.stages:
        x = stage(x)
        maps.append(x)
    for mine, their in zip(maps, told.hidden_states, strict=True):
        close(mine.permute(0, 3, 1, 2), their)
    close(ours.features(IMAGE), maps[-1])


@torch.no_grad()
@architectures
def test_a_convnext_of_hugging_face_sees_as_before_and_goes_back(tmp_path: Path, architecture: str) -> None:
    other = theirs(architecture)
    other.save_pretrained(tmp_path / "in")
    found = load(tmp_path / "in")
    assert found.card["task"] == ("recognize" if "Classification" in architecture else "features")
    compare(found.model, other)
    export(tmp_path / "out", found.model)
    compare(found.model, opened(architecture, tmp_path / "out"))
    assert load(tmp_path / "out").model.config == found.model.config


@torch.no_grad()
@pytest.mark.parametrize(
    "changes",
    [
        *({"hidden_act": name} for name in ("gelu_new", "relu", "silu")),
        {"layer_norm_eps": 0.1},
        {"layer_scale_init_value": 0.0},
        {"patch_size": 2},
        {"patch_size": [4, 4], "image_size": [32, 32]},
        {"drop_path_rate": 0.3},
    ],
    ids=str,
)
def test_settings_are_honoured_both_ways(tmp_path: Path, changes: dict[str, Any]) -> None:
    other = theirs("ConvNextForImageClassification", **changes)
    other.save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    export(tmp_path / "out", ours)
    for each in (other, opened("ConvNextForImageClassification", tmp_path / "out")):
        compare(ours, each)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"hidden_act": "mish"}, "hidden_act is 'mish'; known are gelu"),
        ({"num_stages": 2}, "num_stages is 2 and hidden_sizes has 3, and they must be the same"),
        ({"patch_size": [4, 2]}, "patch_size is [4, 2], and only squares are supported"),
        ({"kernel_size": 3}, "kernel_size is not known"),
        ({"layer_scale_init_value": "small"}, "layer_scale is 'small', not"),
        ({"architectures": ["ConvNextBackbone"]}, "architectures is ['ConvNextBackbone']; known are ConvNextForImage"),
        ({"hidden_sizes": [8, 16, 20]}, "has shape"),
    ],
    ids=str,
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    theirs("ConvNextForImageClassification").save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert why in str(caught.value)


def test_every_field_that_transformers_writes_is_known(tmp_path: Path) -> None:
    theirs("ConvNextForImageClassification").save_pretrained(tmp_path)
    every = transformers.ConvNextConfig(**SIZE).to_dict() | {"architectures": ["ConvNextForImageClassification"]}
    (tmp_path / "config.json").write_text(json.dumps(every))
    expected = Config(size=32, widths=(8, 16, 12), depths=(1, 2, 1), classes=3, drop_path=0.0, eps=1e-12)
    assert load(tmp_path).model.config == expected


def test_the_table_claims_every_tensor_of_ours_once() -> None:
    ours = ConvNeXt(Config(widths=(8, 16), depths=(1, 2), classes=3)).state_dict()
    back = load_rules(RULES, save_rules(RULES, ours))
    assert back.keys() == ours.keys()
    assert all(back[name].equal(tensor) for name, tensor in ours.items())


def test_kernels_that_theirs_has_not_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no ConvNeXt with kernels of 5; its kernels are 7"):
        export(tmp_path, ConvNeXt(Config(widths=(8,), depths=(1,), kernel=5)))
