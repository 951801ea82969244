"""CLIP as Hugging Face keeps it: a ViT, a causal Transformer over texts, and two projections (Radford 2021)."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.encoder import ACTIVATIONS as OF_ENCODERS
from regard.hub.tables.encoder import FIXED, WITHOUT_EFFECT
from regard.hub.tables.rules import Rule, ignored, lifted, same
from regard.hub.tables.table import Table, find_problems
from regard.hub.tables.vit import PLAIN
from regard.models import vit
from regard.models.clip import FAMILY, Config, Text
from regard.text import Tokenizer

ARCHITECTURE = "CLIPModel"
# Theirs is first where several compute the same, up to rounding.
ACTIVATIONS: Mapping[str, Sequence[str]] = {
    "quick_gelu": ("quick_gelu",),
    **{name: OF_ENCODERS[name] for name in ("gelu", "gelu_tanh")},
}
LAYER: tuple[Rule, ...] = (
    *(same(f"self_attn.{part}_proj.{{p}}", f"attn.{part}.{{p}}") for part in "qkv"),
    same("self_attn.out_proj.{p}", "attn.out.{p}"),
    same("layer_norm1.{p}", "attn_norm.{p}"),
    same("layer_norm2.{p}", "mlp_norm.{p}"),
    same("mlp.fc1.{p}", "mlp.up.{p}"),
    same("mlp.fc2.{p}", "mlp.down.{p}"),
)
# What both towers have under the same names in CLIP and SigLIP.
TOWERS: tuple[Rule, ...] = (
    same("text_model.embeddings.token_embedding.weight", "text.embed.weight"),
    same("text_model.embeddings.position_embedding.weight", "text.position.table"),
    ignored("text_model.embeddings.position_ids"),
    *(rule.within("text_model.encoder.layers.{i}", "text.encoder.blocks.{i}") for rule in LAYER),
    same("text_model.final_layer_norm.{p}", "text.norm.{p}"),
    same("vision_model.embeddings.patch_embedding.{p}", "image.stem.project.{p}"),
    same("vision_model.embeddings.position_embedding.weight", "image.positions.0.table"),
    ignored("vision_model.embeddings.position_ids"),
    *(rule.within("vision_model.encoder.layers.{i}", "image.blocks.{i}") for rule in LAYER),
    same("vision_model.post_layernorm.{p}", "image.norm.{p}"),
)
RULES: tuple[Rule, ...] = (
    *TOWERS,
    lifted("vision_model.embeddings.class_embedding", "image.cls"),
    same("vision_model.pre_layrnorm.{p}", "image.first_norm.{p}"),  # they write it so
    same("visual_projection.weight", "to_image.weight"),
    same("text_projection.weight", "to_text.weight"),
    same("logit_scale", "log_scale"),
)

# Their fields for ours, and what `transformers` takes for one that a file leaves out.
Sizes = Mapping[str, tuple[str, Any]]
_TEXT: Sizes = {
    "vocab": ("vocab_size", 49408),
    "context": ("max_position_embeddings", 77),
    "width": ("hidden_size", 512),
    "depth": ("num_hidden_layers", 12),
    "heads": ("num_attention_heads", 8),
    "hidden": ("intermediate_size", 2048),
    "activation": ("hidden_act", "quick_gelu"),
    "eps": ("layer_norm_eps", 1e-5),
}
_IMAGE: Sizes = {
    "size": ("image_size", 224),
    "channels": ("num_channels", 3),
    "patch": ("patch_size", 32),
    "width": ("hidden_size", 768),
    "depth": ("num_hidden_layers", 12),
    "heads": ("num_attention_heads", 12),
    "hidden": ("intermediate_size", 3072),
    "activation": ("hidden_act", "quick_gelu"),
    "eps": ("layer_norm_eps", 1e-5),
}
_OF_TOWERS: Mapping[str, tuple[object, ...]] = {**FIXED, "attention_dropout": (0.0, 0), "dropout": (0.0, 0)}
# How weights were first drawn, and the older twins of the configs of the towers, which say but what differs.
_ASIDE: Set[str] = {
    *("initializer_factor", "id2label", "num_labels", "architectures", "projection_dim", "logit_scale_init_value"),
    *("gradient_checkpointing_kwargs", "text_config_dict", "vision_config_dict"),
}
_EYE: Mapping[str, Any] = {"classes": 0, "dropout": 0.0, "pool": "cls", "first_norm": True}
_WAYS: Mapping[str, Any] = {"causal": True, "filled": False, "dropout": 0.0}


def tower(
    given: Mapping[str, Any], part: str, sizes: Sizes, problems: list[str], aside: Set[str] = frozenset()
) -> dict[str, Any]:
    """Our fields of one of their towers, of which every field is honoured or refused by its name."""
    inner = given.get(part) or {}
    if not isinstance(inner, dict):
        problems.append(f"{part} is {str(inner)[:40]}, and no object")
        inner = {}
    known = {theirs for theirs, _ in sizes.values()} | WITHOUT_EFFECT | _ASIDE | aside
    problems += [f"{part}: {each}" for each in find_problems(inner, known, _OF_TOWERS)]
    fields = {ours: inner.get(theirs, default) for ours, (theirs, default) in sizes.items()}
    activation = next((ours for ours, theirs in ACTIVATIONS.items() if fields["activation"] in theirs), None)
    if activation is None:
        problems.append(f"{part}: hidden_act is {str(fields['activation'])[:40]!r}; known are {', '.join(ACTIVATIONS)}")
    return {**fields, "activation": activation}


def check(given: Mapping[str, Any], title: str, architecture: str, known: Set[str], problems: list[str]) -> None:
    """Refuse a config.json that has more than is understood, with all that is wrong with it."""
    both = {"text_config", "vision_config"} | known | WITHOUT_EFFECT | _ASIDE
    problems += find_problems(given, both, FIXED)
    if given.get("architectures") not in (None, [architecture]):
        problems.append(f"architectures is {str(given['architectures'])[:60]}; known is {architecture}")
    if problems:
        raise CheckpointError(f"this {title} is not supported: {listed(problems)}")


def config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json."""
    problems: list[str] = []
    text = {**tower(given, "text_config", _TEXT, problems), **_WAYS}
    image = {**PLAIN, **tower(given, "vision_config", _IMAGE, problems), **_EYE}
    check(given, "CLIP", ARCHITECTURE, {"projection_dim"}, problems)
    joint = {"pool": "tower", "heads": 8, "project": "both", "dropout": 0.0, "bias": False}
    return {"image": image, "text": text, "joint": given.get("projection_dim", 512), **joint}


def tower_json(given: Any, sizes: Sizes) -> dict[str, Any]:
    """Their fields of a tower for ours."""
    found = {theirs: getattr(given, ours) for ours, (theirs, _) in sizes.items()}
    return found | {"hidden_act": ACTIVATIONS[given.activation][0]}


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    return {
        "model_type": "clip",
        "architectures": [ARCHITECTURE],
        "projection_dim": given.joint,
        "text_config": {
            **tower_json(given.text, _TEXT),
            "projection_dim": given.joint,
            **special_ids(given.text, tokenizer),
        },
        "vision_config": tower_json(given.image, _IMAGE) | {"projection_dim": given.joint},
    }


def special_ids(text: Any, tokenizer: Tokenizer | None) -> dict[str, int | None]:
    """Which ids begin, end and pad a text; theirs pools at the first id that ends one."""
    if tokenizer is None:  # the highest id ends a text, as in CLIP's own vocabulary
        return {"pad_token_id": text.vocab - 1, "bos_token_id": text.vocab - 2, "eos_token_id": text.vocab - 1}
    return {"pad_token_id": tokenizer.pad, "bos_token_id": tokenizer.start, "eos_token_id": tokenizer.stop}


def fits_towers(given: Config, image: Mapping[str, Any], text: Mapping[str, Any], **own: Any) -> bool:
    """Whether theirs can be this one."""
    if not isinstance(given.image, vit.Config) or not isinstance(given.text, Text):
        return False
    eye = {**PLAIN, "activation": given.image.activation, **image}
    return (
        all(getattr(given.image, name) == value for name, value in eye.items() if name != "drop_path")
        and all(getattr(given.text, name) == value for name, value in text.items() if name != "dropout")
        and all(getattr(given, name) == value for name, value in own.items())
    )


def _tokenizer(_: Mapping[str, Any], found: Tokenizer) -> Tokenizer:
    """Their files pad with the token that ends a text, which is no padding of another meaning."""
    return found if found.pad is not None else replace(found, pad=found.stop)


TABLE = Table(
    "clip",
    FAMILY,
    RULES,
    config,
    to_json,
    _tokenizer,
    {"task": "match"},
    fits=lambda given: fits_towers(given, _EYE, _WAYS, pool="tower", project="both", bias=False),
)
