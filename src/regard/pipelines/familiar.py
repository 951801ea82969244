"""Keywords that users bring from other libraries, answered with what they are called here."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from regard.names import nearest

P = ParamSpec("P")
T = TypeVar("T")

# What it is called here: the first of these that a function takes.
FAMILIAR: dict[str, str | tuple[str, ...]] = {
    "num_beams": "beam",
    "beam_size": "beam",
    "num_return_sequences": "count",
    "n_best": "count",
    "topn": "count",
    "batch_size": "batch",
    "torch_dtype": "dtype",
    "precision": "dtype",
    "device_map": "device",
    "model": "what",
    "pretrained_model_name_or_path": "what",
    "tgt_lang": "to",
    "src_lang": "source",
    "do_sample": ("temperature=1.0", "sampler=regard.decode.sampler(temperature=…, top_k=…, top_p=…)"),
    "temperature": "sampler=regard.decode.sampler(temperature=…)",
    "top_k": "sampler=regard.decode.sampler(top_k=…)",
    "top_p": "sampler=regard.decode.sampler(top_p=…)",
    "min_p": "sampler=regard.decode.sampler(min_p=…)",
    "lenpen": "length_penalty",
    "max_length": "max_new_tokens",
    "max_tokens": "max_new_tokens",
    "stop_strings": "stop",
    "stop_sequences": "stop",
    "system_prompt": "system",
}
ELSEWHERE = {
    "max_length": "how much is read is said by regard.load(name, limit=…)",
    "max_new_tokens": "how much is written at most follows from the length of what is read",
    "streamer": "pieces are given by .stream(prompt) while they are written",
    "eos_token_id": "the tokenizer says which id ends a text; strings that end it are given by stop=",
    "pad_token_id": "padding is said by the tokenizer, and never changes an answer",
    "attention_mask": "padding follows from the lengths of the texts, and never changes an answer",
}


def answer_familiar(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function say what a keyword that it does not take is called here."""
    known = [name for name in inspect.signature(function).parameters if name != "self"]

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        for name in options:
            if name not in known:
                raise TypeError(f"{function.__qualname__} takes no {name!r}; {_way(name, known)}")
        return function(*args, **options)

    return call


def _way(name: str, known: list[str]) -> str:
    """Where a keyword leads to that is not among the known ones."""
    ours = FAMILIAR.get(name, ())
    fits = [each for each in ((ours,) if isinstance(ours, str) else ours) if each.partition("=")[0] in known]
    return f"here it is {fits[0]}" if fits else ELSEWHERE.get(name) or f"there is {nearest(name, known)}"


def explain(name: str) -> str | None:
    """What a function of other libraries is called here, as an attribute of `regard`."""
    ours: dict[str, Any] = {
        "from_pretrained": "regard.load(name)",
        "AutoModel": "regard.load(name)",
        "AutoTokenizer": "regard.load(name).tokenizer",
        "pipeline": "regard.load(name)",
        "generate": "regard.load(name)(texts), or regard.decode.generate over any model",
        "KeyedVectors": "regard.load(file)",
        "create_model": "regard.build(preset)",
    }
    return ours.get(name)


def explain_method(name: str) -> str | None:
    """What a method of other libraries is called on a pipeline."""
    ours = {
        **dict.fromkeys(("generate", "predict", "forward"), "call it: pipeline(inputs)"),
        **dict.fromkeys(("cuda", "cpu"), f"write pipeline.to({name!r})"),
        **dict.fromkeys(("half", "bfloat16", "float"), "write regard.load(name, dtype=…)"),
        "encode": "write regard.load(name, task='embed').vectors(texts)",
        "from_pretrained": "write regard.load(name)",
        "save_pretrained": "write regard.hub.export(folder, pipeline.model, pipeline.tokenizer)",
    }
    return ours.get(name)
