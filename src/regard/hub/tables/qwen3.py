"""Qwen3 as Hugging Face keeps it: a Llama that normalises the heads of queries and keys, with heads of 128 channels."""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.llama import CARD, FIXED, fits, rules, shared_json, tokenizer, understand
from regard.hub.tables.qwen2 import SHARED, windows, windows_json
from regard.hub.tables.table import Table
from regard.models.llama import FAMILY, Config
from regard.text import Tokenizer

_DEFAULTS = {**SHARED, "head_dim": 128, "attention_bias": False}
_FIXED = {**FIXED, "mlp_bias": (False,), "use_mrope": (False,)}


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:  # noqa: ARG001
    """Our fields for their config.json; every field is honoured or refused by its name."""
    fields, problems = understand(given, _DEFAULTS, _FIXED)
    seen, wrong = windows(given, fields["depth"])
    if problems + wrong:
        raise CheckpointError(f"this Qwen3 is not supported: {listed(problems + wrong)}")
    return fields | {"sliding_window": seen, "details": fields["details"] | {"qk_norm": True}}


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config, or all that they have no field for."""
    return {
        "model_type": "qwen3",
        "architectures": ["Qwen3ForCausalLM"],
        **shared_json(given, tokenizer, "Qwen3", {"mlp_bias": False, "out_bias": given.details.qkv_bias}),
        "attention_bias": given.details.qkv_bias,
        **windows_json(given, "Qwen3"),
    }


TABLE = Table("qwen3", FAMILY, rules, config, to_json, tokenizer, CARD, prefix="model.", fits=fits("qwen3"))
