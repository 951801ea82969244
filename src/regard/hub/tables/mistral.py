"""Mistral as Hugging Face keeps it: a Llama whose layers all see a window of the newest words, or the whole past."""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.llama import CARD, DEFAULTS, FIXED, fits, rules, shared_json, tokenizer, understand
from regard.hub.tables.table import Table
from regard.models.llama import FAMILY, Config
from regard.text import Tokenizer

_DEFAULTS = {
    **{name: value for name, value in DEFAULTS.items() if name not in ("attention_bias", "mlp_bias")},
    "max_position_embeddings": 131072,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "sliding_window": 4096,
}
_FIXED = {**FIXED, "attention_bias": (False,), "mlp_bias": (False,)}


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:  # noqa: ARG001
    """Our fields for their config.json; every field is honoured or refused by its name."""
    fields, problems = understand(given, _DEFAULTS, _FIXED)
    window = given.get("sliding_window", _DEFAULTS["sliding_window"])
    if window is not None and (type(window) is not int or window < 1):
        problems.append(f"sliding_window is {str(window)[:40]}, and must be 1 or more, or null")
    if problems:
        raise CheckpointError(f"this Mistral is not supported: {listed(problems)}")
    return fields | {"sliding_window": window}


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config, or all that they have no field for."""
    if not isinstance(given.sliding_window, int):
        raise ValueError("Mistral has no such Llama: its layers see windows of their own, and must all see the same")
    fixed = dict.fromkeys(("qk_norm", "qkv_bias", "out_bias", "mlp_bias"), False)
    return {
        "model_type": "mistral",
        "architectures": ["MistralForCausalLM"],
        **shared_json(given, tokenizer, "Mistral", fixed),
        "sliding_window": given.sliding_window,
    }


TABLE = Table("mistral", FAMILY, rules, config, to_json, tokenizer, CARD, prefix="model.", fits=fits("mistral"))
