"""Perceiver IO as Hugging Face keeps it: of texts, of pictures by their pixels, and bare (Jaegle 2022).

Their models with convolutions, of optical flow and of several senses at once are not ours; transformers opens them.
Norms have an eps of 1e-5 there whatever `layer_norm_eps` says, and so they have here.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.encoder import FIXED, WITHOUT_EFFECT
from regard.hub.tables.rules import Rule, same
from regard.hub.tables.table import Table, find_problems
from regard.models.perceiver import FAMILY, Config
from regard.text import Tokenizer

SIZE, BANDS = 224, 64  # of a model of pictures, which its config does not say
_PLAIN = {"patch": 1, "stem": 0, "bands": 0}
# What each of their classes is: which decoder it has, and the fields of ours that follow from it.
ARCHITECTURES: Mapping[str, Mapping[str, Any]] = {
    "PerceiverForMaskedLM": {**_PLAIN, "axes": 1, "decoder": "words"},
    "PerceiverForSequenceClassification": {**_PLAIN, "axes": 1, "decoder": "query"},
    "PerceiverForImageClassificationFourier": {
        **_PLAIN,
        "axes": 2,
        "decoder": "query",
        "words": 0,
        "size": SIZE,
        "channels": 3,
        "bands": BANDS,
    },
    "PerceiverModel": {**_PLAIN, "axes": 0, "decoder": "none", "words": 0, "size": 2, "classes": 0},
}

_LAYER = (
    same("attention.self.layernorm1.{p}", "attn_norm.{p}"),
    *(same(f"attention.self.{name}.{{p}}", f"attn.{name[0]}.{{p}}") for name in ("query", "key", "value")),
    same("attention.output.dense.{p}", "attn.out.{p}"),
    same("layernorm.{p}", "mlp_norm.{p}"),
    same("mlp.dense1.{p}", "mlp.up.{p}"),
    same("mlp.dense2.{p}", "mlp.down.{p}"),
)
_CROSS = (*_LAYER, same("attention.self.layernorm2.{p}", "context_norm.{p}"))
_BODY = (
    same("perceiver.embeddings.latents", "latents"),
    same("perceiver.input_preprocessor.embeddings.weight", "embed.weight"),
    same("perceiver.input_preprocessor.position_embeddings.weight", "position.table"),
    *(rule.within("perceiver.encoder.cross_attention", "crosses.0") for rule in _CROSS),
    *(rule.within("perceiver.encoder.self_attends.{i}", "towers.0.{i}") for rule in _LAYER),
)


def rules(fields: Mapping[str, Any], _: Mapping[str, Any]) -> Sequence[Rule]:
    """Those of a model with this decoder; a decoder that classifies lies one name deeper."""
    words = fields["decoder"] == "words"
    place = "perceiver.decoder" if words else "perceiver.decoder.decoder"
    return (
        *_BODY,
        *(rule.within(f"{place}.decoding_cross_attention", "decode") for rule in _CROSS),
        same(f"{place}.output_position_encodings.position_embeddings", "queries"),
        same("embedding_decoder.bias", "head.bias") if words else same(f"{place}.final_layer.{{p}}", "head.{p}"),
    )


# Their fields for ours, and what `transformers` takes for one that a file leaves out.
_SIZES: Mapping[str, tuple[str, Any]] = {
    "latents": ("num_latents", 256),
    "width": ("d_latents", 1280),
    "repeats": ("num_blocks", 1),
    "depth": ("num_self_attends_per_block", 26),
    "heads": ("num_self_attention_heads", 8),
    "cross_heads": ("num_cross_attention_heads", 8),
    "widen": ("self_attention_widening_factor", 1),
    "dropout": ("attention_probs_dropout_prob", 0.1),
}
_OF_TEXTS: Mapping[str, tuple[str, Any]] = {
    "size": ("max_position_embeddings", 2048),
    "channels": ("d_model", 768),
    "words": ("vocab_size", 262),
}
_CHANNELS = {"qk_channels", "v_channels", "cross_attention_shape_for_attention", "cross_attention_widening_factor"}
_FIXED: Mapping[str, tuple[object, ...]] = {
    **FIXED,
    "hidden_act": ("gelu", "gelu_python"),
    "use_query_residual": (True,),
}
# Of their other models, and a norm's eps that theirs do not read either.
_WITHOUT_EFFECT: Set[str] = {
    *("layer_norm_eps", "image_size", "train_size", "num_frames", "audio_samples_per_frame", "samples_per_patch"),
    *("output_shape", "output_num_channels", "_label_trainable_num_channels"),
}


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; every field is honoured or refused by its name."""
    known = {theirs for theirs, _ in (*_SIZES.values(), *_OF_TEXTS.values())} | _CHANNELS
    known |= {"architectures", "id2label", "num_labels", "_num_labels"} | WITHOUT_EFFECT | _WITHOUT_EFFECT
    problems = find_problems(given, known, _FIXED)
    kind, labels = _kind(given.get("architectures"), names), given.get("id2label")
    fields = {ours: given.get(theirs, default) for ours, (theirs, default) in {**_SIZES, **_OF_TEXTS}.items()}
    if kind not in ARCHITECTURES:
        problems.append(f"architectures is {kind[:60]}; known are {', '.join(ARCHITECTURES)}")
    if (other := given.get("cross_attention_widening_factor", 1)) != fields["widen"]:
        problems.append(
            f"cross_attention_widening_factor is {str(other)[:40]} and self_attention_widening_factor "
            f"{str(fields['widen'])[:40]}, and they must be the same"
        )
    if not isinstance(labels, dict | None):
        problems.append(f"id2label is {str(labels)[:40]}, and no object")
    qk = _qk(given, fields["width"], problems)
    if problems:
        raise CheckpointError(f"this Perceiver is not supported: {listed(problems)}")
    classes = len(labels) if labels else given.get("num_labels", given.get("_num_labels", 2))
    decided = {"looks": 1, "share": True, "qk": qk, "classes": 0 if kind == "PerceiverForMaskedLM" else classes}
    return {**fields, **decided, **ARCHITECTURES[kind]}


def _kind(architectures: object, names: Set[str]) -> str:
    """The name of their class; a file that says none is taken for what its tensors are."""
    if architectures is None:
        return "PerceiverForMaskedLM" if "embedding_decoder.bias" in names else "PerceiverModel"
    one = isinstance(architectures, list) and len(architectures) == 1
    return str(architectures[0] if one and isinstance(architectures, list) else architectures)


def _qk(given: Mapping[str, Any], width: object, problems: list[str]) -> Any:
    """Our channels of queries and keys: theirs, or the width of what looks or of what is looked at."""
    qk, v = given.get("qk_channels"), given.get("v_channels")
    shape = given.get("cross_attention_shape_for_attention", "kv")
    if v not in ((None,) if qk is None else (width,)):
        problems.append(f"v_channels is {str(v)[:40]} beside qk_channels {str(qk)[:40]} and d_latents {width}")
    if shape not in ("kv", "q"):
        problems.append(f"cross_attention_shape_for_attention is {str(shape)[:40]!r}; known are kv, q")
    return (width if shape == "q" else 0) if qk is None else qk


def to_json(given: Config, _: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    kind = _class_of(given)
    texts = kind in ("PerceiverForMaskedLM", "PerceiverForSequenceClassification")
    names = {i: f"LABEL_{i}" for i in range(given.classes)}
    return {
        "model_type": "perceiver",
        "architectures": [kind],
        **{theirs: getattr(given, ours) for ours, (theirs, _) in _SIZES.items()},
        **({theirs: getattr(given, ours) for ours, (theirs, _) in _OF_TEXTS.items()} if texts else {}),
        **({"d_model": given.channels} if kind == "PerceiverModel" else {}),
        "cross_attention_widening_factor": given.widen,
        "qk_channels": given.qk or None,
        "v_channels": given.width if given.qk else None,
        "hidden_act": "gelu",
        **({"id2label": names, "label2id": {name: i for i, name in names.items()}} if names else {}),
    }


def _class_of(given: Config) -> str:
    if given.looks == 1 and given.share:
        for kind, fields in ARCHITECTURES.items():
            texts = bool(given.words) == (fields.get("words") is None)
            if texts and all(getattr(given, name) == value for name, value in fields.items()):
                return kind
    raise ValueError(
        "transformers has no such Perceiver: it has those of one look and one shared tower, of texts or of pictures "
        f"of {SIZE} pixels with a learned query, or bare; export has no place for this one"
    )


def card(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """A model of pictures names what they show; of texts there is no tokenizer, so that no task is said."""
    return {"task": "recognize"} if fields["decoder"] == "query" and not fields["words"] else {}


TABLE = Table("perceiver", FAMILY, rules, config, to_json, lambda _, found: found, card, prefix="perceiver.")
