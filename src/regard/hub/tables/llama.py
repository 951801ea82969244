"""Llama as Hugging Face keeps it, and all else that has its `model_type`: SmolLM, SmolLM2, TinyLlama and many more.

Mistral, Qwen2 and Qwen3 are laid out the same way; their tables are beside this one.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables import rope
from regard.hub.tables.gpt2 import WITHOUT_EFFECT
from regard.hub.tables.rules import Rule, ignored, same, tied
from regard.hub.tables.table import Table, find_problems
from regard.models.llama import FAMILY, Config
from regard.text import Tokenizer

_LAYER: tuple[Rule, ...] = (
    *(same(f"self_attn.{name}_proj.{{p}}", f"attn.{name}.{{p}}") for name in "qkv"),
    same("self_attn.o_proj.{p}", "attn.out.{p}"),
    *(same(f"self_attn.{name}_norm.{{p}}", f"attn.{name}_norm.{{p}}") for name in "qk"),
    *(same(f"mlp.{name}_proj.{{p}}", f"mlp.{name}.{{p}}") for name in ("gate", "up", "down")),
    same("input_layernorm.{p}", "attn_norm.{p}"),
    same("post_attention_layernorm.{p}", "mlp_norm.{p}"),
    ignored("self_attn.rotary_emb.inv_freq"),  # of older files
)
_BODY: tuple[Rule, ...] = (
    same("model.embed_tokens.weight", "embed.weight"),
    *(rule.within("model.layers.{i}", "decoder.blocks.{i}") for rule in _LAYER),
    same("model.norm.{p}", "norm.{p}"),
)


def rules(fields: Mapping[str, Any], _: Mapping[str, Any]) -> Sequence[Rule]:
    """Words are told apart by the matrix that embeds them, or by one of its own."""
    last = tied if fields["tied"] else same
    return *_BODY, last("lm_head.weight", "model.embed_tokens.weight" if fields["tied"] else "to_vocab.weight")


ACTIVATIONS: Mapping[str, Sequence[str]] = {  # theirs is first where several compute the same, up to rounding
    "silu": ("silu", "swish"),
    "gelu": ("gelu", "gelu_python"),
    "gelu_tanh": ("gelu_pytorch_tanh", "gelu_new", "gelu_fast"),
    "relu": ("relu",),
}
# What is read, and what `transformers` takes a field for that a file leaves out.
DEFAULTS: Mapping[str, Any] = {
    "vocab_size": 32000,
    "max_position_embeddings": 2048,
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": None,
    "intermediate_size": 11008,
    "attention_dropout": 0.0,
    "tie_word_embeddings": False,
    "rms_norm_eps": 1e-6,
    "head_dim": None,
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
}
# What our Llama can only do in one way; a file may leave each out.
FIXED: Mapping[str, tuple[object, ...]] = {
    "partial_rotary_factor": (1.0, 1, None),
    "rope_interleaved": (False,),
    "layer_types": (None,),
    "sliding_window": (None,),
    "use_sliding_window": (False,),
    "is_encoder_decoder": (False,),
    "add_cross_attention": (False,),
    "cross_attention_hidden_size": (None,),
    "tie_encoder_decoder": (False,),
    "pruned_heads": ({},),
    "quantization_config": (None,),
    "per_layer_config": (None,),
}
# These change no logit: how products were once cut into parts, ids that the tokenizer is given, who made the file.
_WITHOUT_EFFECT = {
    *("bos_token_id", "eos_token_id", "pad_token_id"),
    *("pretraining_tp", "max_sequence_length", "is_llama_config", "transformers.js_config", "unsloth_version"),
    *("unsloth_fixed", "_attn_implementation_autoset", "_commit_hash", "tf_legacy_loss"),
}


def understand(
    given: Mapping[str, Any], defaults: Mapping[str, Any], fixed: Mapping[str, tuple[object, ...]]
) -> tuple[dict[str, Any], list[str]]:
    """Our fields for a config.json of Llama or a relative, but for its windows; and what is wrong with it, by name."""
    known = defaults.keys() | set(rope.FIELDS) | WITHOUT_EFFECT | _WITHOUT_EFFECT
    problems = find_problems(given, known, {name: each for name, each in fixed.items() if name not in defaults})
    values = {**defaults, **{name: value for name, value in given.items() if name in defaults}}
    said = values["hidden_act"]
    activation = next((ours for ours, theirs in ACTIVATIONS.items() if said in theirs), None)
    if activation is None:
        names = ", ".join(each for theirs in ACTIVATIONS.values() for each in theirs)
        problems.append(f"hidden_act is {str(said)[:40]!r}; known are {names}")
    turn, wrong = rope.read(given, values["max_position_embeddings"])
    width, heads, head = (values[name] for name in ("hidden_size", "num_attention_heads", "head_dim"))
    shared = type(width) is type(heads) is int and heads and width % heads == 0 and head == width // heads
    fields = {
        "vocab": values["vocab_size"],
        "context": values["max_position_embeddings"],
        "width": width,
        "depth": values["num_hidden_layers"],
        "heads": heads,
        "groups": heads if values["num_key_value_heads"] is None else values["num_key_value_heads"],
        "hidden": values["intermediate_size"],
        "attn_dropout": values["attention_dropout"],
        "sliding_window": None,
        "tied": values["tie_word_embeddings"],
        "turn": turn,
        "details": {
            "eps": values["rms_norm_eps"],
            "head_width": None if shared else head,
            "qk_norm": False,
            "qkv_bias": values.get("attention_bias", False),
            "out_bias": values.get("attention_bias", False),
            "mlp_bias": values.get("mlp_bias", False),
            "activation": activation,
        },
    }
    return fields, problems + wrong


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:  # noqa: ARG001
    """Our fields for their config.json; every field is honoured or refused by its name."""
    fields, problems = understand(given, DEFAULTS, FIXED)
    if problems:
        raise CheckpointError(f"this Llama is not supported: {listed(problems)}")
    return fields


def shared_json(given: Config, tokenizer: Tokenizer | None, who: str, fixed: Mapping[str, object]) -> dict[str, Any]:
    """The fields of Llama and its relatives; `fixed` are the details that a relative has in one way only."""
    problems = [
        f"{name} is {getattr(given.details, name)!r} and must be {value!r}"
        for name, value in fixed.items()
        if getattr(given.details, name) != value
    ]
    if problems:
        raise ValueError(f"{who} has no such Llama: {listed(problems)}")
    ids = (None, None, None) if tokenizer is None else (tokenizer.start, tokenizer.stop, tokenizer.pad)
    head = given.width // given.heads if given.details.head_width is None else given.details.head_width
    return {
        "vocab_size": given.vocab,
        "max_position_embeddings": given.context,
        "hidden_size": given.width,
        "num_hidden_layers": given.depth,
        "num_attention_heads": given.heads,
        "num_key_value_heads": given.groups,
        "intermediate_size": given.hidden,
        "attention_dropout": given.attn_dropout,
        "tie_word_embeddings": given.tied,
        "rms_norm_eps": given.details.eps,
        "head_dim": head,
        "hidden_act": ACTIVATIONS[given.details.activation][0],
        **rope.write(given.turn, given.context),
        **dict(zip(("bos_token_id", "eos_token_id", "pad_token_id"), ids, strict=True)),
    }


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config, or all that they have no field for."""
    return {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        **shared_json(given, tokenizer, "Llama", {"out_bias": given.details.qkv_bias, "qk_norm": False}),
        "attention_bias": given.details.qkv_bias,
        "mlp_bias": given.details.mlp_bias,
    }


def tokenizer(given: Mapping[str, Any], found: Tokenizer) -> Tokenizer:
    """A tokenizer with the special ids that the model writes by; of several that end a text the first is its stop."""
    names = {"start": "bos_token_id", "stop": "eos_token_id", "pad": "pad_token_id"}
    said = {
        role: ids if isinstance(ids := given[name], list) else [ids]
        for role, name in names.items()
        if given.get(name) is not None
    }
    wrong = [
        f"{names[role]} is {str(given[names[role]])[:40]}"
        for role, ids in said.items()
        if not ids or any(type(i) is not int for i in ids) or (len(ids) > 1 and role != "stop")
    ]
    if wrong:
        raise CheckpointError(f"{listed(wrong)}, which is no id of this tokenizer of {found.vocab}")
    # A file may name ids of a larger vocabulary than its own, or -1 for none; the tokenizer's own then stands.
    known = {role: [i for i in ids if 0 <= i < found.vocab] for role, ids in said.items()}
    first = {role: ids[0] for role, ids in known.items() if ids}
    return replace(found, **first, specials=found.specials.union(*known.values()))


def kind(given: Config) -> str:
    """Which of the tables writes a model of this config."""
    details = given.details
    if details.qk_norm:
        return "qwen3"
    if details.qkv_bias and not details.out_bias:
        return "qwen2"
    return "llama" if given.sliding_window is None else "mistral"


def fits(model_type: str) -> Callable[[Any], bool]:
    return lambda given: kind(given) == model_type


CARD = {"task": "generate"}
TABLE = Table("llama", FAMILY, rules, config, to_json, tokenizer, CARD, prefix="model.", fits=fits("llama"))
