"""ConvNeXt as Hugging Face keeps it, with a classifier or bare (Liu 2022)."""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.tables.encoder import ACTIVATIONS
from regard.hub.tables.picture import Picture, task_by_classes
from regard.hub.tables.rules import Rule, same
from regard.hub.tables.table import Table
from regard.models.convnext import FAMILY, Config
from regard.text import Tokenizer

_BLOCK = (
    same("dwconv.{p}", "conv.{p}"),
    same("layernorm.{p}", "norm.{p}"),
    same("pwconv1.{p}", "mlp.up.{p}"),
    same("pwconv2.{p}", "mlp.down.{p}"),
    same("layer_scale_parameter", "join.layer_scale"),
)
RULES: tuple[Rule, ...] = (
    same("convnext.embeddings.patch_embeddings.{p}", "stem.project.{p}"),
    same("convnext.embeddings.layernorm.{p}", "stem_norm.{p}"),
    same("convnext.encoder.stages.{s}.downsampling_layer.0.{p}", "stages.{s}.halve.norm.{p}"),
    same("convnext.encoder.stages.{s}.downsampling_layer.1.{p}", "stages.{s}.halve.conv.{p}"),
    *(rule.within("convnext.encoder.stages.{s}.layers.{i}", "stages.{s}.blocks.{i}") for rule in _BLOCK),
    same("convnext.layernorm.{p}", "norm.{p}"),
    same("classifier.{p}", "head.{p}"),
)

PICTURE = Picture(
    "ConvNeXt",
    "convnext",
    "ConvNext",
    {
        "size": ("image_size", 224),
        "channels": ("num_channels", 3),
        "patch": ("patch_size", 4),
        "widths": ("hidden_sizes", [96, 192, 384, 768]),
        "depths": ("depths", [3, 3, 9, 3]),
        "drop_path": ("drop_path_rate", 0.0),
        "layer_scale": ("layer_scale_init_value", 1e-6),
        "eps": ("layer_norm_eps", 1e-12),
    },
    {"kernel": 7},
    # Which maps a backbone would hand on; a classifier and the bare model read the last.
    without_effect={
        *("out_features", "out_indices", "_out_features", "_out_indices", "stage_names"),
        *("hidden_act", "num_stages"),  # which are read below
    },
)


def config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; every field is honoured or refused by its name."""
    said, stages = given.get("hidden_act", "gelu"), given.get("num_stages", 4)
    activation = next((ours for ours, theirs in ACTIVATIONS.items() if said in theirs), None)
    problems = []
    if activation is None:
        known = ", ".join(each for theirs in ACTIVATIONS.values() for each in theirs)
        problems.append(f"hidden_act is {str(said)[:40]!r}; known are {known}")
    for name in ("hidden_sizes", "depths"):
        default = PICTURE.sizes["widths" if name == "hidden_sizes" else name][1]
        if isinstance(each := given.get(name, default), list) and len(each) != stages:
            problems.append(f"num_stages is {str(stages)[:40]} and {name} has {len(each)}, and they must be the same")
    fields = PICTURE.config(given, problems)
    scale = fields["layer_scale"]
    # Theirs has no scale where it would start at zero or below.
    fields["layer_scale"] = None if isinstance(scale, int | float) and scale <= 0 else scale
    return {**fields, "activation": activation}


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    if given.kernel != 7:
        raise ValueError(f"transformers has no ConvNeXt with kernels of {given.kernel}; its kernels are 7")
    return {
        **PICTURE.to_json(given, tokenizer),
        "hidden_act": ACTIVATIONS[given.activation][0],
        "num_stages": len(given.widths),
        "layer_scale_init_value": given.layer_scale or 0.0,
    }


TABLE = Table("convnext", FAMILY, RULES, config, to_json, lambda _, found: found, task_by_classes, prefix="convnext.")
