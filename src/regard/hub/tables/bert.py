"""BERT as Hugging Face keeps it: the encoder alone, or with the heads it was trained or fine-tuned with (Devlin 2019).

Which heads there are is said by `architectures`, or by the tensors where it is silent. Google's own files say
BertForMaskedLM and hold the next-sentence head too, which is kept; a pooler that no head reads is left out.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.rules import Rule, alias, ignored, same, tied
from regard.hub.tables.table import Table, find_problems
from regard.models.bert import FAMILY, Config
from regard.text import Tokenizer


def _norm(theirs: str, ours: str) -> list[Rule]:
    """A LayerNorm, whose weight and bias were called gamma and beta at first."""
    names = {"weight": "gamma", "bias": "beta"}
    return [
        *(same(f"{theirs}.LayerNorm.{name}", f"{ours}.{name}") for name in names),
        *(alias(f"{theirs}.LayerNorm.{old}", f"{ours}.{name}") for name, old in names.items()),
    ]


def _body(prefix: str) -> list[Rule]:
    layer = [
        *(same(f"attention.self.{name}.{{p}}", f"attn.{name[0]}.{{p}}") for name in ("query", "key", "value")),
        same("attention.output.dense.{p}", "attn.out.{p}"),
        *_norm("attention.output", "attn_norm"),
        same("intermediate.dense.{p}", "mlp.up.{p}"),
        same("output.dense.{p}", "mlp.down.{p}"),
        *_norm("output", "mlp_norm"),
    ]
    return [
        same(f"{prefix}embeddings.word_embeddings.weight", "embed.weight"),
        same(f"{prefix}embeddings.token_type_embeddings.weight", "segment.weight"),
        same(f"{prefix}embeddings.position_embeddings.weight", "position.table"),
        ignored(f"{prefix}embeddings.position_ids"),
        *_norm(f"{prefix}embeddings", "norm"),
        *(rule.within(f"{prefix}encoder.layer.{{i}}", "encoder.blocks.{i}") for rule in layer),
        same(f"{prefix}pooler.dense.{{p}}", "pooler.{p}"),
    ]


RULES: tuple[Rule, ...] = (
    *_body("bert."),
    # A BertModel alone has no prefix; ours is written with it, which a BertModel reads too.
    *(alias(rule.theirs, *rule.ours) if rule.ours else rule for rule in _body("")),
    same("cls.predictions.transform.dense.{p}", "words.dense.{p}"),
    *_norm("cls.predictions.transform", "words.norm"),
    same("cls.predictions.bias", "words.to_vocab.bias"),
    tied("cls.predictions.decoder.bias", "cls.predictions.bias"),
    tied("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
    same("cls.seq_relationship.{p}", "next_sentence.{p}"),
    same("classifier.{p}", "classifier.{p}"),
    same("qa_outputs.{p}", "spans.{p}"),
)

HEADS = {
    "BertForPreTraining": "pretraining",
    "BertForMaskedLM": "masked",
    "BertForSequenceClassification": "classify",
    "BertForTokenClassification": "tokens",
    "BertForQuestionAnswering": "spans",
    "BertModel": "none",
}
# Theirs is first where several compute the same, up to rounding.
ACTIVATIONS: Mapping[str, Sequence[str]] = {
    "gelu": ("gelu", "gelu_python"),
    "gelu_tanh": ("gelu_pytorch_tanh", "gelu_new", "gelu_fast", "gelu_accurate", "gelu_python_tanh"),
    "relu": ("relu",),
    "silu": ("silu", "swish"),
}
# What our BERT can only do in one way; a file may leave each out.
_FIXED: Mapping[str, tuple[object, ...]] = {
    "position_embedding_type": ("absolute",),
    "directionality": ("bidi",),
    "pooler_type": ("first_token_transform",),
    "is_decoder": (False,),
    "is_encoder_decoder": (False,),
    "add_cross_attention": (False,),
    "cross_attention_hidden_size": (None,),
    "tie_encoder_decoder": (False,),
    "tie_word_embeddings": (True,),
    "pruned_heads": ({},),
    "quantization_config": (None,),
}
_SIZES = {
    "vocab": "vocab_size",
    "width": "hidden_size",
    "depth": "num_hidden_layers",
    "heads": "num_attention_heads",
    "hidden": "intermediate_size",
    "context": "max_position_embeddings",
    "segments": "type_vocab_size",
    "dropout": "hidden_dropout_prob",
    "eps": "layer_norm_eps",
}
_READ = {
    *_SIZES.values(),
    *("architectures", "hidden_act", "attention_probs_dropout_prob", "classifier_dropout"),
    *("id2label", "num_labels", "_num_labels"),
}
# These change no output: padding is given by lengths, so that its id does not matter; how classes are called and their
# loss is computed; how weights were first drawn; how a decoder, which this is not, would write; who made the file.
_WITHOUT_EFFECT = {
    *("model_type", "_name_or_path", "_commit_hash", "transformers_version", "torch_dtype", "dtype", "use_bfloat16"),
    *("initializer_range", "use_cache", "gradient_checkpointing", "chunk_size_feed_forward", "attn_implementation"),
    *("_attn_implementation_autoset", "torchscript", "tf_legacy_loss", "return_dict", "output_attentions"),
    *("output_hidden_states", "output_past", "label2id", "problem_type", "finetuning_task", "task_specific_params"),
    *("pad_token_id", "bos_token_id", "eos_token_id", "sep_token_id", "decoder_start_token_id", "tokenizer_class"),
    *("prefix", "language", "name", "sentence_transformers", "pooler_fc_size", "pooler_num_attention_heads"),
    *("pooler_num_fc_layers", "pooler_size_per_head", "max_length", "min_length", "do_sample", "early_stopping"),
    *("num_beams", "num_beam_groups", "diversity_penalty", "temperature", "top_k", "top_p", "typical_p"),
    *("repetition_penalty", "length_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size"),
    *("bad_words_ids", "num_return_sequences", "output_scores", "return_dict_in_generate", "forced_bos_token_id"),
    *("forced_eos_token_id", "remove_invalid_values", "exponential_decay_length_penalty", "suppress_tokens"),
    *("begin_suppress_tokens",),
}


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; every field is honoured or refused by its name."""
    problems = find_problems(given, _READ | _WITHOUT_EFFECT, _FIXED)
    default = Config()
    sizes = {ours: given.get(theirs, getattr(default, ours)) for ours, theirs in _SIZES.items()}
    dropout, classifier = sizes["dropout"], given.get("classifier_dropout")
    dropouts = {
        "attention_probs_dropout_prob": given.get("attention_probs_dropout_prob", default.dropout),
        "classifier_dropout": dropout if classifier is None else classifier,
    }
    problems += [
        f"{name} is {str(other)[:40]} and hidden_dropout_prob {str(dropout)[:40]}, and they must be the same"
        for name, other in dropouts.items()
        if other != dropout
    ]
    said = given.get("hidden_act", default.activation)
    activation = next((ours for ours, theirs in ACTIVATIONS.items() if said in theirs), None)
    if activation is None:
        known = ", ".join(each for theirs in ACTIVATIONS.values() for each in theirs)
        problems.append(f"hidden_act is {str(said)[:40]!r}; known are {known}")
    head = _head(given.get("architectures"), names)
    if head is None:
        problems.append(f"architectures is {str(given['architectures'])[:60]}; known are {', '.join(HEADS)}")
    if head in ("pretraining", "classify", "none") and not any("pooler.dense.weight" in name for name in names):
        problems.append(f"the pooler, which the head {head!r} reads, is missing")
    labels = given.get("id2label")
    if not isinstance(labels, dict | None):
        problems.append(f"id2label is {str(labels)[:40]}, and no object")
    if problems:
        raise CheckpointError(f"this BERT is not supported: {listed(problems)}")
    classes = len(labels) if labels else given.get("num_labels", given.get("_num_labels", default.classes))
    return {
        **sizes,
        "activation": activation,
        "head": head,
        "classes": classes if head in ("classify", "tokens") else default.classes,
    }


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    names = {i: f"LABEL_{i}" for i in range(given.classes)} if given.head in ("classify", "tokens") else {}
    return {
        "model_type": "bert",
        "architectures": [theirs for theirs, ours in HEADS.items() if ours == given.head],
        **{theirs: getattr(given, ours) for ours, theirs in _SIZES.items()},
        "attention_probs_dropout_prob": given.dropout,
        "hidden_act": ACTIVATIONS[given.activation][0],
        "pad_token_id": 0 if tokenizer is None else tokenizer.pad,
        **({"id2label": names, "label2id": {name: i for i, name in names.items()}} if names else {}),
    }


def unused(fields: Mapping[str, Any]) -> Set[str]:
    """The pooler, below heads that read the tokens themselves: older files have it all the same."""
    if fields["head"] not in ("masked", "tokens", "spans"):
        return frozenset()
    return {f"bert.pooler.dense.{name}" for name in ("weight", "bias")}


def _head(architectures: object, names: Set[str]) -> str | None:
    """Our name of the heads of a file, or None where they are not known."""
    if architectures is None:
        said: str | None = "masked" if "cls.predictions.bias" in names else "none"
    elif isinstance(architectures, list) and len(architectures) == 1 and isinstance(architectures[0], str):
        said = HEADS.get(architectures[0])
    else:
        return None
    return "pretraining" if said in ("masked", "none") and "cls.seq_relationship.weight" in names else said


TABLE = Table("bert", FAMILY, RULES, config, to_json, lambda _, found: found, {}, unused)
