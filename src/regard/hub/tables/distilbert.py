"""DistilBERT as Hugging Face keeps it (Sanh 2019); positions that were drawn as sines lie in its file as others do."""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.tables.encoder import Encoder, norm
from regard.hub.tables.rules import Rule, ignored, same, tied
from regard.hub.tables.table import Table, task_by_head
from regard.models.distilbert import FAMILY, Config
from regard.text import Tokenizer

_LAYER = (
    *(same(f"attention.{name}_lin.{{p}}", f"attn.{name}.{{p}}") for name in ("q", "k", "v", "out")),
    same("sa_layer_norm.{p}", "attn_norm.{p}"),
    same("ffn.lin1.{p}", "mlp.up.{p}"),
    same("ffn.lin2.{p}", "mlp.down.{p}"),
    same("output_layer_norm.{p}", "mlp_norm.{p}"),
)
RULES: tuple[Rule, ...] = (
    same("distilbert.embeddings.word_embeddings.weight", "embed.weight"),
    same("distilbert.embeddings.position_embeddings.weight", "position.table"),
    ignored("distilbert.embeddings.position_ids"),
    *norm("distilbert.embeddings.LayerNorm", "norm"),
    *(rule.within("distilbert.transformer.layer.{i}", "encoder.blocks.{i}") for rule in _LAYER),
    same("vocab_transform.{p}", "head.words.dense.{p}"),
    same("vocab_layer_norm.{p}", "head.words.norm.{p}"),
    same("vocab_projector.bias", "head.words.to_vocab.bias"),
    tied("vocab_projector.weight", "distilbert.embeddings.word_embeddings.weight"),
    same("pre_classifier.{p}", "head.pooler.dense.{p}"),
    same("classifier.{p}", "head.classifier.{p}"),
    same("qa_outputs.{p}", "head.spans.{p}"),
)

_HEAD_DROPOUTS = {"classify": ("seq_classif_dropout", 0.2), "spans": ("qa_dropout", 0.1)}
_ALIASES = {"hidden_size": "dim", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers"}
ENCODER = Encoder(
    "DistilBERT",
    "distilbert",
    "DistilBert",
    "distilbert.",
    sizes={
        "vocab": ("vocab_size", 30522),
        "width": ("dim", 768),
        "depth": ("n_layers", 6),
        "heads": ("n_heads", 12),
        "hidden": ("hidden_dim", 3072),
        "context": ("max_position_embeddings", 512),
        "dropout": ("dropout", 0.1),
    },
    dropouts={"attention_dropout": 0.1},
    words="vocab_projector.bias",
    activation=("activation", "gelu"),
    fixed={"tie_weights_": (True,)},
    # What heads other than the file's would drop, and how positions were first drawn.
    without_effect={*_ALIASES, *(name for name, _ in _HEAD_DROPOUTS.values()), "sinusoidal_pos_embds"},
)


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; every field is honoured or refused by its name."""
    whole = {**{name: given[alias] for alias, name in _ALIASES.items() if alias in given}, **given}
    problems = [
        f"{alias} and {name} are {str(given[alias])[:40]} and {str(given[name])[:40]}, and must be the same"
        for alias, name in _ALIASES.items()
        if alias in given and whole[name] != given[alias]
    ]
    fields = ENCODER.config(whole, names, problems)
    return {**fields, "head_dropout": given.get(*_HEAD_DROPOUTS.get(fields["head"], _HEAD_DROPOUTS["classify"]))}


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    name, _ = _HEAD_DROPOUTS.get(given.head, _HEAD_DROPOUTS["classify"])
    return {**ENCODER.to_json(given, tokenizer), name: given.head_dropout}


TABLE = Table(
    "distilbert",
    FAMILY,
    RULES,
    config,
    to_json,
    lambda _, found: found,
    task_by_head,
    ENCODER.unused,
    prefix=ENCODER.prefix,
)
