"""BERT as Hugging Face keeps it: the encoder alone, or with the heads it was trained or fine-tuned with (Devlin 2019).

Google's own files say BertForMaskedLM and hold the next-sentence head too, which is kept.
"""

from regard.hub.tables.encoder import Encoder, norm
from regard.hub.tables.rules import Rule, ignored, same, tied
from regard.hub.tables.table import Table, task_by_head
from regard.models.bert import FAMILY

_LAYER = (
    *(same(f"attention.self.{name}.{{p}}", f"attn.{name[0]}.{{p}}") for name in ("query", "key", "value")),
    same("attention.output.dense.{p}", "attn.out.{p}"),
    *norm("attention.output.LayerNorm", "attn_norm"),
    same("intermediate.dense.{p}", "mlp.up.{p}"),
    same("output.dense.{p}", "mlp.down.{p}"),
    *norm("output.LayerNorm", "mlp_norm"),
)


def body(prefix: str) -> tuple[Rule, ...]:
    """Everything below the heads but the positions, laid out alike in BERT and RoBERTa."""
    return (
        same(f"{prefix}embeddings.word_embeddings.weight", "embed.weight"),
        same(f"{prefix}embeddings.token_type_embeddings.weight", "segment.weight"),
        ignored(f"{prefix}embeddings.position_ids"),
        ignored(f"{prefix}embeddings.token_type_ids"),
        *norm(f"{prefix}embeddings.LayerNorm", "norm"),
        *(rule.within(f"{prefix}encoder.layer.{{i}}", "encoder.blocks.{i}") for rule in _LAYER),
        same("qa_outputs.{p}", "head.spans.{p}"),
    )


RULES: tuple[Rule, ...] = (
    *body("bert."),
    same("bert.embeddings.position_embeddings.weight", "position.table"),
    same("bert.pooler.dense.{p}", "head.pooler.dense.{p}"),
    same("cls.predictions.transform.dense.{p}", "head.words.dense.{p}"),
    *norm("cls.predictions.transform.LayerNorm", "head.words.norm"),
    same("cls.predictions.bias", "head.words.to_vocab.bias"),
    tied("cls.predictions.decoder.bias", "cls.predictions.bias"),
    tied("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
    same("cls.seq_relationship.{p}", "head.next_sentence.{p}"),
    same("classifier.{p}", "head.classifier.{p}"),
)

ENCODER = Encoder(
    "BERT",
    "bert",
    "Bert",
    "bert.",
    sizes={
        "vocab": ("vocab_size", 30522),
        "width": ("hidden_size", 768),
        "depth": ("num_hidden_layers", 12),
        "heads": ("num_attention_heads", 12),
        "hidden": ("intermediate_size", 3072),
        "context": ("max_position_embeddings", 512),
        "segments": ("type_vocab_size", 2),
        "dropout": ("hidden_dropout_prob", 0.1),
        "eps": ("layer_norm_eps", 1e-12),
    },
    dropouts={"attention_probs_dropout_prob": 0.1, "classifier_dropout": None},
    words="cls.predictions.bias",
    sentences="cls.seq_relationship.weight",
    pooler=("pooler.dense", ("pretraining", "classify", "none")),
    fixed={"directionality": ("bidi",), "pooler_type": ("first_token_transform",)},
    without_effect={
        *("pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head"),
    },
)

TABLE = Table(
    "bert",
    FAMILY,
    RULES,
    ENCODER.config,
    ENCODER.to_json,
    lambda _, found: found,
    task_by_head,
    ENCODER.unused,
    prefix=ENCODER.prefix,
)
