"""GPT-2 as Hugging Face keeps it, and all else that has its `model_type`: DistilGPT-2, DialoGPT, Cerebras-GPT.

Theirs: matrices have inputs and outputs exchanged, and queries, keys and values lie side by side in one.
"""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.rules import Rule, ignored, same, split, split_transposed, tied, transposed
from regard.hub.tables.table import Table
from regard.models.gpt import FAMILY, Config
from regard.text import Tokenizer

_MATRICES = {"attn.c_proj": "attn.out", "mlp.c_fc": "mlp.up", "mlp.c_proj": "mlp.down"}
LAYER: tuple[Rule, ...] = (
    split_transposed("attn.c_attn.weight", [f"attn.{part}.weight" for part in "qkv"]),
    split("attn.c_attn.bias", [f"attn.{part}.bias" for part in "qkv"]),
    *(transposed(f"{theirs}.weight", f"{ours}.weight") for theirs, ours in _MATRICES.items()),
    *(same(f"{theirs}.bias", f"{ours}.bias") for theirs, ours in _MATRICES.items()),
    same("ln_1.{p}", "attn_norm.{p}"),
    same("ln_2.{p}", "mlp_norm.{p}"),
    # Older files keep the causal mask, and what is added where it hides.
    ignored("attn.bias"),
    ignored("attn.masked_bias"),
)
RULES: tuple[Rule, ...] = (
    same("transformer.wte.weight", "embed.weight"),
    same("transformer.wpe.weight", "position.table"),
    *(rule.within("transformer.h.{i}", "decoder.blocks.{i}") for rule in LAYER),
    same("transformer.ln_f.{p}", "norm.{p}"),
    tied("lm_head.weight", "transformer.wte.weight"),
)

ACTIVATIONS = {
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu": "gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
# What is read, and what `transformers` takes a field for that a file leaves out.
SHARED: Mapping[str, Any] = {
    "vocab_size": 50257,
    "n_positions": 1024,
    "n_embd": 768,
    "n_layer": 12,
    "n_head": 12,
    "resid_pdrop": 0.1,
    "embd_pdrop": 0.1,
    "attn_pdrop": 0.1,
    "layer_norm_epsilon": 1e-5,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
_DEFAULTS = {
    **SHARED,
    "n_inner": None,
    "activation_function": "gelu_new",
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
}
_ALIASES = {
    "hidden_size": "n_embd",
    "max_position_embeddings": "n_positions",
    "n_ctx": "n_positions",  # of older files
    "num_attention_heads": "n_head",
    "num_hidden_layers": "n_layer",
}
# What our GPT can only do in one way; a file may leave each out.
FIXED: Mapping[str, object] = {
    "tie_word_embeddings": True,
    "is_encoder_decoder": False,
    "add_cross_attention": False,
    "cross_attention_hidden_size": None,
    "tie_encoder_decoder": False,
    "pruned_heads": {},
    "quantization_config": None,
    "per_layer_config": None,
}
# These change no logit: how words are chosen, how weights were first drawn, heads of other tasks, who wrote the file.
WITHOUT_EFFECT = {
    *("model_type", "architectures", "_name_or_path", "transformers_version", "torch_dtype", "dtype", "use_cache"),
    *("initializer_range", "gradient_checkpointing", "attn_implementation", "is_decoder", "tokenizer_class", "prefix"),
    *("summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels", "summary_first_dropout"),
    *("id2label", "label2id", "num_labels", "_num_labels", "problem_type", "finetuning_task", "classifier_dropout"),
    *("task_specific_params", "output_past", "output_attentions", "output_hidden_states", "return_dict", "torchscript"),
    *("chunk_size_feed_forward", "tie_last_hidden_states", "sep_token_id", "decoder_start_token_id", "use_bfloat16"),
    *("do_sample", "temperature", "top_k", "top_p", "typical_p", "max_length", "min_length", "num_beams"),
    *("num_beam_groups", "diversity_penalty", "repetition_penalty", "length_penalty", "early_stopping"),
    *("no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids", "num_return_sequences"),
    *("output_scores", "return_dict_in_generate", "forced_bos_token_id", "forced_eos_token_id", "suppress_tokens"),
    *("begin_suppress_tokens", "remove_invalid_values", "exponential_decay_length_penalty"),
    # Felt only by weights of fewer bits than float32, and only in the eager attention of `transformers`.
    "reorder_and_upcast_attn",
}


def understand(
    given: Mapping[str, Any], defaults: Mapping[str, Any], fixed: Mapping[str, object]
) -> tuple[dict[str, Any], list[str]]:
    """Every field that is read, given or left out; and what is wrong with the others, by name."""
    known = defaults.keys() | fixed.keys() | _ALIASES.keys() | WITHOUT_EFFECT
    problems = [f"{name} is not known" for name in given.keys() - known]
    problems += [
        f"{name} is {str(given[name])[:40]}, and only {only} is supported"
        for name, only in fixed.items()
        if name in given and (type(given[name]) is not type(only) or given[name] != only)
    ]
    values = {**defaults, **{name: value for name, value in given.items() if name in defaults}}
    for alias, name in _ALIASES.items():
        if alias in given and name not in given:
            values[name] = given[alias]
        if given.get(alias, values[name]) != values[name]:
            problems.append(f"{alias} and {name} are {str(given[alias])[:40]} and {values[name]}, and must be the same")
    if values["embd_pdrop"] != values["resid_pdrop"]:
        pair = f"{str(values['embd_pdrop'])[:40]} and {str(values['resid_pdrop'])[:40]}"
        problems.append(f"embd_pdrop and resid_pdrop are {pair}, and must be the same")
    return values, problems


def shared(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of ours that are called alike in GPT-1 and GPT-2."""
    return {
        "vocab": values["vocab_size"],
        "context": values["n_positions"],
        "width": values["n_embd"],
        "depth": values["n_layer"],
        "heads": values["n_head"],
        "dropout": values["resid_pdrop"],
        "attn_dropout": values["attn_pdrop"],
    }


def details(values: Mapping[str, Any], scale: str = "width") -> dict[str, Any]:
    """The fields of ours that relatives of GPT have otherwise."""
    return {"eps": values["layer_norm_epsilon"], "scale": scale, "bias": True, "tied": True}


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:  # noqa: ARG001
    """Our fields for their config.json; every field is honoured or refused by its name."""
    values, problems = understand(given, _DEFAULTS, FIXED)
    if (activation := values["activation_function"]) not in ACTIVATIONS:
        problems.append(f"activation_function is {str(activation)[:40]!r}; known are {', '.join(ACTIVATIONS)}")
    scales = {(True, False): "width", (True, True): "layer", (False, False): "none"}
    flags = tuple(values[name] for name in ("scale_attn_weights", "scale_attn_by_inverse_layer_idx"))
    if any(type(flag) is not bool for flag in flags) or flags not in scales:
        said = " and ".join(str(flag)[:40] for flag in flags)
        problems.append(f"scale_attn_weights and scale_attn_by_inverse_layer_idx are {said}, which is not supported")
    if problems:
        raise CheckpointError(f"this GPT-2 is not supported: {listed(problems)}")
    return {
        **shared(values),
        "hidden": 4 * values["n_embd"] if values["n_inner"] is None else values["n_inner"],
        "activation": ACTIVATIONS[activation],
        "norm_first": True,
        "details": details(values, scales[flags]),
    }


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config, or all that they have no field for."""
    refuse(given, "GPT-2", {"norm_first": True})
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        **shared_json(given, tokenizer),
        "n_inner": given.hidden,
        "activation_function": next(theirs for theirs, ours in ACTIVATIONS.items() if ours == given.activation),
        "scale_attn_weights": given.details.scale != "none",
        "scale_attn_by_inverse_layer_idx": given.details.scale == "layer",
    }


def refuse(given: Config, title: str, fixed: Mapping[str, object]) -> None:
    """Refuse a GPT with settings that another library has no field for; of all, it is tied and has constants."""
    said = {
        name: getattr(given.details if name in ("scale", "bias", "tied") else given, name)
        for name in (*fixed, "bias", "tied")
    }
    problems = [
        f"{name} is {value!r} and must be {fixed.get(name, True)!r}"
        for name, value in said.items()
        if value != fixed.get(name, True)
    ]
    if problems:
        raise ValueError(f"{title} has no such GPT: {listed(problems)}")


def shared_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their fields that are called alike in GPT-1 and GPT-2."""
    ids = (None, None, None) if tokenizer is None else (tokenizer.start, tokenizer.stop, tokenizer.pad)
    return {
        "vocab_size": given.vocab,
        "n_positions": given.context,
        "n_embd": given.width,
        "n_layer": given.depth,
        "n_head": given.heads,
        **dict.fromkeys(("resid_pdrop", "embd_pdrop"), given.dropout),
        "attn_pdrop": given.attn_dropout,
        "layer_norm_epsilon": given.details.eps,
        "tie_word_embeddings": True,
        **dict(zip(("bos_token_id", "eos_token_id", "pad_token_id"), ids, strict=True)),
    }


def tokenizer(given: Mapping[str, Any], found: Tokenizer) -> Tokenizer:
    """A tokenizer with the special ids that the model writes by."""
    names = {"start": "bos_token_id", "stop": "eos_token_id", "pad": "pad_token_id"}
    ids = {role: given[name] for role, name in names.items() if given.get(name) is not None}
    wrong = [f"{names[role]} is {str(i)[:40]}" for role, i in ids.items() if type(i) is not int or i < 0]
    if wrong:
        raise CheckpointError(f"{listed(wrong)}, which is no id of this tokenizer of {found.vocab}")
    # A config that says nothing has the 50256 of GPT-2, also where words are fewer; the tokenizer's own then stands.
    ids = {role: i for role, i in ids.items() if i < found.vocab}
    return replace(found, **ids, specials=found.specials | set(ids.values()))


def _fits(given: Config) -> bool:
    return given.norm_first


TABLE = Table(
    "gpt2", FAMILY, RULES, config, to_json, tokenizer, {"task": "generate"}, prefix="transformer.", fits=_fits
)
