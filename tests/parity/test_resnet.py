"""ResNet as `transformers` has it: the same weights see the same, in and out."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tests.parity.pictures import change_config, close, opened
from tests.parity.pictures import theirs as theirs_of
from torch import Tensor

from regard.hub import CheckpointError, export, load, save
from regard.hub.tables.resnet import TABLE
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.models.resnet import FAMILY, Config, ResNet

SIZE = dict(embedding_size=8, hidden_sizes=[16, 32, 24], depths=[1, 2, 1], num_labels=3)
IMAGE = torch.randn(2, 3, 40, 52, generator=torch.Generator().manual_seed(1))
kinds = pytest.mark.parametrize("kind", ["basic", "bottleneck"])
architectures = pytest.mark.parametrize("architecture", ["ResNetForImageClassification", "ResNetModel"])


def theirs(architecture: str, **changes: Any) -> Any:
    model = theirs_of(architecture, transformers.ResNetConfig(**SIZE | changes))
    for buffer in model.buffers():  # what batch norms have seen, too
        if buffer.is_floating_point():
            buffer.uniform_(0.5, 1.5)
        else:
            buffer.fill_(7)
    return model


def maps(ours: ResNet, image: Tensor) -> list[Tensor]:
    """What the stem and each stage hand on."""
    x = ours.stem(image)
    found = [x]
    for stage in ours.stages:
        x = stage(x)
        found.append(x)
    return found


def compare(ours: Any, other: Any) -> None:
    told = other(IMAGE, output_hidden_states=True)
    close(ours(IMAGE), told.logits if "logits" in told else told.pooler_output.flatten(1))
    for mine, their in zip(maps(ours, IMAGE), told.hidden_states, strict=True):
        close(mine, their)
    close(ours.features(IMAGE).permute(0, 3, 1, 2), told.hidden_states[-1])


@torch.no_grad()
@architectures
@kinds
def test_a_resnet_of_hugging_face_sees_as_before_and_goes_back(tmp_path: Path, architecture: str, kind: str) -> None:
    other = theirs(architecture, layer_type=kind)
    other.save_pretrained(tmp_path / "in")
    found = load(tmp_path / "in")
    assert found.card["task"] == ("recognize" if "Classification" in architecture else "features")
    assert found.model.config.block == kind
    compare(found.model, other)
    assert {int(x) for name, x in found.model.state_dict().items() if name.endswith("tracked")} == {7}
    export(tmp_path / "out", found.model)
    compare(found.model, opened(architecture, tmp_path / "out"))
    assert load(tmp_path / "out").model.config == found.model.config


@torch.no_grad()
@pytest.mark.parametrize("changes", [{"num_channels": 3}, {"hidden_sizes": [12, 20], "depths": [2, 1]}], ids=str)
def test_settings_are_honoured_both_ways(tmp_path: Path, changes: dict[str, Any]) -> None:
    other = theirs("ResNetForImageClassification", **changes)
    other.save_pretrained(tmp_path)
    compare(load(tmp_path).model, other)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"hidden_act": "gelu"}, "hidden_act is gelu, and only relu is supported"),
        ({"downsample_in_first_stage": True}, "downsample_in_first_stage is True, and only False is supported"),
        ({"downsample_in_bottleneck": True}, "downsample_in_bottleneck is True, and only False is supported"),
        ({"layer_type": "dense"}, "block is 'dense', not"),
        ({"depths": [1, 2]}, "widths (16, 32, 24) and depths (1, 2) do not describe the same stages"),
        ({"groups": 32}, "groups is not known"),
        ({"architectures": ["ResNetBackbone"]}, "architectures is ['ResNetBackbone']; known are ResNetForImage"),
        ({"hidden_sizes": [16, 32, 48]}, "has shape"),
    ],
    ids=str,
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    theirs("ResNetForImageClassification").save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert why in str(caught.value)


def test_every_field_that_transformers_writes_is_known(tmp_path: Path) -> None:
    theirs("ResNetForImageClassification").save_pretrained(tmp_path)
    every = transformers.ResNetConfig(**SIZE).to_dict() | {"architectures": ["ResNetForImageClassification"]}
    (tmp_path / "config.json").write_text(json.dumps(every))
    expected = Config(stem_width=8, widths=(16, 32, 24), depths=(1, 2, 1), classes=3)
    assert load(tmp_path).model.config == expected


def test_the_table_claims_every_tensor_of_ours_once() -> None:
    ours = ResNet(Config(stem_width=8, widths=(16, 32), depths=(1, 2), classes=3)).state_dict()
    back = load_rules(TABLE.rules_of({}, {}), save_rules(TABLE.rules_of({}, {}), ours))
    assert back.keys() == ours.keys()
    assert all(back[name].equal(tensor) for name, tensor in ours.items())


def test_parts_that_theirs_has_not_are_refused_by_their_names(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no such ResNet: attend is \(2,\) and must be \[\]; deformable is"):
        export(tmp_path, FAMILY.build("resnet-nano"))


@torch.no_grad()
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_what_batch_norms_have_seen_is_kept_in_a_folder_of_ours(tmp_path: Path, dtype: Any) -> None:
    model = FAMILY.build("resnet-nano")
    model(torch.randn(4, 3, 32, 32))  # in training, so that statistics move
    save(tmp_path, model, family=FAMILY, dtype=dtype)
    again = load(tmp_path).model
    tolerance = {"float32": 0.0, "bfloat16": 1e-2, "int8": 1e-6}[dtype]
    for name, tensor in model.state_dict().items():
        if "running" in name or "tracked" in name:
            torch.testing.assert_close(again.state_dict()[name], tensor, atol=tolerance, rtol=tolerance)


def test_loading_draws_no_first_weights_which_would_import_a_compiler(tmp_path: Path) -> None:
    save(tmp_path / "nano", FAMILY.build("resnet-nano"), family=FAMILY)
    code = f"import sys; from regard.hub import load; load({str(tmp_path / 'nano')!r}); print('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "False"
