"""DeBERTa v2 and v3 as Hugging Face keeps them: the encoder alone, or with one of its heads (He 2021, He 2023).

The head is said by `architectures`, or by the tensors where it is silent, as in the authors' own files. Those name the
layer that guesses words `lm_predictions`, which `transformers` reads if `legacy` is false; ours is written as its
`legacy` one, which computes the same. What only training needs is left out: v3's head of replaced words, and the
absolute positions of the mask decoder, which `transformers` has not.
"""

from collections.abc import Mapping, Set
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

from regard.hub.tables.encoder import ACTIVATIONS, Encoder
from regard.hub.tables.rules import Rule, alias, ignored, same, tied
from regard.hub.tables.table import Table, task_by_head
from regard.models.deberta import FAMILY, Config
from regard.text import Tokenizer

_LAYER = (
    *(same(f"attention.self.{name}_proj.{{p}}", f"attn.{name[0]}.{{p}}") for name in ("query", "key", "value")),
    *(same(f"attention.self.pos_{name}_proj.{{p}}", f"attn.bias.{name[0]}.{{p}}") for name in ("query", "key")),
    same("attention.output.dense.{p}", "attn.out.{p}"),
    same("attention.output.LayerNorm.{p}", "attn_norm.{p}"),
    same("intermediate.dense.{p}", "mlp.up.{p}"),
    same("output.dense.{p}", "mlp.down.{p}"),
    same("output.LayerNorm.{p}", "mlp_norm.{p}"),
)
RULES: tuple[Rule, ...] = (
    same("deberta.embeddings.word_embeddings.weight", "embed.weight"),
    same("deberta.embeddings.token_type_embeddings.weight", "segment.weight"),
    same("deberta.embeddings.position_embeddings.weight", "position.table"),
    ignored("deberta.embeddings.position_ids"),
    same("deberta.embeddings.embed_proj.weight", "widen.weight"),
    same("deberta.embeddings.LayerNorm.{p}", "norm.{p}"),
    same("deberta.encoder.rel_embeddings.weight", "distances.table.weight"),
    same("deberta.encoder.LayerNorm.{p}", "distances.norm.{p}"),
    *(rule.within("deberta.encoder.layer.{i}", "encoder.blocks.{i}") for rule in _LAYER),
    same("deberta.encoder.conv.conv.{p}", "encoder.blocks.0.conv.{p}"),
    same("deberta.encoder.conv.LayerNorm.{p}", "encoder.blocks.0.conv_norm.{p}"),
    same("cls.predictions.transform.dense.{p}", "head.words.dense.{p}"),
    same("cls.predictions.transform.LayerNorm.{p}", "head.words.norm.{p}"),
    same("cls.predictions.bias", "head.words.to_vocab.bias"),
    tied("cls.predictions.decoder.bias", "cls.predictions.bias"),
    tied("cls.predictions.decoder.weight", "deberta.embeddings.word_embeddings.weight"),
    alias("lm_predictions.lm_head.dense.{p}", "head.words.dense.{p}"),
    alias("lm_predictions.lm_head.LayerNorm.{p}", "head.words.norm.{p}"),
    alias("lm_predictions.lm_head.bias", "head.words.to_vocab.bias"),
    same("pooler.dense.{p}", "head.pooler.dense.{p}"),
    same("classifier.{p}", "head.classifier.{p}"),
    same("qa_outputs.{p}", "head.spans.{p}"),
)

_LEGACY, _NEW = "cls.predictions.bias", "lm_predictions.lm_head.bias"
_CONV_ACTIVATIONS = {**ACTIVATIONS, "tanh": ("tanh",)}
# What is read here, and what `transformers` takes a field for that a file leaves out.
_DEFAULTS: Mapping[str, Any] = {
    "position_biased_input": True,
    "relative_attention": False,
    "max_relative_positions": -1,
    "position_buckets": -1,
    "pos_att_type": None,
    "share_att_key": False,
    "norm_rel_ebd": "none",
    "conv_kernel_size": 0,
    "conv_groups": 1,
    "conv_act": "tanh",
    "embedding_size": None,
    "pooler_hidden_size": None,
    "attention_head_size": None,
    "legacy": None,
}
ENCODER = Encoder(
    "DeBERTa",
    "deberta-v2",
    "DebertaV2",
    "deberta.",
    sizes={
        "vocab": ("vocab_size", 128100),
        "width": ("hidden_size", 1536),
        "depth": ("num_hidden_layers", 24),
        "heads": ("num_attention_heads", 24),
        "hidden": ("intermediate_size", 6144),
        "context": ("max_position_embeddings", 512),
        "segments": ("type_vocab_size", 0),
        "dropout": ("hidden_dropout_prob", 0.1),
        "pooler_dropout": ("pooler_dropout", 0.0),
        "eps": ("layer_norm_eps", 1e-7),
    },
    dropouts={"attention_probs_dropout_prob": 0.1, "cls_dropout": None},
    words=_LEGACY,
    pooler=("pooler.dense", ("classify",)),
    fixed={"pooler_hidden_act": ("gelu",)},
    without_effect={*_DEFAULTS, "padding_idx"},
)


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; every field is honoured or refused by its name."""
    values = {name: given.get(name, default) for name, default in _DEFAULTS.items()}
    conv_activation = next((ours for ours, theirs in _CONV_ACTIVATIONS.items() if values["conv_act"] in theirs), None)
    problems = [*_wrong_flags(values), *_wrong_relative(values), *_unequal(given, values)]
    if given.get("architectures") in (None, ["DebertaV2ForMaskedLM"]):
        problems += _wrong_words(values["legacy"], names)
    if conv_activation is None:
        known = ", ".join(each for theirs in _CONV_ACTIVATIONS.values() for each in theirs)
        problems.append(f"conv_act is {str(values['conv_act'])[:40]!r}; known are {known}")
    fields = ENCODER.config(given, names | {_LEGACY} if _NEW in names else names, problems)
    buckets, reach, kernel = (
        values[name] for name in ("position_buckets", "max_relative_positions", "conv_kernel_size")
    )
    terms = sorted(set(_parts(values["pos_att_type"]) or []))
    details = {name: fields.pop(name) for name in ("segments", "activation", "eps", "pooler_dropout")}
    return {
        **fields,
        "positions": {
            "absolute": "input" if values["position_biased_input"] else "none",
            "relative": "both" if len(terms) > 1 else terms[0] if terms else "none",
            "buckets": None if _is_below_one(buckets) else buckets,
            "reach": fields["context"] if _is_below_one(reach) else reach,
            "shared": values["share_att_key"],
            "norm": _parts(values["norm_rel_ebd"]) == ["layer_norm"],
        },
        "convolution": None
        if _is_below_one(kernel)
        else {"kernel": kernel, "groups": values["conv_groups"], "activation": conv_activation},
        "details": {
            **details,
            "embedding": None if values["embedding_size"] == fields["width"] else values["embedding_size"],
        },
    }


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    positions, convolution, details = given.positions, given.convolution, given.details
    if positions.absolute == "decoder" and given.head == "masked":
        raise ValueError("transformers has no such DeBERTa: positions.absolute is 'decoder', and must be none or input")
    terms = {"both": ["p2c", "c2p"], "none": None}.get(positions.relative, [positions.relative])
    about = {
        **ENCODER.to_json(SimpleNamespace(**asdict(given), **asdict(details)), tokenizer),
        "position_biased_input": positions.absolute == "input",
        "relative_attention": positions.relative != "none",
        "pos_att_type": terms,
        "position_buckets": -1 if positions.buckets is None else positions.buckets,
        "max_relative_positions": positions.reach,
        "share_att_key": positions.shared,
        "norm_rel_ebd": "layer_norm" if positions.norm and terms else "none",
    }
    if details.embedding is not None:
        about["embedding_size"] = details.embedding
    if convolution is not None:
        act = _CONV_ACTIVATIONS[convolution.activation][0]
        about |= {"conv_kernel_size": convolution.kernel, "conv_groups": convolution.groups, "conv_act": act}
    return about


def unused(fields: Mapping[str, Any]) -> Set[str]:
    """What only a training needs, or another head."""
    parts = ["mask_predictions.dense", "mask_predictions.LayerNorm", "mask_predictions.classifier"]
    parts += [] if fields["head"] == "classify" else ["pooler.dense"]
    if fields["head"] != "masked":
        parts += ["lm_predictions.lm_head.dense", "lm_predictions.lm_head.LayerNorm"]
    names = {f"{part}.{name}" for part in parts for name in ("weight", "bias")}
    if fields["head"] != "masked":
        names.add(_NEW)
    if fields["positions"]["absolute"] != "input":
        names |= {f"{prefix}embeddings.position_embeddings.weight" for prefix in ("", ENCODER.prefix)}
    return names


def _wrong_flags(values: Mapping[str, Any]) -> list[str]:
    """What is neither true nor false; `legacy` may be left out."""
    return [
        f"{name} is {str(values[name])[:40]}, and neither true nor false"
        for name in ("position_biased_input", "relative_attention", "share_att_key", "legacy")
        if type(values[name]) is not bool and not (name == "legacy" and values[name] is None)
    ]


def _wrong_words(legacy: object, names: Set[str]) -> list[str]:
    """A layer that guesses words under another name than `legacy` says."""
    return [
        f"legacy is {legacy}, and the layer that guesses words is {other.removesuffix('.bias')}"
        for meant, wanted, other in ((True, _LEGACY, _NEW), (False, _NEW, _LEGACY))
        if legacy is meant and other in names and wanted not in names
    ]


def _wrong_relative(values: Mapping[str, Any]) -> list[str]:
    """Terms of the score, or a norm of distances, that are not known or have no distances."""
    said, norm, relative = values["pos_att_type"], values["norm_rel_ebd"], values["relative_attention"]
    terms, norms, wrong = [] if said is None else _parts(said), _parts(norm), []
    if terms is None or not set(terms) <= {"c2p", "p2c"}:
        wrong.append(f"pos_att_type is {str(said)[:40]}; known are c2p and p2c")
    elif bool(terms) != bool(relative):
        wrong.append(f"pos_att_type is {str(said)[:40]} and relative_attention {str(relative)[:40]}; both or neither")
    if norms not in (["none"], ["layer_norm"]):
        wrong.append(f"norm_rel_ebd is {str(norm)[:40]}; known are none and layer_norm")
    elif norms == ["layer_norm"] and not relative:
        wrong.append(f"norm_rel_ebd is layer_norm and relative_attention {str(relative)[:40]}; nothing is normed")
    return wrong


def _unequal(given: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """Widths that must be what others say, or left out."""
    width, heads = (given.get(*ENCODER.sizes[name]) for name in ("width", "heads"))
    head = width // heads if type(width) is type(heads) is int and heads > 0 else None
    wanted = {"pooler_hidden_size": ("hidden_size", width), "attention_head_size": ("that of heads", head)}
    return [
        f"{name} is {str(values[name])[:40]} and {other} {str(size)[:40]}, and they must be the same"
        for name, (other, size) in wanted.items()
        if values[name] not in (None, size)
    ]


def _parts(said: object) -> list[str] | None:
    """What stands in a list, or in a text between strokes: "p2c|c2p"."""
    parts = said.split("|") if isinstance(said, str) else said
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return None
    return [part.strip().lower() for part in parts]


def _is_below_one(value: object) -> bool:
    return type(value) is int and value < 1


TABLE = Table(
    "deberta-v2", FAMILY, RULES, config, to_json, lambda _, found: found, task_by_head, unused, prefix=ENCODER.prefix
)
