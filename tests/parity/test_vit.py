"""ViT, DeiT and DINOv2 as `transformers` has them: the same weights see the same, in and out."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.parity.pictures import change_config, compare, opened, theirs

from regard.hub import CheckpointError, export, load
from regard.models import build

SIZE = dict(hidden_size=32, num_hidden_layers=3, num_attention_heads=4, image_size=16, patch_size=4, num_labels=3)
CONFIGS = {
    "ViT": transformers.ViTConfig,
    "DeiT": transformers.DeiTConfig,
    "Dinov2WithRegisters": transformers.Dinov2WithRegistersConfig,
    "Dinov2": transformers.Dinov2Config,
}
ARCHITECTURES = [
    "ViTForImageClassification",
    "ViTModel",
    "DeiTForImageClassificationWithTeacher",
    "DeiTForImageClassification",
    "DeiTModel",
    "Dinov2ForImageClassification",
    "Dinov2Model",
    "Dinov2WithRegistersForImageClassification",
    "Dinov2WithRegistersModel",
]
every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)
IMAGE = torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(1))
UNREAD = ("pooler", "vit.pooler", "deit.pooler", "embeddings.mask_token", "dinov2_with_registers.embeddings.mask_token")


def made(architecture: str, **changes: Any) -> Any:
    kind = next(config for name, config in CONFIGS.items() if architecture.startswith(name))
    sizes = SIZE if "Dino" in architecture else SIZE | {"intermediate_size": 48}
    return theirs(architecture, kind(**(sizes | changes)))


@torch.no_grad()
@every_architecture
def test_a_vit_of_hugging_face_sees_as_before_and_goes_back(tmp_path: Path, architecture: str) -> None:
    other = made(architecture)
    other.save_pretrained(tmp_path / "in")
    found = load(tmp_path / "in")
    assert found.card["task"] == ("recognize" if "Classification" in architecture else "features")
    compare(found.model, other, IMAGE)
    export(tmp_path / "out", found.model)
    compare(found.model, opened(architecture, tmp_path / "out", UNREAD), IMAGE)
    assert load(tmp_path / "out").model.config == found.model.config


@torch.no_grad()
@pytest.mark.parametrize("architecture", ["ViTForImageClassification", "Dinov2ForImageClassification"])
def test_larger_pictures_have_their_positions_interpolated_alike(tmp_path: Path, architecture: str) -> None:
    other = made(architecture)
    other.save_pretrained(tmp_path)
    how = {"interpolate_pos_encoding": True} if architecture.startswith("ViT") else {}
    compare(load(tmp_path).model, other, torch.randn(1, 3, 24, 32), **how)


@torch.no_grad()
def test_a_bare_model_gives_the_state_of_cls(tmp_path: Path) -> None:
    other = made("Dinov2Model")
    other.save_pretrained(tmp_path)
    torch.testing.assert_close(load(tmp_path).model(IMAGE), other(IMAGE).pooler_output, atol=2e-5, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("changes", [{"layer_norm_eps": 0.1}, {"num_channels": 1}, {"image_size": [16, 16]}], ids=str)
def test_settings_are_honoured(tmp_path: Path, changes: dict[str, Any]) -> None:
    other = made("ViTForImageClassification", **changes)
    other.save_pretrained(tmp_path)
    compare(load(tmp_path).model, other, IMAGE[:, : changes.get("num_channels", 3)])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hidden_act": "quick_gelu"}, "hidden_act is quick_gelu, and only gelu is supported"),
        ({"qkv_bias": False}, "qkv_bias is False, and only True is supported"),
        ({"image_size": [16, 32]}, r"image_size is \[16, 32\], and only squares are supported"),
        ({"attention_probs_dropout_prob": 0.5}, "attention_probs_dropout_prob is 0.5 and hidden_dropout_prob 0.0"),
        ({"architectures": ["ViTForMaskedImageModeling"]}, "known are ViTForImageClassification, ViTModel"),
        ({"id2label": 3}, "id2label is 3, and no object"),
        ({"shortcut": 1}, "shortcut is not known"),
    ],
    ids=str,
)
def test_settings_that_are_not_honoured_are_refused_by_name(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    made("ViTForImageClassification").save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError, match=said):
        load(tmp_path)


@torch.no_grad()
def test_names_of_timm_are_read_and_written(tmp_path: Path) -> None:
    """timm itself needs torchvision: its names are put to the weights of a ViT of transformers."""
    torch.manual_seed(0)
    sizes = dict(hidden_size=192, num_hidden_layers=12, num_attention_heads=3, intermediate_size=768)
    given = transformers.ViTConfig(**sizes, image_size=32, patch_size=16, num_labels=3, layer_norm_eps=1e-6)
    other = theirs("ViTForImageClassification", given)
    other.save_pretrained(tmp_path / "in")
    kept = load_file(tmp_path / "in" / "model.safetensors")
    named = {
        "cls_token": kept["vit.embeddings.cls_token"],
        "pos_embed": kept["vit.embeddings.position_embeddings"],
        **{
            f"patch_embed.proj.{p}": kept[f"vit.embeddings.patch_embeddings.projection.{p}"] for p in ("weight", "bias")
        },
        **{f"norm.{p}": kept[f"vit.layernorm.{p}"] for p in ("weight", "bias")},
        **{f"head.{p}": kept[f"classifier.{p}"] for p in ("weight", "bias")},
    }
    parts = {
        "attention.output.dense": "attn.proj",
        "layernorm_before": "norm1",
        "layernorm_after": "norm2",
        "intermediate.dense": "mlp.fc1",
        "output.dense": "mlp.fc2",
    }
    for i in range(12):
        for p in ("weight", "bias"):
            before = f"vit.encoder.layer.{i}"
            three = [kept[f"{before}.attention.attention.{part}.{p}"] for part in ("query", "key", "value")]
            named[f"blocks.{i}.attn.qkv.{p}"] = torch.cat(three)
            named |= {f"blocks.{i}.{ours}.{p}": kept[f"{before}.{theirs}.{p}"] for theirs, ours in parts.items()}
    (tmp_path / "timm").mkdir()
    save_file(named, tmp_path / "timm" / "model.safetensors")
    about = {"architecture": "vit_tiny_patch16_32", "num_classes": 3, "num_features": 192, "global_pool": "token"}
    (tmp_path / "timm" / "config.json").write_text(json.dumps(about))
    found = load(tmp_path / "timm")
    image = torch.randn(2, 3, 32, 32)
    compare(found.model, other, image)
    export(tmp_path / "out", found.model, model_type="timm")
    again = load_file(tmp_path / "out" / "model.safetensors")
    assert again.keys() == named.keys()
    assert all(again[name].equal(tensor) for name, tensor in named.items())
    change_config(tmp_path / "timm", architecture="vit_odd_patch16_32")
    with pytest.raises(CheckpointError, match="the architecture 'vit_odd_patch16_32' is not known; those like vit_ti"):
        load(tmp_path / "timm")


@pytest.mark.parametrize("kind", [transformers.ViTConfig, transformers.Dinov2WithRegistersConfig])
def test_every_field_of_their_config_is_known(tmp_path: Path, kind: Any) -> None:
    from regard.hub.tables import tables

    given = kind(**SIZE).to_dict()
    assert tables()[given["model_type"]].config(given, set())["width"] == 32


def test_a_vit_that_has_no_place_in_transformers_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no place in other libraries"):
        export(tmp_path / "out", build("vit-nano", position="rotary"))
