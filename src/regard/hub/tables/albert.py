"""ALBERT as Hugging Face keeps it: one group of layers, or several, for the whole depth (Lan 2020)."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

from regard.hub.tables.encoder import Encoder, norm
from regard.hub.tables.rules import Rule, ignored, same, tied
from regard.hub.tables.table import Table, task_by_head
from regard.models.albert import FAMILY, Config
from regard.text import Tokenizer

_LAYER = (
    *(same(f"attention.{name}.{{p}}", f"attn.{name[0]}.{{p}}") for name in ("query", "key", "value")),
    same("attention.dense.{p}", "attn.out.{p}"),
    *norm("attention.LayerNorm", "attn_norm"),
    same("ffn.{p}", "mlp.up.{p}"),
    same("ffn_output.{p}", "mlp.down.{p}"),
    *norm("full_layer_layer_norm", "mlp_norm"),
)
_OTHERS: tuple[Rule, ...] = (
    same("albert.embeddings.word_embeddings.weight", "embed.weight"),
    same("albert.embeddings.token_type_embeddings.weight", "segment.weight"),
    same("albert.embeddings.position_embeddings.weight", "position.table"),
    ignored("albert.embeddings.position_ids"),
    ignored("albert.embeddings.token_type_ids"),
    *norm("albert.embeddings.LayerNorm", "norm"),
    same("albert.encoder.embedding_hidden_mapping_in.{p}", "widen.{p}"),
    same("albert.pooler.{p}", "head.pooler.dense.{p}"),
    same("predictions.dense.{p}", "head.words.dense.{p}"),
    *norm("predictions.LayerNorm", "head.words.norm"),
    same("predictions.bias", "head.words.to_vocab.bias"),
    tied("predictions.decoder.bias", "predictions.bias"),
    tied("predictions.decoder.weight", "albert.embeddings.word_embeddings.weight"),
    same("sop_classifier.classifier.{p}", "head.next_sentence.{p}"),
    same("classifier.{p}", "head.classifier.{p}"),
    same("qa_outputs.{p}", "head.spans.{p}"),
)

ENCODER = Encoder(
    "ALBERT",
    "albert",
    "Albert",
    "albert.",
    sizes={
        "vocab": ("vocab_size", 30000),
        "embedding": ("embedding_size", 128),
        "width": ("hidden_size", 4096),
        "depth": ("num_hidden_layers", 12),
        "heads": ("num_attention_heads", 64),
        "hidden": ("intermediate_size", 16384),
        "context": ("max_position_embeddings", 512),
        "dropout": ("hidden_dropout_prob", 0.0),
        "segments": ("type_vocab_size", 2),
        "eps": ("layer_norm_eps", 1e-12),
        "classifier_dropout": ("classifier_dropout_prob", 0.1),
        "groups": ("num_hidden_groups", 1),
        "layers": ("inner_group_num", 1),
    },
    dropouts={"attention_probs_dropout_prob": 0.0},
    words="predictions.bias",
    activation=("hidden_act", "gelu_new"),
    sentences="sop_classifier.classifier.weight",
    pooler=("pooler", ("pretraining", "classify", "none")),
    # Of the authors' own files, which say what none of their models does.
    fixed={"down_scale_factor": (1,), "gap_size": (0,), "net_structure_type": (0,), "num_memory_blocks": (0,)},
)


def rules(fields: Mapping[str, Any], _: Mapping[str, Any]) -> Sequence[Rule]:
    """The layers of all groups are blocks in a row."""
    groups, layers = fields["details"]["groups"], fields["details"]["layers"]
    return (
        *_OTHERS,
        *(
            rule.within(
                f"albert.encoder.albert_layer_groups.{group}.albert_layers.{layer}",
                f"encoder.blocks.{group * layers + layer}",
            )
            for group in range(groups)
            for layer in range(layers)
            for rule in _LAYER
        ),
    )


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; every field is honoured or refused by its name."""
    fields = ENCODER.config(given, names)
    details = {name: fields.pop(name) for name in ("segments", "eps", "classifier_dropout", "groups", "layers")}
    return {**fields, "details": details}


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    return ENCODER.to_json(SimpleNamespace(**asdict(given), **asdict(given.details)), tokenizer)


TABLE = Table(
    "albert",
    FAMILY,
    rules,
    config,
    to_json,
    lambda _, found: found,
    task_by_head,
    ENCODER.unused,
    prefix=ENCODER.prefix,
)
