"""Qwen2 and Qwen2.5 as Hugging Face keeps them: a Llama with constants in queries, keys and values.

Its later layers may see a window of the newest words; which ones, `layer_types` or `max_window_layers` says.
"""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.llama import CARD, DEFAULTS, FIXED, fits, rules, shared_json, tokenizer, understand
from regard.hub.tables.table import Table
from regard.models.llama import FAMILY, Config
from regard.text import Tokenizer

SEES = {"full_attention": False, "sliding_attention": True}
LAYERS = 10_000
SHARED: Mapping[str, Any] = {
    **{name: value for name, value in DEFAULTS.items() if name not in ("attention_bias", "mlp_bias")},
    "vocab_size": 151936,
    "max_position_embeddings": 32768,
    "num_key_value_heads": 32,
    "intermediate_size": 22016,
    "use_sliding_window": False,
    "sliding_window": 4096,
    "max_window_layers": 28,
    "layer_types": None,
}
_FIXED = {**FIXED, "attention_bias": (True,), "mlp_bias": (False,), "use_mrope": (False,)}


def windows(given: Mapping[str, Any], depth: object) -> tuple[int | list[int | None] | None, list[str]]:
    """How many of the newest words each layer sees, as our config says it, and what is wrong with theirs, by name."""
    used, size, after, types = (
        given.get(name, SHARED[name])
        for name in ("use_sliding_window", "sliding_window", "max_window_layers", "layer_types")
    )
    problems = []
    if type(used) is not bool:
        problems.append(f"use_sliding_window is {str(used)[:40]}, and must be true or false")
    if size is not None and (type(size) is not int or size < 1):
        problems.append(f"sliding_window is {str(size)[:40]}, and must be 1 or more, or null")
    if type(after) is not int:
        problems.append(f"max_window_layers is {str(after)[:40]}, and no whole number")
    if type(depth) is not int or not 0 <= depth <= LAYERS:
        return None, [*problems, f"num_hidden_layers is {str(depth)[:40]}, and must be 0 to {LAYERS}"]
    if types is not None and (
        not isinstance(types, list) or len(types) != depth or any(str(each) not in SEES for each in types)
    ):
        problems.append(f"layer_types is {str(types)[:60]}, and must name {depth} layers: {', '.join(SEES)}")
    if problems:
        return None, problems
    sliding = [SEES[each] for each in types] if types is not None else [used and i >= after for i in range(depth)]
    if any(sliding) and (not used or size is None):
        return None, ["layer_types name a sliding_attention, and use_sliding_window or sliding_window do not"]
    if not any(sliding) or size is None:
        return None, []
    return (size if all(sliding) else [size if each else None for each in sliding]), []


def windows_json(given: Config, who: str) -> dict[str, Any]:
    """Their fields for our windows."""
    found = given.sliding_window
    each = found if isinstance(found, tuple) else (found,) * given.depth
    sizes = {size for size in each if size is not None}
    if len(sizes) > 1:
        raise ValueError(f"{who} has no such Llama: windows of {sorted(sizes)} words, and it has one size for all")
    # Older readers know only from which layer on there are windows.
    after = next((i for i, size in enumerate(each) if size is not None), given.depth)
    return {
        "use_sliding_window": bool(sizes),
        "sliding_window": max(sizes, default=None),
        "max_window_layers": after,
        "layer_types": ["full_attention" if size is None else "sliding_attention" for size in each],
    }


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:  # noqa: ARG001
    """Our fields for their config.json; every field is honoured or refused by its name."""
    fields, problems = understand(given, SHARED, _FIXED)
    seen, wrong = windows(given, fields["depth"])
    if problems + wrong:
        raise CheckpointError(f"this Qwen2 is not supported: {listed(problems + wrong)}")
    return fields | {"sliding_window": seen, "details": fields["details"] | {"qkv_bias": True}}


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config, or all that they have no field for."""
    return {
        "model_type": "qwen2",
        "architectures": ["Qwen2ForCausalLM"],
        **shared_json(given, tokenizer, "Qwen2", {"mlp_bias": False}),
        **windows_json(given, "Qwen2"),
    }


TABLE = Table("qwen2", FAMILY, rules, config, to_json, tokenizer, CARD, prefix="model.", fits=fits("qwen2"))
