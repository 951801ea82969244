"""GPT-1 as Hugging Face keeps it, under the `model_type` openai-gpt; laid out as GPT-2, with the norms of the paper."""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.gpt2 import FIXED, LAYER, SHARED, details, refuse, shared, shared_json, tokenizer, understand
from regard.hub.tables.rules import Rule, ignored, same, tied
from regard.hub.tables.table import Table
from regard.models.gpt import FAMILY, Config
from regard.text import Tokenizer

RULES: tuple[Rule, ...] = (
    same("transformer.tokens_embed.weight", "embed.weight"),
    same("transformer.positions_embed.weight", "position.table"),
    *(rule.within("transformer.h.{i}", "decoder.blocks.{i}") for rule in LAYER),
    tied("lm_head.weight", "transformer.tokens_embed.weight"),
    ignored("transformer.position_ids"),
)

ACTIVATIONS = {"gelu": "gelu_tanh", "relu": "relu", "silu": "silu", "swish": "silu"}  # its gelu is the tanh form
_DEFAULTS = {**SHARED, "vocab_size": 40478, "n_positions": 512, "afn": "gelu"}
# Of older files: words added behind the vocabulary, and whether they are predicted.
_FIXED = {**FIXED, "n_special": 0, "predict_special_tokens": True}


def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:  # noqa: ARG001
    """Our fields for their config.json; every field is honoured or refused by its name."""
    values, problems = understand(given, _DEFAULTS, _FIXED)
    if values["afn"] not in ACTIVATIONS:
        problems.append(f"afn is {str(values['afn'])[:40]!r}; known are {', '.join(ACTIVATIONS)}")
    if problems:
        raise CheckpointError(f"this GPT-1 is not supported: {listed(problems)}")
    return {
        **shared(values),
        "hidden": 4 * values["n_embd"],
        "activation": ACTIVATIONS[values["afn"]],
        "norm_first": False,
        "details": details(values),
    }


def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config, or all that they have no field for."""
    activation = given.activation if given.activation in ACTIVATIONS.values() else "gelu_tanh"
    fixed = {"norm_first": False, "scale": "width", "hidden": 4 * given.width, "activation": activation}
    refuse(given, "GPT-1", fixed)
    return {
        "model_type": "openai-gpt",
        "architectures": ["OpenAIGPTLMHeadModel"],
        **shared_json(given, tokenizer),
        "afn": next(theirs for theirs, ours in ACTIVATIONS.items() if ours == activation),
    }


def _fits(given: Config) -> bool:
    return not given.norm_first


TABLE = Table(
    "openai-gpt", FAMILY, RULES, config, to_json, tokenizer, {"task": "generate"}, prefix="transformer.", fits=_fits
)
