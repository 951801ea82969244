"""DINOv2 as Hugging Face keeps it: a ViT with LayerScale, whose classifier reads [CLS] and the mean (Oquab 2024)."""

from collections.abc import Mapping
from typing import Any

from regard.hub.gate import CheckpointError
from regard.hub.tables import vit
from regard.hub.tables.picture import Picture, task_by_classes
from regard.hub.tables.rules import Rule, same
from regard.hub.tables.table import Table
from regard.models.vit import FAMILY, Config
from regard.text import Tokenizer

_LAYER = (
    *vit.ATTENTION,
    same("norm1.{p}", "attn_norm.{p}"),
    same("norm2.{p}", "mlp_norm.{p}"),
    same("mlp.fc1.{p}", "mlp.up.{p}"),
    same("mlp.fc2.{p}", "mlp.down.{p}"),
    same("layer_scale1.lambda1", "attn_join.layer_scale"),
    same("layer_scale2.lambda1", "mlp_join.layer_scale"),
)
SIZES = {ours: theirs for ours, theirs in vit.SIZES.items() if ours != "hidden"} | {
    "patch": ("patch_size", 14),
    "eps": ("layer_norm_eps", 1e-6),
    "drop_path": ("drop_path_rate", 0.0),
    "layer_scale": ("layerscale_value", 1.0),
}
# How a model is used as a backbone, which is asked of `features` here; and the token of hidden patches, of training.
WITHOUT_EFFECT = {
    *("out_features", "out_indices", "_out_features", "_out_indices", "stage_names"),
    *("apply_layernorm", "reshape_hidden_states", "use_mask_token"),
}


def rules(prefix: str) -> tuple[Rule, ...]:
    return (
        *vit.embeddings(prefix),
        *(rule.within(f"{prefix}.encoder.layer.{{i}}", "blocks.{i}") for rule in _LAYER),
        same("classifier.{p}", "head.{p}"),
    )


def picture(title: str, model_type: str, stem: str, sizes: Mapping[str, tuple[str, Any]]) -> Picture:
    return Picture(
        title,
        model_type,
        stem,
        sizes,
        vit.PLAIN,
        ("attention_probs_dropout_prob",),
        fixed={**vit.FIXED, "use_swiglu_ffn": (False,)},
        without_effect=WITHOUT_EFFECT | {"mlp_ratio"},
    )


def config(picture: Picture, given: Mapping[str, Any]) -> dict[str, Any]:
    """Our fields for their config.json, which says how many times wider than the rest an MLP is."""
    fields, ratio = picture.config(given), given.get("mlp_ratio", 4)
    if not isinstance(ratio, int | float) or not isinstance(fields["width"], int):
        raise CheckpointError(f"this {picture.title} is not supported: mlp_ratio is {str(ratio)[:40]}, and no number")
    # Of a bare model, [CLS] is what a classifier would read.
    return {**fields, "hidden": int(fields["width"] * ratio), "pool": "both" if fields["classes"] else "cls"}


def to_json(picture: Picture, given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    return {**picture.to_json(given, tokenizer), "mlp_ratio": given.hidden // given.width}


def fits(config: Config, *, registers: bool) -> bool:
    """Whether transformers' DINOv2 can be this ViT."""
    plain = vit.fits(config, "pool", "registers", "layer_scale") and config.layer_scale > 0
    plain = plain and config.hidden % config.width == 0  # of which they say but how many times
    return plain and bool(config.registers) == registers and config.pool == ("both" if config.classes else "cls")


PICTURE = picture("DINOv2", "dinov2", "Dinov2", SIZES)

TABLE = Table(
    "dinov2",
    FAMILY,
    rules("dinov2"),
    lambda given, _: config(PICTURE, given),
    lambda given, tokenizer: to_json(PICTURE, given, tokenizer) | {"use_mask_token": False},
    lambda _, found: found,
    task_by_classes,
    lambda _: vit.unused("dinov2"),
    prefix="dinov2.",
    fits=lambda config: fits(config, registers=False),
)
