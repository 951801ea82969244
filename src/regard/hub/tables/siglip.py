"""SigLIP as Hugging Face keeps it: CLIP's towers, pooled by a query that asks all cells (Zhai 2023)."""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from regard.hub.tables import clip
from regard.hub.tables.rules import Rule, same, split, squeezed
from regard.hub.tables.table import Table
from regard.hub.tables.vit import PLAIN
from regard.models.clip import FAMILY, Config
from regard.text import Tokenizer

ARCHITECTURE = "SiglipModel"
_HEAD = "vision_model.head"
RULES: tuple[Rule, ...] = (
    *clip.TOWERS,
    squeezed(f"{_HEAD}.probe", "image.probe.look.queries"),
    *(
        split(f"{_HEAD}.attention.in_proj_{each}", [f"image.probe.look.attn.{part}.{each}" for part in "qkv"])
        for each in ("weight", "bias")
    ),
    same(f"{_HEAD}.attention.out_proj.{{p}}", "image.probe.look.attn.out.{p}"),
    same(f"{_HEAD}.layernorm.{{p}}", "image.probe.norm.{p}"),
    same(f"{_HEAD}.mlp.fc1.{{p}}", "image.probe.mlp.up.{p}"),
    same(f"{_HEAD}.mlp.fc2.{{p}}", "image.probe.mlp.down.{p}"),
    same("text_model.head.{p}", "to_text.{p}"),
    squeezed("logit_scale", "log_scale"),
    squeezed("logit_bias", "bias"),
)

_BOTH: clip.Sizes = {
    "width": ("hidden_size", 768),
    "depth": ("num_hidden_layers", 12),
    "heads": ("num_attention_heads", 12),
    "hidden": ("intermediate_size", 3072),
    "activation": ("hidden_act", "gelu_pytorch_tanh"),
    "eps": ("layer_norm_eps", 1e-6),
}
_TEXT: clip.Sizes = {"vocab": ("vocab_size", 32000), "context": ("max_position_embeddings", 64), **_BOTH}
_IMAGE: clip.Sizes = {
    "size": ("image_size", 224),
    "channels": ("num_channels", 3),
    "patch": ("patch_size", 16),
    **_BOTH,
}
_EYE: Mapping[str, Any] = {"classes": 0, "dropout": 0.0, "pool": "probe", "first_norm": False}
_WAYS: Mapping[str, Any] = {"causal": False, "filled": True, "dropout": 0.0}


def config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json."""
    problems: list[str] = []
    text = {**clip.tower(given, "text_config", _TEXT, problems, {"projection_size"}), **_WAYS}
    image = {**PLAIN, **clip.tower(given, "vision_config", _IMAGE, problems, {"vision_use_head"}), **_EYE}
    # Their text is projected as wide as it was, unless it says otherwise.
    joint = (given.get("text_config") or {}).get("projection_size", text["width"]) if not problems else 0
    if not problems and joint != image["width"]:
        problems.append(f"texts are projected to {str(joint)[:40]}, and pictures have {str(image['width'])[:40]}")
    if (given.get("vision_config") or {}).get("vision_use_head", True) is not True:
        problems.append("vision_config: vision_use_head is not True, and only True is supported")
    clip.check(given, "SigLIP", ARCHITECTURE, set(), problems)
    own = {"pool": "tower", "heads": 8, "project": "text", "dropout": 0.0, "bias": True}
    return {"image": image, "text": text, "joint": joint, **own}


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    ids = clip.special_ids(given.text, tokenizer)
    return {
        "model_type": "siglip",
        "architectures": [ARCHITECTURE],
        "text_config": {**clip.tower_json(given.text, _TEXT), "projection_size": given.joint, **ids},
        "vision_config": clip.tower_json(given.image, _IMAGE),
    }


def _tokenizer(given: Mapping[str, Any], found: Tokenizer) -> Tokenizer:
    """Texts have no beginning of their own, and are filled with what their config names, which is mostly the end."""
    pad = (given.get("text_config") or {}).get("pad_token_id", 1)
    known = pad if isinstance(pad, int) and 0 <= pad < found.vocab else found.stop
    return replace(found, start=None, pad=known)


TABLE = Table(
    "siglip",
    FAMILY,
    RULES,
    config,
    to_json,
    _tokenizer,
    {"task": "match", "plain": True},
    fits=lambda given: clip.fits_towers(given, _EYE, _WAYS, pool="tower", project="text", bias=True),
)
