"""Swin as Hugging Face keeps it, and what its table shares with that of the second version (Liu 2021)."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

from regard.hub.tables.encoder import ACTIVATIONS
from regard.hub.tables.picture import Picture, task_by_classes
from regard.hub.tables.rules import Rule, ignored, same
from regard.hub.tables.table import Table
from regard.models.swin import FAMILY, Config
from regard.text import Tokenizer

_STAGES = 20  # no file is believed to have more
_SHARES = ("expansion", "dropout", "drop_path", "eps")  # which files may write without a point
_BLOCK = (
    *(same(f"attention.self.{name}.{{p}}", f"attn.attn.{name[0]}.{{p}}") for name in ("query", "key", "value")),
    same("attention.output.dense.{p}", "attn.attn.out.{p}"),
    same("layernorm_before.{p}", "attn_norm.{p}"),
    same("layernorm_after.{p}", "mlp_norm.{p}"),
    same("intermediate.dense.{p}", "mlp.up.{p}"),
    same("output.dense.{p}", "mlp.down.{p}"),
    ignored("attention.self.relative_position_index"),
)
SIZES: Mapping[str, tuple[str, Any]] = {
    "size": ("image_size", 224),
    "channels": ("num_channels", 3),
    "patch": ("patch_size", 4),
    "window": ("window_size", 7),
    "width": ("embed_dim", 96),
    "depths": ("depths", [2, 2, 6, 2]),
    "heads": ("num_heads", [3, 6, 12, 24]),
    "expansion": ("mlp_ratio", 4.0),
    "activation": ("hidden_act", "gelu"),
    "qkv_bias": ("qkv_bias", True),
    "dropout": ("hidden_dropout_prob", 0.0),
    "drop_path": ("drop_path_rate", 0.1),
    "eps": ("layer_norm_eps", 1e-5),
}
FIXED: Mapping[str, tuple[object, ...]] = {"use_absolute_embeddings": (False,)}
# What follows from others, what backbones of detectors hand on, and a head that paints hidden patches.
WITHOUT_EFFECT = {
    *("hidden_size", "num_layers", "stage_names", "out_features", "out_indices", "_out_features", "_out_indices"),
    *("encoder_stride", "path_norm"),
}

PICTURE = Picture(
    "Swin",
    "swin",
    "Swin",
    SIZES,
    {"version": 1, "trained": []},
    ("attention_probs_dropout_prob",),
    fixed=FIXED,
    without_effect=WITHOUT_EFFECT,
)


def rules(prefix: str, block: Sequence[Rule]) -> tuple[Rule, ...]:
    """Their names for a Swin whose blocks have these names beside those that both versions have."""
    return (
        same(f"{prefix}.embeddings.patch_embeddings.projection.{{p}}", "stem.project.{p}"),
        same(f"{prefix}.embeddings.norm.{{p}}", "norm_in.{p}"),
        *(rule.within(f"{prefix}.encoder.layers.{{s}}.blocks.{{i}}", "stages.{s}.{i}") for rule in (*_BLOCK, *block)),
        same(f"{prefix}.encoder.layers.{{s}}.downsample.norm.{{p}}", "merges.{s}.norm.{p}"),
        same(f"{prefix}.encoder.layers.{{s}}.downsample.reduction.weight", "merges.{s}.reduce.weight"),
        same(f"{prefix}.layernorm.{{p}}", "norm.{p}"),
        same("classifier.{p}", "head.{p}"),
    )


def read(picture: Picture, given: Mapping[str, Any], problems: Sequence[str] = ()) -> dict[str, Any]:
    """Our fields for their config.json: each stage is twice as wide as the one before."""
    depths, width = (given.get(*picture.sizes[name]) for name in ("depths", "width"))
    act = given.get(*picture.sizes["activation"])
    activation = next((ours for ours, theirs in ACTIVATIONS.items() if act in theirs), None)
    problems = list(problems)
    if activation is None:
        known = ", ".join(each for theirs in ACTIVATIONS.values() for each in theirs)
        problems.append(f"hidden_act is {str(act)[:40]!r}; known are {known}")
    if type(width) is not int or not isinstance(depths, list) or not 0 < len(depths) <= _STAGES:
        problems.append(f"embed_dim is {str(width)[:40]} and depths {str(depths)[:40]}, which are no stages")
        depths, width = [], 0
    fields = picture.config(given, problems)
    del fields["width"]
    fields |= {name: float(fields[name]) for name in _SHARES if type(fields[name]) is int}
    return {**fields, "widths": [width * 2**i for i in range(len(depths))], "activation": activation}


def write(picture: Picture, given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    wanted = tuple(given.widths[0] * 2**i for i in range(len(given.widths)))
    if given.widths != wanted:
        raise ValueError(f"{picture.title} has no such model: widths is {given.widths} and must be {wanted}")
    told = SimpleNamespace(**asdict(given), width=given.widths[0])
    return {**picture.to_json(told, tokenizer), "hidden_act": ACTIVATIONS[given.activation][0]}


def _config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    return read(PICTURE, given)


def _to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    return write(PICTURE, given, tokenizer)


def _fits(config: Config) -> bool:
    return config.version == 1


TABLE = Table(
    "swin",
    FAMILY,
    rules("swin", [same("attention.self.relative_position_bias_table", "attn.attn.bias.table")]),
    _config,
    _to_json,
    lambda _, found: found,
    task_by_classes,
    prefix="swin.",
    fits=_fits,
)
