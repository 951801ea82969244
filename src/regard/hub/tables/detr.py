"""DETR as Hugging Face keeps it, around a ResNet of its own or of timm (Carion 2020).

Since version 5 of `transformers` some parts have other names while they run, but not on disk; files with either are
read. With `auxiliary_loss`, theirs normalises the stream between two blocks of the decoder, which the paper does not,
so that such a model says something else; it is refused.
"""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables import resnet
from regard.hub.tables.encoder import FIXED, WITHOUT_EFFECT
from regard.hub.tables.rules import Rule, alias, same
from regard.hub.tables.table import Table, find_problems
from regard.models.detr import FAMILY, Config
from regard.models.resnet import Config as ResNetConfig
from regard.text import Tokenizer

ARCHITECTURE = "DetrForObjectDetection"
_BACKBONE = "model.backbone.conv_encoder.model"  # on disk; "model.backbone.model" while it runs


def _attention(theirs: str, ours: str) -> tuple[Rule, ...]:
    return (
        *(same(f"{theirs}.{part}_proj.{{p}}", f"{ours}.{part}.{{p}}") for part in "qkv"),
        same(f"{theirs}.out_proj.{{p}}", f"{ours}.out.{{p}}"),
        alias(f"{theirs}.o_proj.{{p}}", f"{ours}.out.{{p}}"),
    )


_LAYER = (
    *_attention("self_attn", "attn"),
    same("self_attn_layer_norm.{p}", "attn_norm.{p}"),
    same("fc1.{p}", "mlp.up.{p}"),
    same("fc2.{p}", "mlp.down.{p}"),
    alias("mlp.fc1.{p}", "mlp.up.{p}"),
    alias("mlp.fc2.{p}", "mlp.down.{p}"),
    same("final_layer_norm.{p}", "mlp_norm.{p}"),
)
_CROSS = (*_attention("encoder_attn", "cross"), same("encoder_attn_layer_norm.{p}", "cross_norm.{p}"))
_TIMM_BLOCK = (
    *(alias(f"conv{i + 1}.weight", f"branch.{2 * i}.0.weight") for i in range(3)),
    *(alias(f"bn{i + 1}.{{p}}", f"branch.{2 * i}.1.{{p}}") for i in range(3)),
    alias("downsample.0.weight", "shortcut.0.weight"),
    alias("downsample.1.{p}", "shortcut.1.{p}"),
)
_TIMM = (
    alias(f"{_BACKBONE}.conv1.weight", "backbone.stem.0.0.weight"),
    alias(f"{_BACKBONE}.bn1.{{p}}", "backbone.stem.0.1.{p}"),
    *(
        rule.within(f"{_BACKBONE}.layer{stage + 1}.{{i}}", f"backbone.stages.{stage}.{{i}}")
        for stage in range(4)
        for rule in _TIMM_BLOCK
    ),
)
RULES: tuple[Rule, ...] = (
    *resnet.body(_BACKBONE, "backbone."),
    *(alias(rule.theirs, *rule.ours) for rule in resnet.body("model.backbone.model", "backbone.")),
    *_TIMM,
    same("model.input_projection.{p}", "project.{p}"),
    same("model.query_position_embeddings.weight", "queries"),
    *(rule.within("model.encoder.layers.{i}", "encoder.blocks.{i}") for rule in _LAYER),
    *(rule.within("model.decoder.layers.{i}", "decoder.{i}") for rule in (*_LAYER, *_CROSS)),
    same("model.decoder.layernorm.{p}", "norm.{p}"),
    same("class_labels_classifier.{p}", "to_class.{p}"),
    *(same(f"bbox_predictor.layers.{i}.{{p}}", f"to_box.{2 * i}.{{p}}") for i in range(3)),
)

# Their fields for ours, and what `transformers` takes for one that a file leaves out.
_SIZES: Mapping[str, tuple[str, Any]] = {
    "width": ("d_model", 256),
    "depth": ("encoder_layers", 6),
    "decoder_depth": ("decoder_layers", 6),
    "heads": ("encoder_attention_heads", 8),
    "hidden": ("encoder_ffn_dim", 2048),
    "queries": ("num_queries", 100),
    "dropout": ("dropout", 0.1),
    "inner_dropout": ("attention_dropout", 0.0),
}
# Their fields that must say the same as another, and what they say where a file leaves them out.
_TWINS: Mapping[str, tuple[str, Any]] = {
    "decoder_attention_heads": ("encoder_attention_heads", 8),
    "decoder_ffn_dim": ("encoder_ffn_dim", 2048),
    "activation_dropout": ("attention_dropout", 0.0),
}
_ALIASES = {
    "hidden_size": "d_model",
    "num_attention_heads": "encoder_attention_heads",
    "num_hidden_layers": "encoder_layers",
}
_FIXED: Mapping[str, tuple[object, ...]] = {
    **FIXED,
    "is_encoder_decoder": (True,),
    "position_embedding_type": ("sine",),
    "activation_function": ("relu",),
    "auxiliary_loss": (False,),
    "dilation": (False,),
    "encoder_layerdrop": (0.0, 0),
    "decoder_layerdrop": (0.0, 0),
    "scale_embedding": (False,),
    "classifier_dropout": (0.0, 0),
}
# How it was matched, weighed and first drawn in training, and what older files say that nothing reads.
_WITHOUT_EFFECT: Set[str] = {
    *("class_cost", "bbox_cost", "giou_cost", "mask_loss_coefficient", "dice_loss_coefficient"),
    *("bbox_loss_coefficient", "giou_loss_coefficient", "eos_coefficient", "init_std", "init_xavier_std"),
    *("max_position_embeddings", "use_pretrained_backbone"),
}
_PLAIN: Mapping[str, Any] = {"frozen": True, "anchored": False, "turns": 1.0}  # what they have no field for
# How deep the ResNets are that timm has names for.
_NAMED = {"resnet50": [3, 4, 6, 3], "resnet101": [3, 4, 23, 3]}
_READ = {"architectures", "id2label", "num_labels", "_num_labels", "num_channels"}
_OF_BACKBONE = {"backbone", "backbone_config", "backbone_kwargs", "use_timm_backbone"}


def config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; every field is honoured or refused by its name."""
    fields = {ours: given.get(theirs, default) for ours, (theirs, default) in _SIZES.items()}
    known = {theirs for theirs, _ in _SIZES.values()} | _TWINS.keys() | _ALIASES.keys()
    known |= _READ | _OF_BACKBONE | WITHOUT_EFFECT | _WITHOUT_EFFECT
    problems = find_problems(given, known, _FIXED)
    defaults = dict(_SIZES.values()) | {name: default for name, (_, default) in _TWINS.items()}
    for name, other in {**{name: twin for name, (twin, _) in _TWINS.items()}, **_ALIASES}.items():
        if name in _ALIASES and name not in given:
            continue
        one, two = given.get(name, defaults.get(name)), given.get(other, defaults[other])
        if one != two:
            problems.append(f"{name} is {str(one)[:40]} and {other} {str(two)[:40]}, and they must be the same")
    architectures, labels = given.get("architectures"), given.get("id2label")
    if architectures not in (None, [ARCHITECTURE]):
        problems.append(f"architectures is {str(architectures)[:60]}; known is {ARCHITECTURE}")
    if not isinstance(labels, dict | None):
        problems.append(f"id2label is {str(labels)[:40]}, and no object")
    backbone = _backbone(given, problems)
    if problems:
        raise CheckpointError(f"this DETR is not supported: {listed(problems)}")
    classes = len(labels) if labels else given.get("num_labels", given.get("_num_labels", 2))
    return {**fields, **_PLAIN, "size": 800, "backbone": backbone, "classes": classes}


def _backbone(given: Mapping[str, Any], problems: list[str]) -> dict[str, Any] | None:
    """Our fields of the ResNet that it sees with: one of theirs in full, or one of timm's by its name."""
    inner = given.get("backbone_config")
    if isinstance(inner, dict) and inner.get("model_type") == "resnet":
        described: Mapping[str, Any] | None = _described(inner, problems)
    else:
        described = _named(given, inner, problems)
    try:
        return None if described is None else resnet.PICTURE.config({**described, "architectures": ["ResNetModel"]})
    except CheckpointError as error:
        problems.append(f"backbone_config: {error}")
        return None


def _described(inner: Mapping[str, Any], problems: list[str]) -> Mapping[str, Any]:
    stages = inner.get("depths", [3, 4, 6, 3])
    last = len(stages) if isinstance(stages, list) else 0
    for field, wanted in (("out_features", f"stage{last}"), ("out_indices", last)):
        if isinstance(read := inner.get(field), list) and read[-1:] not in ([wanted], [-1]):
            problems.append(f"backbone_config.{field} is {str(read)[:40]}, and only {[wanted]} is supported")
    return inner


def _named(given: Mapping[str, Any], inner: object, problems: list[str]) -> Mapping[str, Any] | None:
    about: Mapping[str, Any] = inner if isinstance(inner, dict) else {} if inner is None else {"model_type": inner}
    if about.get("model_type", "timm_backbone") != "timm_backbone":
        said = str(about["model_type"])[:40]
        problems.append(f"backbone_config.model_type is {said}, and only resnet and timm_backbone are supported")
        return None
    name = str(about.get("backbone") or given.get("backbone") or "resnet50")
    if name not in _NAMED:
        problems.append(f"backbone is {name[:40]!r}; known are {', '.join(_NAMED)}, or a resnet in backbone_config")
        return None
    channels, kwargs = about.get("num_channels", given.get("num_channels", 3)), given.get("backbone_kwargs") or {}
    more: Mapping[str, Any] = kwargs if isinstance(kwargs, dict) else {"": kwargs}
    problems += [
        f"{where}.{str(field)[:40]} is {str(value)[:40]}, which is not supported"
        for where, fields in (("backbone_config", about), ("backbone_kwargs", more))
        for field, value in fields.items()
        if not _is_plain(field, value, channels)
    ]
    return {"num_channels": channels, "depths": _NAMED[name]}


def _is_plain(field: str, value: object, channels: object) -> bool:
    """Whether a setting of timm's backbone leaves it the ResNet that its name says, read at its last stage."""
    if field == "out_indices":
        return isinstance(value, list | tuple) and list(value)[-1:] in ([4], [-1])
    if field in ("in_chans", "num_channels"):
        return value == channels
    # They are frozen here in any case, and weights come from the file.
    aside = {"model_type", "backbone", "features_only", "use_pretrained_backbone", "freeze_batch_norm_2d"}
    return field in aside | WITHOUT_EFFECT | _READ or value in (None, False, [], {})


def to_json(given: Config, _: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config, or what they have no field for."""
    if not isinstance(given.backbone, ResNetConfig):
        raise ValueError(
            "transformers has a DETR around a ResNet, and none around an EfficientNet; export has no place"
        )
    if others := [f"{name}={getattr(given, name)}" for name, plain in _PLAIN.items() if getattr(given, name) != plain]:
        raise ValueError(f"a DETR of transformers has no {', '.join(others)}; export has no place for it")
    resnet.refuse(given.backbone)
    stage, names = len(given.backbone.depths), {i: f"LABEL_{i}" for i in range(given.classes)}
    inner = resnet.PICTURE.to_json(given.backbone, None)
    return {
        "model_type": "detr",
        "architectures": [ARCHITECTURE],
        **{theirs: getattr(given, ours) for ours, (theirs, _) in _SIZES.items()},
        "decoder_attention_heads": given.heads,
        "decoder_ffn_dim": given.hidden,
        "activation_dropout": given.inner_dropout,
        **{name: allowed[0] for name, allowed in _FIXED.items() if name not in FIXED and name != "classifier_dropout"},
        "use_timm_backbone": False,
        "num_channels": given.backbone.channels,
        "backbone_config": {**inner, "out_features": [f"stage{stage}"], "out_indices": [stage]},
        "id2label": names,
        "label2id": {name: i for i, name in names.items()},
    }


TABLE = Table("detr", FAMILY, RULES, config, to_json, lambda _, found: found, {"task": "detect"})
