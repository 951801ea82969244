"""Marian as Hugging Face keeps it: the post-norm Transformer of OPUS-MT (Junczys-Dowmunt 2018, Tiedemann 2020).

Theirs beyond the paper: positions have all sines before all cosines, a constant is added to the logits, and writing
begins with the padding token, which is never written itself.
"""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.rules import Rule, ignored, same, squeezed, tied
from regard.hub.tables.table import Table, find_problems
from regard.models.transformer import FAMILY, Config
from regard.text import Tokenizer

_ATTENTION = [same(f"{name}_proj.{{p}}", f"{name}.{{p}}") for name in ("q", "k", "v", "out")]
_LAYER = [
    *(rule.within("self_attn", "attn") for rule in _ATTENTION),
    same("self_attn_layer_norm.{p}", "attn_norm.{p}"),
    same("fc1.{p}", "mlp.up.{p}"),
    same("fc2.{p}", "mlp.down.{p}"),
    same("final_layer_norm.{p}", "mlp_norm.{p}"),
]
_CROSS = [
    *(rule.within("encoder_attn", "cross") for rule in _ATTENTION),
    same("encoder_attn_layer_norm.{p}", "cross_norm.{p}"),
]
RULES: tuple[Rule, ...] = (
    same("model.shared.weight", "embed.weight"),
    *(rule.within("model.encoder.layers.{i}", "encoder.blocks.{i}") for rule in _LAYER),
    *(rule.within("model.decoder.layers.{i}", "decoder.blocks.{i}") for rule in (*_LAYER, *_CROSS)),
    squeezed("final_logits_bias", "to_vocab.bias"),
    *(tied(f"model.{side}.embed_tokens.weight", "model.shared.weight") for side in ("encoder", "decoder")),
    tied("lm_head.weight", "model.shared.weight"),
    *(ignored(f"model.{side}.embed_positions.weight") for side in ("encoder", "decoder")),
)

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}
# What our Transformer can only do in one way; a file may leave each out.
_FIXED: Mapping[str, tuple[object, ...]] = {
    "is_encoder_decoder": (True,),
    "share_encoder_decoder_embeddings": (True,),
    "tie_word_embeddings": (True,),
    "static_position_embeddings": (True,),
    "normalize_before": (False,),
    "normalize_embedding": (False,),
    "add_final_layer_norm": (False,),
    "add_bias_logits": (False,),
    "extra_pos_embeddings": (0,),
    "attention_dropout": (0, 0.0),
    "activation_dropout": (0, 0.0),
    "encoder_layerdrop": (0, 0.0),
    "decoder_layerdrop": (0, 0.0),
    "is_decoder": (False,),
    "add_cross_attention": (False,),
    "pruned_heads": ({},),
    "quantization_config": (None,),
}
_READ = {
    *("vocab_size", "decoder_vocab_size", "d_model", "encoder_layers", "decoder_layers", "num_hidden_layers"),
    *("encoder_attention_heads", "decoder_attention_heads", "encoder_ffn_dim", "decoder_ffn_dim", "hidden_size"),
    *("activation_function", "dropout", "scale_embedding", "num_attention_heads"),
    *("pad_token_id", "eos_token_id", "decoder_start_token_id"),
}
# These change no logit: how beams are searched, how weights were first drawn, who wrote the file.
_WITHOUT_EFFECT = {
    *("model_type", "architectures", "_name_or_path", "transformers_version", "torch_dtype", "dtype", "init_std"),
    *("max_position_embeddings", "use_cache", "gradient_checkpointing", "bos_token_id", "classifier_dropout"),
    *("classif_dropout", "num_beams", "max_length", "min_length", "length_penalty", "early_stopping", "bad_words_ids"),
    *("no_repeat_ngram_size", "forced_eos_token_id", "forced_bos_token_id", "do_sample", "temperature", "top_k"),
    *("top_p", "id2label", "label2id", "num_labels", "task_specific_params", "prefix", "output_attentions"),
    *("output_hidden_states", "return_dict", "problem_type", "force_bos_token_to_be_generated", "attn_implementation"),
    *("_num_labels", "chunk_size_feed_forward", "tokenizer_class", "save_step", "torchscript"),
}


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; every field is honoured or refused by its name."""
    problems = find_problems(given, _READ | _WITHOUT_EFFECT, _FIXED)
    twins = {"layers": "num_hidden_layers", "attention_heads": "num_attention_heads", "ffn_dim": ""}
    for name, third in twins.items():
        sides = [
            given.get(f"encoder_{name}"),
            given.get(f"decoder_{name}"),
            *([given[third]] if third in given else []),
        ]
        if sides[0] is None or any(side != sides[0] for side in sides):
            problems.append(f"encoder_{name} and decoder_{name} are {sides[0]} and {sides[1]}, and must be the same")
    for one, other in (("decoder_vocab_size", "vocab_size"), ("hidden_size", "d_model")):
        if given.get(one) not in (None, given.get(other)):
            problems.append(f"{one} is not {other}")
    if given.get("activation_function") not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        problems.append(f"activation_function is {str(given.get('activation_function'))[:40]!r}; known are {known}")
    problems += [f"{name} is missing" for name in ("vocab_size", "d_model", "scale_embedding") if name not in given]
    if problems:
        raise CheckpointError(f"this Marian is not supported: {listed(problems)}")
    return {
        "vocab": given["vocab_size"],
        "width": given["d_model"],
        "depth": given["encoder_layers"],
        "heads": given["encoder_attention_heads"],
        "hidden": given["encoder_ffn_dim"],
        "dropout": given.get("dropout", 0.1),
        "norm_first": False,
        "final_norm": False,
        "activation": ACTIVATIONS[given["activation_function"]],
        "positions": "halves",
        "scale_embedding": given["scale_embedding"],
        "logit_bias": "final_logits_bias" in names,
    }


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config, or all that they have no field for."""
    fixed = {"norm_first": False, "final_norm": False, "positions": "halves"}
    problems = [
        f"{name} is {getattr(given, name)!r} and must be {value!r}"
        for name, value in fixed.items()
        if getattr(given, name) != value
    ]
    if problems:
        raise ValueError(f"Marian has no such Transformer: {listed(problems)}")
    both = {"layers": given.depth, "attention_heads": given.heads, "ffn_dim": given.hidden}
    special = (given.vocab - 1, 0, given.vocab - 1)  # where nothing is known, as OPUS-MT has them
    if tokenizer is not None:
        special = (tokenizer.pad, tokenizer.stop, tokenizer.start)  # type: ignore[assignment]
    return {
        "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "vocab_size": given.vocab,
        "d_model": given.width,
        **{f"{side}_{name}": value for name, value in both.items() for side in ("encoder", "decoder")},
        "activation_function": given.activation,
        "dropout": given.dropout,
        "scale_embedding": given.scale_embedding,
        "max_position_embeddings": 512,
        "is_encoder_decoder": True,
        **dict(zip(("pad_token_id", "eos_token_id", "decoder_start_token_id"), special, strict=True)),
        "forced_eos_token_id": None,
    }


def tokenizer(given: Mapping[str, Any], found: Tokenizer) -> Tokenizer:
    """A tokenizer with the special ids that the model writes by."""
    names = {"pad": "pad_token_id", "stop": "eos_token_id", "start": "decoder_start_token_id"}
    ids = {role: given[name] for role, name in names.items() if given.get(name) is not None}
    wrong = [
        f"{names[role]} is {str(i)[:40]}" for role, i in ids.items() if type(i) is not int or not 0 <= i < found.vocab
    ]
    if wrong:
        raise CheckpointError(f"{listed(wrong)}, which is no id of this tokenizer of {found.vocab}")
    return replace(found, **ids, specials=found.specials | set(ids.values()))


TABLE = Table("marian", FAMILY, RULES, config, to_json, tokenizer, {"task": "translate"})
