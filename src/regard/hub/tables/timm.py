"""ViTs under the names of timm: `vit_base_patch16_224` and its relatives, whose config.json says little but that name.

Theirs: queries, keys and values lie one above another in one matrix, and LayerScale is called gamma. What the name does
not say, such as the size of the pictures or how they are pooled, is said in `pretrained_cfg` or beside it.
"""

import re
from collections.abc import Mapping, Set
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.rules import Rule, same, split, squeezed
from regard.hub.tables.table import Table, find_problems
from regard.models.vit import FAMILY, Config
from regard.text import Tokenizer

# Width, depth and heads by the second word of a name; an MLP is four times as wide.
SIZES = {
    "tiny": (192, 12, 3),
    "small": (384, 12, 6),
    "base": (768, 12, 12),
    "large": (1024, 24, 16),
    "huge": (1280, 32, 16),
}
NAME = re.compile(r"(?:vit|deit)_(\w+?)_patch(\d+)(?:_reg(\d+))?(?:_[a-z]\w*?)?_(\d+)(?:\..*)?")
KNOWN = {"architecture", "num_classes", "num_features", "global_pool", "pretrained_cfg", "model_args", "label_names"}
_LAYER = (
    *(split(f"attn.qkv.{p}", [f"attn.{part}.{p}" for part in "qkv"]) for p in ("weight", "bias")),
    same("attn.proj.{p}", "attn.out.{p}"),
    same("norm1.{p}", "attn_norm.{p}"),
    same("norm2.{p}", "mlp_norm.{p}"),
    same("mlp.fc1.{p}", "mlp.up.{p}"),
    same("mlp.fc2.{p}", "mlp.down.{p}"),
    same("ls1.gamma", "attn_join.layer_scale"),
    same("ls2.gamma", "mlp_join.layer_scale"),
)
RULES: tuple[Rule, ...] = (
    same("patch_embed.proj.{p}", "stem.project.{p}"),
    same("cls_token", "cls"),
    same("reg_token", "registers"),
    squeezed("pos_embed", "positions.0.table"),
    *(rule.within("blocks.{i}", "blocks.{i}") for rule in _LAYER),
    same("norm.{p}", "norm.{p}"),
    same("head.{p}", "head.{p}"),
)


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:
    """Our fields for their name; what it does not say must be what all of them have."""
    said = str(given.get("architecture"))[:100]
    found = NAME.fullmatch(said)
    problems = find_problems(given, KNOWN | {"model_type"}, {"global_pool": ("token",), "model_args": ({}, None)})
    if found is None or found[1] not in SIZES:
        known = ", ".join(f"vit_{size}_patch16_224" for size in SIZES)
        problems.append(f"the architecture {said!r} is not known; those like {known} are")
    if problems or found is None:
        raise CheckpointError(f"this model of timm is not supported: {listed(problems)}")
    width, depth, heads = SIZES[found[1]]
    about = given.get("pretrained_cfg")
    shape = about.get("input_size") if isinstance(about, dict) else None
    size = shape[-1] if isinstance(shape, list) and shape else int(found[4])
    return {
        "size": size,
        "channels": 3,
        "patch": int(found[2]),
        "width": width,
        "depth": depth,
        "heads": heads,
        "hidden": 4 * width,
        "classes": given.get("num_classes", 1000),
        "stem": "patch",
        "pool": "cls",
        "registers": int(found[3] or 0),
        "position": "learned",
        "inject": "once",
        "dropout": 0.0,
        "drop_path": 0.0,
        "layer_scale": 1.0 if "blocks.0.ls1.gamma" in names else 0.0,
        "eps": 1e-6,
    }


def to_json(given: Config, _: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    sizes = {(width, depth, heads, 4 * width): name for name, (width, depth, heads) in SIZES.items()}
    registers = f"_reg{given.registers}" if given.registers else ""
    name = sizes[given.width, given.depth, given.heads, given.hidden]
    return {
        "architecture": f"vit_{name}_patch{given.patch}{registers}_{given.size}",
        "num_classes": given.classes,
        "num_features": given.width,
        "global_pool": "token",
        "pretrained_cfg": {"input_size": [given.channels, given.size, given.size], "num_classes": given.classes},
    }


def fits(config: Config) -> bool:
    """Whether timm has a name for it."""
    plain = (config.stem, config.pool, config.position, config.inject) == ("patch", "cls", "learned", "once")
    named = (config.width, config.depth, config.heads) in SIZES.values() and config.hidden == 4 * config.width
    usual = (config.activation, config.first_norm) == ("gelu", False)
    return plain and usual and named and config.channels == 3 and config.eps == 1e-6


TABLE = Table(
    "timm",
    FAMILY,
    RULES,
    config,
    to_json,
    lambda _, found: found,
    lambda fields: {"task": "recognize" if fields["classes"] else "features"},
    fits=fits,
    by_name=True,
)
