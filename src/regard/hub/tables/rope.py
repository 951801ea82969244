"""Rotations as Hugging Face's configs say them: `rope_theta` and `rope_scaling`, or both in `rope_parameters`."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from regard.layers.position import Dynamic, Linear, Llama3, LongRope, Yarn
from regard.models.llama import Turn

FIELDS = ("rope_theta", "rope_scaling", "rope_parameters", "original_max_position_embeddings")
_LONG = "original_max_position_embeddings"
# What each kind is told, beside its kind and base; a field in brackets may be left out.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "default": (),
    "linear": ("factor",),
    "dynamic": ("factor", f"[{_LONG}]"),  # which changes nothing: a dynamic base grows from the model's own context
    "yarn": (
        *("factor", f"[{_LONG}]", "[attention_factor]", "[beta_fast]", "[beta_slow]"),
        *("[mscale]", "[mscale_all_dim]", "[truncate]"),
    ),
    "llama3": ("factor", f"[{_LONG}]", "low_freq_factor", "high_freq_factor"),
    "longrope": ("short_factor", "long_factor", f"[{_LONG}]", "[factor]", "[attention_factor]"),
}


def read(given: Mapping[str, Any], context: Any) -> tuple[dict[str, Any], list[str]]:
    """The fields of our `Turn`, and what is wrong with theirs, by name."""
    name = "rope_scaling" if given.get("rope_scaling") else "rope_parameters"
    said = given.get(name) or {}
    if not isinstance(said, dict):
        return {}, [f"{name} is {str(said)[:40]}, and no object"]
    told = {key: value for key, value in said.items() if value is not None}
    kind = told.pop("rope_type", told.get("type", "default"))
    told.pop("type", None)
    base = told.pop("rope_theta", given.get("rope_theta", 10000.0))
    if told.pop("partial_rotary_factor", 1.0) != 1.0:
        return {}, [f"{name}.partial_rotary_factor is {said['partial_rotary_factor']}, and only 1.0 is supported"]
    if not isinstance(kind, str) or kind not in _KINDS:
        return {}, [f"{name} is of the kind {str(kind)[:40]!r}; known are {', '.join(_KINDS)}"]
    known = {each.strip("[]"): each for each in _KINDS[kind]}
    problems = [f"{name}.{key} is not known to the kind {kind}" for key in told.keys() - known.keys()]
    problems += [f"{name}.{key} is missing" for key, each in known.items() if key == each and key not in told]
    numbers = {key: value for key, value in told.items() if key not in ("short_factor", "long_factor", "truncate")}
    for key, value in {**numbers, "rope_theta": base, "max_position_embeddings": context}.items():
        if type(value) not in (int, float) or not 0 < value < 1e12:
            problems.append(f"{key} is {str(value)[:40]}, and no number above 0")
    if problems:
        return {}, problems
    told[_LONG] = given.get(_LONG) or told.get(_LONG, context)
    return {"base": base, "scaling": _scaling(kind, told, context)}, []


def _scaling(kind: str, told: Mapping[str, Any], context: int) -> dict[str, Any] | None:
    factor, long = told.get("factor", 1.0), told[_LONG]
    if kind == "default":
        return None
    if kind == "linear":
        return {"factor": factor}
    if kind == "dynamic":
        return {"factor": factor, "context": context}
    if kind == "llama3":
        return {"factor": factor, "context": long, "low": told["low_freq_factor"], "high": told["high_freq_factor"]}
    if kind == "yarn":
        fast, slow = told.get("beta_fast", 32.0), told.get("beta_slow", 1.0)
        much = told.get("attention_factor")
        if much is None and "mscale" in told and "mscale_all_dim" in told:
            much = _grown(factor, told["mscale"]) / _grown(factor, told["mscale_all_dim"])
        whole = told.get("truncate", True)
        return {"factor": factor, "context": long, "fast": fast, "slow": slow, "strength": much, "whole": whole}
    much, grown = told.get("attention_factor"), told.get("factor", context / long)
    if much is None:
        much = 1.0 if grown <= 1 else math.sqrt(1 + math.log(grown) / math.log(long))
    return {"short": told["short_factor"], "long": told["long_factor"], "context": long, "strength": much}


def _grown(factor: float, times: float) -> float:
    return 1.0 if factor <= 1 else 0.1 * times * math.log(factor) + 1.0


def write(turn: Turn, context: int) -> dict[str, Any]:
    """Their fields for our `Turn`, which older and newer `transformers` read alike."""
    scaling, said = turn.scaling, dict[str, Any]()
    match scaling:
        case Linear():
            said = {"rope_type": "linear", "factor": scaling.factor}
        case Dynamic():
            if scaling.context != context:
                raise ValueError(f"a base that grows from {scaling.context} on has no form in a context of {context}")
            said = {"rope_type": "dynamic", "factor": scaling.factor}
        case Yarn():
            names = {"strength": "attention_factor", "fast": "beta_fast", "slow": "beta_slow", "whole": "truncate"}
            told = {names.get(name, name): value for name, value in asdict(scaling).items() if value is not None}
            said = {"rope_type": "yarn", **told}
        case Llama3():
            said = {"rope_type": "llama3", "factor": scaling.factor, "context": scaling.context}
            said |= {"low_freq_factor": scaling.low, "high_freq_factor": scaling.high}
        case LongRope():
            said = {"rope_type": "longrope", "context": scaling.context, "attention_factor": scaling.strength}
            said |= {"short_factor": list(scaling.short), "long_factor": list(scaling.long)}
        case None:
            pass
    if "context" in said:
        said[_LONG] = said.pop("context")
    return {"rope_theta": turn.base, "rope_scaling": said or None}
