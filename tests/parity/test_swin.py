"""Swin and Swin V2 as `transformers` has them: the same weights see the same and look alike, in and out."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tests.parity.pictures import change_config, close, opened, theirs
from torch import Tensor

from regard.attention import record
from regard.hub import CheckpointError, export, load
from regard.hub.tables import swin, swinv2
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.models.swin import Config, Swin

SIZE = dict(image_size=32, embed_dim=16, depths=[2, 2, 2], num_heads=[2, 4, 4], window_size=4, num_labels=3)
CONFIGS = {"Swinv2": transformers.Swinv2Config, "Swin": transformers.SwinConfig}
ARCHITECTURES = ["SwinForImageClassification", "SwinModel", "Swinv2ForImageClassification", "Swinv2Model"]
every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)
both_versions = pytest.mark.parametrize("architecture", [each for each in ARCHITECTURES if each.endswith("cation")])


def made(architecture: str, **changes: Any) -> Any:
    kind = next(config for name, config in CONFIGS.items() if architecture.startswith(name))
    own = {"pretrained_window_sizes": [0, 0, 0]} if kind is transformers.Swinv2Config else {}
    # The third stage has maps of 2 cells, which the first version of theirs cannot cut into windows of 4.
    small = {} if own else {"depths": [2, 2], "num_heads": [2, 4]}
    return theirs(architecture, kind(**(SIZE | own | small | changes)))


def picture(side: int = 32, other: int | None = None, channels: int = 3) -> Tensor:
    return torch.randn(2, channels, side, other or side, generator=torch.Generator().manual_seed(1))


def compare(ours: Any, other: Any, image: Tensor) -> None:
    """The outcome, the stream behind each block and each stage, and the weights of every attention are the same."""
    streams: list[Tensor] = []
    weights: list[Tensor] = []
    handles = []
    for module in other.modules():
        name = type(module).__name__
        if name in ("SwinLayer", "Swinv2Layer"):
            handles.append(module.register_forward_hook(lambda _, __, out: streams.append(out[0])))
        if name in ("SwinAttention", "Swinv2Attention"):
            handles.append(module.register_forward_hook(lambda _, __, out: weights.append(out[1])))
    told = other(image, output_hidden_states=True, output_attentions=True)
    for handle in handles:
        handle.remove()
    with record(ours, hidden=True) as trace:
        found = ours(image)
    close(found, told.logits if "logits" in told else told.pooler_output)
    if "last_hidden_state" in told:
        close(ours.features(image).flatten(1, 2), told.last_hidden_state)
    blocks = {name: stream for name, (stream,) in trace.hidden.items() if name.count(".") == 2}
    for mine, their in zip(blocks.values(), streams, strict=True):
        close(mine.flatten(1, 2), their)
    ends = [trace.hidden[f"stages.{i}"][0] for i in range(len(ours.stages))]
    for mine, merge, their in zip(ends, [*ours.merges, torch.nn.Identity()], told.hidden_states[1:], strict=True):
        close(merge(mine).flatten(1, 2), their)
    assert len(weights) == sum(ours.config.depths)
    for name, their in zip(trace, weights, strict=True):
        close(trace.weights(name), their)


@torch.no_grad()
@every_architecture
def test_a_swin_of_hugging_face_sees_and_looks_as_before_and_goes_back(tmp_path: Path, architecture: str) -> None:
    other = made(architecture)
    other.save_pretrained(tmp_path / "in")
    found = load(tmp_path / "in")
    assert found.family.name == "swin"
    assert found.card["task"] == ("recognize" if "Classification" in architecture else "features")
    compare(found.model, other, picture())
    export(tmp_path / "out", found.model)
    compare(found.model, opened(architecture, tmp_path / "out"), picture())
    assert load(tmp_path / "out").model.config == found.model.config


@torch.no_grad()
@both_versions
def test_pictures_of_other_sizes_are_seen_alike_where_windows_divide_them(tmp_path: Path, architecture: str) -> None:
    made(architecture, depths=[2, 2], num_heads=[2, 4], **_windows(architecture)).save_pretrained(tmp_path)
    for image in (picture(64), picture(64, 96), picture(62, 95)):  # the last is filled up to whole patches
        # The first version of theirs makes its windows smaller for good when it meets a small map.
        compare(load(tmp_path).model, opened(architecture, tmp_path), image)


@torch.no_grad()
def test_a_second_version_trained_in_smaller_windows_measures_by_those(tmp_path: Path) -> None:
    changes = dict(depths=[2, 2], num_heads=[2, 4], image_size=64, window_size=8, pretrained_window_sizes=[4, 2])
    other = made("Swinv2ForImageClassification", **changes)
    other.save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    assert ours.config.trained == (4, 2)
    compare(ours, other, picture(64))
    export(tmp_path / "out", ours)
    compare(ours, opened("Swinv2ForImageClassification", tmp_path / "out"), picture(64))


@torch.no_grad()
@both_versions
@pytest.mark.parametrize(
    "changes",
    [
        {"layer_norm_eps": 0.1},
        {"num_channels": 1},
        {"image_size": [32, 32], "patch_size": [4, 4]},
        {"qkv_bias": False},
        {"mlp_ratio": 2.5},
        {"drop_path_rate": 0},
        {"hidden_act": "relu"},
        {"hidden_act": "gelu_new"},
        {"patch_size": 2, "window_size": 8},
        {"num_labels": 1},
        {"drop_path_rate": 0.4, "hidden_dropout_prob": 0.25, "attention_probs_dropout_prob": 0.25},
    ],
    ids=str,
)
def test_settings_are_honoured_both_ways(tmp_path: Path, architecture: str, changes: dict[str, Any]) -> None:
    other = made(architecture, **changes)
    other.save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    image = picture(channels=changes.get("num_channels", 3))
    compare(ours, other, image)
    export(tmp_path / "out", ours)
    compare(ours, opened(architecture, tmp_path / "out"), image)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"use_absolute_embeddings": True}, "use_absolute_embeddings is True, and only False is supported"),
        ({"attention_probs_dropout_prob": 0.1}, "hidden_dropout_prob 0.0, and they must be the same"),
        ({"hidden_act": "mish"}, "hidden_act is 'mish'; known are gelu"),
        ({"image_size": [32, 64]}, r"image_size is \[32, 64\], and only squares are supported"),
        ({"embed_dim": "16"}, "embed_dim is 16 and depths .*, which are no stages"),
        ({"depths": [2] * 99}, "which are no stages"),
        ({"depths": 2}, "embed_dim is 16 and depths 2, which are no stages"),
        ({"num_heads": [2]}, "widths, 2 depths and 1 heads|widths, 3 depths and 1 heads"),
        ({"of_somebody": 1}, "of_somebody is not known"),
        ({"architectures": ["SwinForMaskedImageModeling"]}, "architectures is .*; known are Swin"),
    ],
)
@both_versions
def test_a_setting_is_honoured_or_refused_by_its_name(
    tmp_path: Path, architecture: str, changes: dict[str, Any], said: str
) -> None:
    made(architecture).save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError, match=said):
        load(tmp_path)


def test_maps_that_do_not_halve_are_no_second_version_of_theirs(tmp_path: Path) -> None:
    made("Swinv2ForImageClassification").save_pretrained(tmp_path)
    change_config(tmp_path, image_size=40)
    with pytest.raises(CheckpointError, match="image_size is 40, whose patches of 4 do not halve 2 times"):
        load(tmp_path)


@both_versions
def test_older_files_hold_what_follows_from_the_window(tmp_path: Path, architecture: str) -> None:
    made(architecture).save_pretrained(tmp_path)
    stem = architecture.partition("For")[0].lower()
    from safetensors.torch import load_file, save_file

    weights = load_file(tmp_path / "model.safetensors")
    layer = f"{stem}.encoder.layers.0.blocks.0.attention.self"
    weights[f"{layer}.relative_position_index"] = torch.zeros(16, 16, dtype=torch.int64)
    if stem == "swinv2":
        weights[f"{layer}.relative_coords_table"] = torch.zeros(1, 7, 7, 2)
    save_file(weights, tmp_path / "model.safetensors")
    assert load(tmp_path).model.config.widths[0] == 16


@pytest.mark.parametrize("version", [1, 2])
def test_the_table_claims_every_tensor_of_ours_once(version: int) -> None:
    ours = Swin(Config(version, 32, window=4, widths=(16, 32), depths=(2, 2), heads=(2, 4), classes=3)).state_dict()
    rules = (swin if version == 1 else swinv2).TABLE.rules
    back = load_rules(rules, save_rules(rules, ours))
    assert back.keys() == ours.keys()
    assert all(back[name].equal(tensor) for name, tensor in ours.items())


def test_stages_that_are_not_twice_as_wide_are_not_exported(tmp_path: Path) -> None:
    odd = Swin(Config(1, 32, window=4, widths=(16, 24), depths=(1, 1), heads=(2, 4), classes=3))
    with pytest.raises(ValueError, match=r"Swin has no such model: widths is \(16, 24\) and must be \(16, 32\)"):
        export(tmp_path / "out", odd)


def _windows(architecture: str) -> dict[str, Any]:
    return {"pretrained_window_sizes": [0, 0]} if architecture.startswith("Swinv2") else {}
