"""LeViT as `transformers` has it: the same weights see the same and look alike, in and out."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tests.parity.pictures import change_config, close, opened, theirs
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from regard.attention import record
from regard.hub import CheckpointError, export, load
from regard.hub.tables.levit import rules
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.layers.folding import fold
from regard.models import build
from regard.models.levit import Config, LeViT

SIZE = dict(image_size=64, hidden_sizes=[16, 24, 32], num_attention_heads=[2, 3, 4], depths=[1, 2, 1], num_labels=3)
ARCHITECTURES = ["LevitForImageClassification", "LevitForImageClassificationWithTeacher", "LevitModel"]
every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


def made(architecture: str, **changes: Any) -> Any:
    model = theirs(architecture, transformers.LevitConfig(**(SIZE | {"key_dim": [8] * 3} | changes)))
    for module in model.modules():  # statistics as training leaves them
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
            nn.init.normal_(module.running_mean, std=0.3)
            nn.init.uniform_(module.running_var, 0.5, 2.0)
    return model


def picture(channels: int = 3, side: int = 64) -> Tensor:
    return torch.randn(2, channels, side, side, generator=torch.Generator().manual_seed(1))


class Softmaxes(TorchFunctionMode):
    """What every softmax gives, since this model of theirs hands out no attention."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        if func is Tensor.softmax:
            self.seen.append(found)
        return found


def compare(ours: Any, other: Any, image: Tensor) -> None:
    """Outcomes, the stream behind each stage, and the weights of every attention are the same."""
    with Softmaxes() as watch:
        told = other(image, output_hidden_states=True)
    with record(ours, hidden=True) as trace:
        found = ours(image)
    close(found, told.logits if "logits" in told else told.pooler_output)
    if "cls_logits" in told:
        for mine, their in zip(ours.answers(image), (told.cls_logits, told.distillation_logits), strict=True):
            close(mine, their)
    if "last_hidden_state" in told:
        close(ours.features(image).flatten(1, 2), told.last_hidden_state)
    ends = [name for name in trace.hidden if name in ("shrinks.0", "shrinks.1", "stages.2")]
    for name, their in zip(ends, told.hidden_states[1:], strict=True):
        close(trace.hidden[name][0].flatten(1, 2), their)
    assert len(watch.seen) == sum(ours.config.depths) + 2
    for name, weights in zip(trace, watch.seen, strict=True):
        close(trace.weights(name), weights)


@torch.no_grad()
@every_architecture
def test_a_levit_of_hugging_face_sees_and_looks_as_before_and_goes_back(tmp_path: Path, architecture: str) -> None:
    other = made(architecture)
    other.save_pretrained(tmp_path / "in")
    found = load(tmp_path / "in")
    assert found.card["task"] == ("recognize" if "Classification" in architecture else "features")
    assert found.model.config.distilled == architecture.endswith("Teacher")
    compare(found.model, other, picture())
    export(tmp_path / "out", found.model)
    compare(found.model, opened(architecture, tmp_path / "out"), picture())
    assert load(tmp_path / "out").model.config == found.model.config


@torch.no_grad()
@pytest.mark.parametrize("architecture", ARCHITECTURES[:2])
def test_a_folded_levit_says_the_same_and_has_no_batch_norm_but_before_its_classifiers(
    tmp_path: Path, architecture: str
) -> None:
    other = made(architecture)
    other.save_pretrained(tmp_path)
    ours = load(tmp_path).model
    folded = fold(ours)
    close(folded(picture()), other(picture()).logits)
    left = [name for name, module in folded.named_modules() if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d)]
    assert all("head" in name for name in left)
    assert any(isinstance(module, nn.BatchNorm2d) for module in ours.modules())


@torch.no_grad()
@pytest.mark.parametrize(
    "changes",
    [
        {"num_channels": 1},
        {"image_size": 96},  # whose last map, of 6, 3 and 2 cells on a side, is rounded up
        {"image_size": [64, 64]},
        {"key_dim": [4, 4, 4]},
        {"num_labels": 1},
    ],
    ids=str,
)
def test_settings_are_honoured_both_ways(tmp_path: Path, changes: dict[str, Any]) -> None:
    plain = {name: 64 if name == "image_size" and isinstance(value, list) else value for name, value in changes.items()}
    other = made("LevitForImageClassificationWithTeacher", **plain)
    other.save_pretrained(tmp_path / "in")
    change_config(tmp_path / "in", **{name: value for name, value in changes.items() if isinstance(value, list)})
    ours = load(tmp_path / "in").model
    image = picture(changes.get("num_channels", 3), 96 if changes.get("image_size") == 96 else 64)
    compare(ours, other, image)
    export(tmp_path / "out", ours)
    compare(ours, opened("LevitForImageClassificationWithTeacher", tmp_path / "out"), image)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kernel_size": 5}, "kernel_size is 5, and only 3 is supported"),
        ({"patch_size": 32}, "patch_size is 32, and only 16 is supported"),
        ({"mlp_ratio": [2, 2, 4]}, r"mlp_ratio is \[2, 2, 4\], and only \[2, 2, 2\] is supported"),
        ({"attention_ratio": [4, 4, 4]}, r"attention_ratio is \[4, 4, 4\], and only \[2, 2, 2\] is supported"),
        ({"key_dim": [8, 8, 16]}, r"key_dim is \[8, 8, 16\], and only lists of 3 times the same are supported"),
        ({"key_dim": 8}, "key_dim is 8, and only lists of 3 times the same"),
        ({"hidden_sizes": [16, 24]}, r"hidden_sizes is \[16, 24\], and only lists of 3 are supported"),
        ({"image_size": 72}, "image_size is 72, and only multiples of 16 are supported"),
        ({"down_ops": [["Subsample", 8, 2, 4, 4, 2]]}, "down_ops is .*, and only what follows from key_dim"),
        ({"down_ops": 3}, "down_ops is 3, and only what follows from key_dim"),
        ({"of_somebody": 1}, "of_somebody is not known"),
        ({"architectures": ["LevitForDetection"]}, "architectures is .*; known are LevitForImageClassification, Levit"),
    ],
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    made("LevitForImageClassification").save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError, match=said):
        load(tmp_path)


def test_stochastic_depth_is_for_training_alone_and_read_where_a_file_says_it(tmp_path: Path) -> None:
    made("LevitForImageClassification").save_pretrained(tmp_path)
    change_config(tmp_path, drop_path_rate=0.1)
    assert load(tmp_path).model.config.drop_path == 0.1


def test_the_table_claims_every_tensor_of_ours_once() -> None:
    config = Config(64, widths=(16, 24, 32), depths=(1, 2, 1), heads=(2, 2, 2), head_width=8, classes=3)
    ours, known = LeViT(config).state_dict(), rules({"depths": config.depths}, {})
    back = load_rules(known, save_rules(known, ours))
    assert back.keys() == ours.keys()
    assert all(back[name].equal(tensor) for name, tensor in ours.items())


def test_a_levit_that_theirs_cannot_be_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expansion is 4 and must be 2; there are 2 stages and must be 3"):
        export(tmp_path / "out", build("levit-nano", expansion=4))
