"""DETR as `transformers` has it: the same weights find the same boxes by the same looks, in and out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.parity.pictures import change_config, opened
from tests.parity.pictures import theirs as theirs_of
from torch import Tensor
from transformers.loss.loss_for_object_detection import ForObjectDetectionLoss

from regard.attention import record
from regard.hub import CheckpointError, export, load
from regard.hub.tables.detr import RULES
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.models import build
from regard.models.detr import DETR, Config
from regard.models.resnet import Config as ResNetConfig
from regard.train.detection import Objects, detection_loss

BACKBONE = dict(embedding_size=8, hidden_sizes=[16, 24], depths=[1, 2])
SIDES = dict(layers=2, attention_heads=4, ffn_dim=48)
SIZE = dict(d_model=32, num_queries=5, num_labels=3, use_timm_backbone=False) | {
    f"{side}_{name}": value for name, value in SIDES.items() for side in ("encoder", "decoder")
}
SMALL = Config(
    backbone=ResNetConfig(stem_width=8, widths=(16, 24), depths=(1, 2), classes=0),
    width=32,
    depth=2,
    decoder_depth=2,
    heads=4,
    hidden=48,
    queries=5,
    classes=3,
    inner_dropout=0.0,
)
IMAGE = torch.randn(2, 3, 48, 64, generator=torch.Generator().manual_seed(1))
VISIBLE = torch.ones(2, 48, 64, dtype=torch.bool)
VISIBLE[1, 30:], VISIBLE[1, :, 41:] = False, False
ARCHITECTURE = "DetrForObjectDetection"


def theirs(backbone: dict[str, Any] | None = None, **changes: Any) -> Any:
    inner = transformers.ResNetConfig(**{**BACKBONE, "out_features": ["stage2"], **(backbone or {})})
    model = theirs_of(ARCHITECTURE, transformers.DetrConfig(backbone_config=inner, **SIZE | changes))
    for name, buffer in model.named_buffers():
        if name.endswith(("running_var", "normalization.weight")):
            buffer.uniform_(0.5, 1.5)
        elif "normalization" in name:
            buffer.normal_(std=0.3)
    return model


def close(mine: Tensor, their: Tensor) -> None:
    torch.testing.assert_close(mine, their, atol=5e-5, rtol=1e-4)


def compare(ours: Any, other: Any, visible: Tensor | None) -> None:
    """Logits, boxes, the streams of both stacks, and the weights of all three kinds of attention."""
    mask = None if visible is None else visible.long()
    told = other(IMAGE, pixel_mask=mask, output_hidden_states=True, output_attentions=True)
    with record(ours, hidden=True) as trace:
        found = ours(IMAGE, visible)
    close(found.logits, told.logits)
    close(found.boxes, told.pred_boxes)
    streams = [*told.encoder_hidden_states[1:], *told.decoder_hidden_states[1:]]
    seen = [stream for (stream,) in trace.hidden.values()]
    seen[-1] = ours.norm(seen[-1])  # as theirs gives it
    for mine, their in zip(seen, streams, strict=True):
        close(mine, their)
    looks = {
        "encoder.blocks.{}.attn": told.encoder_attentions,
        "decoder.{}.attn": told.decoder_attentions,
        "decoder.{}.cross": told.cross_attentions,
    }
    names = [name.format(i) for name, each in looks.items() for i in range(len(each))]
    assert sorted(trace.names) == sorted(names)
    for name, their in zip(names, (each for group in looks.values() for each in group), strict=True):
        close(trace.weights(name), their)


@torch.no_grad()
@pytest.mark.parametrize("visible", [None, VISIBLE], ids=["whole", "padded"])
@pytest.mark.parametrize("kind", ["basic", "bottleneck"])
def test_a_detr_of_hugging_face_finds_the_same_and_goes_back(tmp_path: Path, kind: str, visible: Tensor | None) -> None:
    other = theirs({"layer_type": kind})
    other.save_pretrained(tmp_path / "in")
    found = load(tmp_path / "in")
    assert found.card["task"] == "detect"
    compare(found.model, other, visible)
    export(tmp_path / "out", found.model)
    compare(found.model, opened(ARCHITECTURE, tmp_path / "out"), visible)
    assert load(tmp_path / "out").model.config == found.model.config


@torch.no_grad()
def test_names_that_parts_have_while_they_run_are_read_too(tmp_path: Path) -> None:
    other = theirs()
    other.save_pretrained(tmp_path)
    state = {name: tensor.clone() for name, tensor in other.state_dict().items()}
    assert any(".o_proj." in name for name in state)
    save_file(state, tmp_path / "model.safetensors")
    compare(load(tmp_path).model, other, VISIBLE)


@torch.no_grad()
def test_files_with_a_backbone_of_timm_are_read_by_its_names(tmp_path: Path) -> None:
    """As facebook/detr-resnet-50 is: its config names a ResNet, and the tensors are called as timm calls them."""
    sizes = dict(embedding_size=64, hidden_sizes=[256, 512, 1024, 2048], depths=[3, 4, 6, 3])
    other = theirs({**sizes, "out_features": ["stage4"]}, encoder_layers=1, decoder_layers=1)
    for parameter in other.model.backbone.parameters():
        parameter.mul_(0.1)  # so that fifty layers stay finite
    other.save_pretrained(tmp_path)
    state = load_file(tmp_path / "model.safetensors")
    save_file({_as_timm(name): tensor for name, tensor in state.items()}, tmp_path / "model.safetensors")
    assert "model.backbone.conv_encoder.model.layer4.2.conv3.weight" in load_file(tmp_path / "model.safetensors")
    told = other(IMAGE, pixel_mask=VISIBLE.long())
    of_old = dict(
        backbone="resnet50", backbone_config=None, backbone_kwargs={"in_chans": 3, "out_indices": [1, 2, 3, 4]}
    )
    of_today = dict(backbone=None, backbone_config=transformers.DetrConfig().to_dict()["backbone_config"])
    for changes in (of_old, of_today | {"backbone_kwargs": None}):
        change_config(tmp_path, use_timm_backbone=True, **changes)
        found = load(tmp_path).model(IMAGE, VISIBLE)
        close(found.logits, told.logits)
        close(found.boxes, told.pred_boxes)


def _as_timm(name: str) -> str:
    name = name.replace("embedder.embedder.convolution", "conv1").replace("embedder.embedder.normalization", "bn1")
    name = re.sub(r"encoder\.stages\.(\d)\.layers", lambda found: f"layer{int(found[1]) + 1}", name)
    name = re.sub(r"layer\.(\d)\.convolution", lambda found: f"conv{int(found[1]) + 1}", name)
    name = re.sub(r"layer\.(\d)\.normalization", lambda found: f"bn{int(found[1]) + 1}", name)
    return name.replace("shortcut.convolution", "downsample.0").replace("shortcut.normalization", "downsample.1")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"auxiliary_loss": True}, "auxiliary_loss is True, and only False is supported"),
        ({"dilation": True}, "dilation is True, and only False is supported"),
        ({"position_embedding_type": "learned"}, "position_embedding_type is learned, and only sine is supported"),
        ({"activation_function": "gelu"}, "activation_function is gelu, and only relu is supported"),
        ({"decoder_ffn_dim": 64}, "decoder_ffn_dim is 64 and encoder_ffn_dim 48, and they must be the same"),
        ({"decoder_attention_heads": 2}, "decoder_attention_heads is 2 and encoder_attention_heads 4"),
        ({"activation_dropout": 0.1}, "activation_dropout is 0.1 and attention_dropout 0.0, and they must be the same"),
        ({"hidden_size": 64}, "hidden_size is 64 and d_model 32, and they must be the same"),
        ({"encoder_layerdrop": 0.1}, "encoder_layerdrop is 0.1, and only 0.0 is supported"),
        ({"two_stage": True}, "two_stage is not known"),
        ({"architectures": ["DetrForSegmentation"]}, "architectures is ['DetrForSegmentation']; known is DetrForObj"),
        ({"backbone_config": {"model_type": "swin"}}, "backbone_config.model_type is swin, and only resnet and timm"),
        ({"backbone_config": "swin"}, "backbone_config.model_type is swin"),
        ({"backbone_config": None, "backbone": "resnet18"}, "backbone is 'resnet18'; known are resnet50, resnet101"),
        ({"backbone_config": None, "backbone_kwargs": {"output_stride": 16}}, "backbone_kwargs.output_stride is 16"),
        ({"backbone_config": None, "backbone_kwargs": {"out_indices": [3]}}, "backbone_kwargs.out_indices is [3]"),
        (
            {"backbone_config": {"model_type": "timm_backbone", "backbone": "resnet50", "output_stride": 16}},
            "backbone_config.output_stride is 16, which is not supported",
        ),
        ({"id2label": 3}, "id2label is 3, and no object"),
    ],
    ids=str,
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    theirs().save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"out_features": ["stage1"]}, "backbone_config.out_features is ['stage1'], and only ['stage2'] is supported"),
        ({"out_indices": [1]}, "backbone_config.out_indices is [1], and only [2] is supported"),
        ({"downsample_in_bottleneck": True}, "downsample_in_bottleneck is True, and only False is supported"),
    ],
    ids=str,
)
def test_a_setting_of_the_backbone_is_honoured_or_refused_too(
    tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    theirs().save_pretrained(tmp_path)
    inner = json.loads((tmp_path / "config.json").read_text())["backbone_config"]
    change_config(tmp_path, backbone_config=inner | changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert why in str(caught.value)


def test_every_field_that_transformers_writes_is_known(tmp_path: Path) -> None:
    other = theirs()
    other.save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(other.config.to_dict() | {"architectures": [ARCHITECTURE]}))
    assert load(tmp_path).model.config == SMALL


def test_the_table_claims_every_tensor_of_ours_once() -> None:
    ours = DETR(SMALL).state_dict()
    back = load_rules(RULES, save_rules(RULES, ours))
    assert back.keys() == ours.keys()
    assert all(back[name].equal(tensor) for name, tensor in ours.items())


def test_a_detr_that_theirs_cannot_be_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a DETR of transformers has no frozen=False; export has no place for it"):
        export(tmp_path, build("detr-nano"))
    with pytest.raises(ValueError, match="no such ResNet: pooled is True and must be False; stem is 'deep'"):
        export(tmp_path, build("detr-nano", frozen=True))


def test_the_loss_is_that_of_transformers() -> None:
    torch.manual_seed(3)
    logits, boxes = torch.randn(3, 6, 5, requires_grad=True), torch.rand(3, 6, 4).requires_grad_()
    early = [(torch.randn(3, 6, 5), torch.rand(3, 6, 4)) for _ in range(2)]
    targets = [Objects(torch.randint(4, (n,)), torch.rand(n, 4) * 0.5 + 0.1) for n in (2, 0, 4)]

    class Settings:
        class_cost, bbox_cost, giou_cost, eos_coefficient = 1, 5, 2, 0.1
        bbox_loss_coefficient, giou_loss_coefficient = 5, 2
        num_labels, decoder_layers, auxiliary_loss = 4, 3, True

    labels = [{"class_labels": each.classes, "boxes": each.boxes} for each in targets]
    stacked = [torch.stack([*(each[i] for each in early), last]) for i, last in enumerate((logits, boxes))]
    expected, parts, _ = ForObjectDetectionLoss(logits, labels, torch.device("cpu"), boxes, Settings, *stacked)
    found = detection_loss((logits, boxes, tuple(early)), targets)
    torch.testing.assert_close(found.total, expected)
    for mine, name in ((found.classes, "loss_ce"), (found.boxes, "loss_bbox"), (found.overlap, "loss_giou")):
        torch.testing.assert_close(mine, parts[name] + sum(parts[f"{name}_{i}"] for i in range(2)))
    for mine, their in zip(
        torch.autograd.grad(found.total, (logits, boxes)), torch.autograd.grad(expected, (logits, boxes)), strict=True
    ):
        torch.testing.assert_close(mine, their)
