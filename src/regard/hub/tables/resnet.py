"""ResNet as Hugging Face keeps it, with a classifier or bare; the stride is on the 3×3 convolution (He 2016, v1.5)."""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.gate import listed
from regard.hub.tables.picture import Picture, task_by_classes
from regard.hub.tables.rules import Rule, same
from regard.hub.tables.table import Table
from regard.models.resnet import FAMILY, Config
from regard.text import Tokenizer

_BLOCK = (
    *(same(f"layer.{i}.convolution.weight", f"branch.{2 * i}.0.weight") for i in range(3)),
    *(same(f"layer.{i}.normalization.{{p}}", f"branch.{2 * i}.1.{{p}}") for i in range(3)),
    same("shortcut.convolution.weight", "shortcut.0.weight"),
    same("shortcut.normalization.{p}", "shortcut.1.{p}"),
)


def body(prefix: str, ours: str = "") -> tuple[Rule, ...]:
    """Everything below the head, in a classifier as in the backbone of a detector."""
    return (
        same(f"{prefix}.embedder.embedder.convolution.weight", f"{ours}stem.0.0.weight"),
        same(f"{prefix}.embedder.embedder.normalization.{{p}}", f"{ours}stem.0.1.{{p}}"),
        *(rule.within(f"{prefix}.encoder.stages.{{s}}.layers.{{i}}", f"{ours}stages.{{s}}.{{i}}") for rule in _BLOCK),
    )


# What our ResNet can be and theirs cannot; stochastic depth, dropout and first weights are for training alone.
PLAIN: Mapping[str, Any] = {
    "size": 224,
    "stem": "plain",
    "dropout": 0.0,
    "drop_path": 0.0,
    "zero_init": True,
    "squeeze": 0.0,
    "pooled": False,
    "attend": [],
    "heads": 1,
    "deformable": [],
}
_STRUCTURE = ("stem", "squeeze", "pooled", "attend", "deformable")

PICTURE = Picture(
    "ResNet",
    "resnet",
    "ResNet",
    {
        "channels": ("num_channels", 3),
        "stem_width": ("embedding_size", 64),
        "block": ("layer_type", "bottleneck"),
        "widths": ("hidden_sizes", [256, 512, 1024, 2048]),
        "depths": ("depths", [3, 4, 6, 3]),
    },
    PLAIN,
    sides=(),
    fixed={
        "hidden_act": ("relu",),
        "downsample_in_first_stage": (False,),
        "downsample_in_bottleneck": (False,),
    },
    # Which maps a backbone would hand on; a classifier and the bare model read the last.
    without_effect={"out_features", "out_indices", "_out_features", "_out_indices", "stage_names"},
)


def refuse(given: Config) -> None:
    """Refuse a ResNet with parts that theirs has not, naming each."""
    said = {name: getattr(given, name) for name in _STRUCTURE}
    problems = [
        f"{name} is {value!r} and must be {PLAIN[name]!r}"
        for name, value in said.items()
        if (list(value) if isinstance(value, tuple) else value) != PLAIN[name]
    ]
    if problems:
        raise ValueError(f"transformers has no such ResNet: {listed(problems)}")


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config, or all that they have no field for."""
    refuse(given)
    return PICTURE.to_json(given, tokenizer)


def _config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    return PICTURE.config(given)


TABLE = Table(
    "resnet",
    FAMILY,
    (*body("resnet"), same("classifier.1.{p}", "head.{p}")),
    _config,
    to_json,
    lambda _, found: found,
    task_by_classes,
    prefix="resnet.",
)
