"""ViT as Hugging Face keeps it, and so DINO, whose models have the same `model_type` (Dosovitskiy 2021, Caron 2021)."""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.tables.picture import Picture, task_by_classes
from regard.hub.tables.rules import Rule, same, squeezed
from regard.hub.tables.table import Table
from regard.models.vit import FAMILY, Config

ATTENTION = (
    *(same(f"attention.attention.{name}.{{p}}", f"attn.{name[0]}.{{p}}") for name in ("query", "key", "value")),
    same("attention.output.dense.{p}", "attn.out.{p}"),
)
LAYER = (
    *ATTENTION,
    same("layernorm_before.{p}", "attn_norm.{p}"),
    same("layernorm_after.{p}", "mlp_norm.{p}"),
    same("intermediate.dense.{p}", "mlp.up.{p}"),
    same("output.dense.{p}", "mlp.down.{p}"),
)


def embeddings(prefix: str) -> tuple[Rule, ...]:
    """Patches, [CLS] and positions, laid out alike in ViT, DeiT and DINOv2; and the last norm."""
    return (
        same(f"{prefix}.embeddings.patch_embeddings.projection.{{p}}", "stem.project.{p}"),
        same(f"{prefix}.embeddings.cls_token", "cls"),
        squeezed(f"{prefix}.embeddings.position_embeddings", "positions.0.table"),
        same(f"{prefix}.layernorm.{{p}}", "norm.{p}"),
    )


def rules(prefix: str) -> tuple[Rule, ...]:
    return (
        *embeddings(prefix),
        *(rule.within(f"{prefix}.encoder.layer.{{i}}", "blocks.{i}") for rule in LAYER),
    )


SIZES = {
    "size": ("image_size", 224),
    "channels": ("num_channels", 3),
    "patch": ("patch_size", 16),
    "width": ("hidden_size", 768),
    "depth": ("num_hidden_layers", 12),
    "heads": ("num_attention_heads", 12),
    "hidden": ("intermediate_size", 3072),
    "dropout": ("hidden_dropout_prob", 0.0),
    "eps": ("layer_norm_eps", 1e-12),
}
FIXED: Mapping[str, tuple[object, ...]] = {"hidden_act": ("gelu", "gelu_python"), "qkv_bias": (True,)}
# Of a head that paints hidden patches, and of a pooler, which no head of ours reads.
WITHOUT_EFFECT = {"encoder_stride", "pooler_output_size", "pooler_act"}

# What our ViT can be and theirs cannot.
PLAIN: Mapping[str, Any] = {
    "stem": "patch",
    "pool": "cls",
    "registers": 0,
    "position": "learned",
    "inject": "once",
    "drop_path": 0.0,
    "layer_scale": 0.0,
    "activation": "gelu",
    "first_norm": False,
}

PICTURE = Picture(
    "ViT",
    "vit",
    "ViT",
    SIZES,
    PLAIN,
    ("attention_probs_dropout_prob",),
    fixed=FIXED,
    without_effect=WITHOUT_EFFECT,
)


def unused(prefix: str) -> Set[str]:
    """The pooler and the token of hidden patches, with the prefix or, in the bare model, without."""
    names = ("pooler.dense.weight", "pooler.dense.bias", "embeddings.mask_token")
    return {each for name in names for each in (name, f"{prefix}.{name}")}


def fits(config: Config, *apart: str) -> bool:
    """Whether transformers' ViT can be this one, apart from some fields; stochastic depth is for training alone."""
    return all(getattr(config, name) == value for name, value in PLAIN.items() if name not in ("drop_path", *apart))


def _config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    return PICTURE.config(given)


TABLE = Table(
    "vit",
    FAMILY,
    (*rules("vit"), same("classifier.{p}", "head.{p}")),
    _config,
    PICTURE.to_json,
    lambda _, found: found,
    task_by_classes,
    lambda _: unused("vit"),
    prefix="vit.",
    fits=fits,
)
