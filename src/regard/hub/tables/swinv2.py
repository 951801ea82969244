"""Swin V2 as Hugging Face keeps it (Liu 2022)."""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from regard.hub.gate import CheckpointError
from regard.hub.tables import swin
from regard.hub.tables.picture import task_by_classes
from regard.hub.tables.rules import ignored, same
from regard.hub.tables.table import Table
from regard.models.swin import FAMILY, Config
from regard.text import Tokenizer

_BLOCK = (
    same("attention.self.logit_scale", "attn.attn.q_norm.log_scale"),
    same("attention.self.continuous_position_bias_mlp.{layer}.{p}", "attn.attn.bias.network.{layer}.{p}"),
    ignored("attention.self.relative_coords_table"),
)
PICTURE = replace(
    swin.PICTURE,
    title="Swin V2",
    model_type="swinv2",
    stem="Swinv2",
    sizes={**swin.SIZES, "trained": ("pretrained_window_sizes", [0, 0, 0, 0])},
    own={"version": 2},
)


def _config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; where a map does not halve theirs rounds down, and ours refuses."""
    fields = swin.read(PICTURE, given)
    size, patch, halvings = fields["size"], fields["patch"], len(fields["widths"]) - 1
    if type(size) is int and type(patch) is int and patch > 0 and size % (patch << halvings):
        said = f"image_size is {size}, whose patches of {patch} do not halve {halvings} times"
        raise CheckpointError(f"this Swin V2 is not supported: {said}")
    trained = fields["trained"]
    none = trained is None or (isinstance(trained, list) and not any(trained))
    return {**fields, "trained": [] if none else trained}


def _to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    return swin.write(PICTURE, replace(given, trained=given.trained or (0,) * len(given.depths)), tokenizer)


def _fits(config: Config) -> bool:
    return config.version == 2


TABLE = Table(
    "swinv2",
    FAMILY,
    swin.rules("swinv2", _BLOCK),
    _config,
    _to_json,
    lambda _, found: found,
    task_by_classes,
    prefix="swinv2.",
    fits=_fits,
)
