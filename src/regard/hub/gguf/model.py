"""A GGUF file as a model of ours: Llama, Mistral (which is called llama there), Qwen2 and Qwen3."""

import math
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

from regard.hub import gate
from regard.hub.gate import CheckpointError, Entry, listed
from regard.hub.gguf import header, tokens
from regard.hub.gguf.header import Header, Stored
from regard.hub.store import Checkpoint
from regard.hub.tables import rules
from regard.hub.tables.rules import Rule, ignored, same
from regard.models.llama import FAMILY

_LAYER = {
    **{f"attn_{name}": f"attn.{name}" for name in "qkv"},
    "attn_output": "attn.out",
    "attn_q_norm": "attn.q_norm",
    "attn_k_norm": "attn.k_norm",
    "attn_norm": "attn_norm",
    "ffn_norm": "mlp_norm",
    **{f"ffn_{name}": f"mlp.{name}" for name in ("gate", "up", "down")},
}
RULES: tuple[Rule, ...] = (
    same("token_embd.weight", "embed.weight"),
    *(same(f"blk.{{i}}.{theirs}.{{p}}", f"decoder.blocks.{{i}}.{ours}.{{p}}") for theirs, ours in _LAYER.items()),
    same("output_norm.weight", "norm.weight"),
    same("output.weight", "to_vocab.weight"),
    ignored("rope_freqs.weight"),  # which is in the config already
)
_TURNED = "llama"  # whose queries and keys have the two channels of a pair side by side
_ARCHITECTURES = (_TURNED, "qwen2", "qwen3")
_SIZES = {
    "context": "context_length",
    "width": "embedding_length",
    "depth": "block_count",
    "heads": "attention.head_count",
    "hidden": "feed_forward_length",
}
# What is read, beside sizes; and what can be one way only, or left out.
_READ = {
    *("attention.head_count_kv", "attention.layer_norm_rms_epsilon", "attention.key_length", "attention.value_length"),
    *("attention.sliding_window", "rope.freq_base", "rope.dimension_count", "rope.scaling.type"),
    *("rope.scaling.factor", "rope.scaling.original_context_length"),
    *("vocab_size", "rope.scaling.finetuned", "tensor_data_layout"),  # which tensors and their names say too
}
_FIXED: Mapping[str, object] = {
    "expert_count": 0,
    "expert_used_count": 0,
    "attention.causal": True,
    "rope.scaling.attn_factor": 1.0,
    "use_parallel_residual": False,
}


def find(what: str | Path) -> Path | None:
    """The GGUF file that is meant by its own path, or by that of a folder with this one and no config.json."""
    path = Path(what)
    if path.suffix.lower() == ".gguf":
        return path
    try:
        if not str(what) or not path.is_dir() or (path / "config.json").exists():
            return None
        found = sorted(each for each in path.iterdir() if each.suffix.lower() == ".gguf")
    except OSError:  # a name that is too long is no folder's
        return None
    if len(found) > 1:
        names = ", ".join(each.name for each in found[:8])
        raise CheckpointError(f"{path} holds {len(found)} GGUF files; give one of them by its path: {names}")
    return found[0] if found else None


def read(path: Path, *, dtype: torch.dtype, device: str | torch.device) -> Checkpoint:
    """The model of a file: checked against its header before anything large is read, then filled one by one."""
    package = _package()
    if not path.exists():
        raise CheckpointError(f"{path} is not there; give the path of a GGUF file")
    found = header.read(path, {int(kind): sizes for kind, sizes in package.GGML_QUANT_SIZES.items()})
    _check_types(package, found)
    fields = _fields(package, found)
    entries = {name: Entry(path, "F32", each.shape) for name, each in found.tensors.items()}
    model: Any = gate.build(FAMILY.model, gate.config(FAMILY.config, fields, path, entries), path, entries)
    empty = {name: torch.empty(entry.shape, device="meta") for name, entry in entries.items()}
    try:
        ours = rules.load(RULES, empty)
    except CheckpointError as error:
        raise CheckpointError(f"{path} is not supported, {error}") from None
    gate.compare({each: Entry(path, "F32", tuple(ours[each].shape)) for each in ours}, model.state_dict(), path)
    tokenizer = tokens.build(found.about, path, model.config.vocab)
    heads = {"q": model.config.heads, "k": model.config.groups}
    turned = found.about["general.architecture"] == _TURNED
    state = dict[str, Tensor]()
    for name, tensor in _tensors(package, found):
        for each, part in rules.load(RULES, {name: tensor}).items():
            which = each.split(".")[-2] if turned and ".attn." in each else ""
            laid = _apart(part, heads[which]) if which in heads else part
            state[each] = laid.to(device, dtype)
    model.load_state_dict(state, assign=True)
    return Checkpoint(model.eval(), FAMILY, tokenizer, _card(found), path.parent, path.stem)


def _package() -> Any:
    try:
        import gguf
    except ImportError:
        raise CheckpointError(
            "GGUF files are read by a package of that name, which is not installed; in a clone of regard, "
            "pip install '.[gguf]'"
        ) from None
    return gguf


def _fields(package: Any, found: Header) -> dict[str, Any]:
    """Our fields for what a header says; every key of the model is honoured or refused by its name."""
    who = found.about.get("general.architecture")
    if who not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES)
        raise CheckpointError(f"{found.path} holds a model of the kind {str(who)[:40]!r}; known are {known}")
    given = {name.removeprefix(f"{who}."): each for name, each in found.about.items() if name.startswith(f"{who}.")}
    problems = [f"{name} is not known" for name in given.keys() - _READ - set(_SIZES.values()) - _FIXED.keys()]
    problems += [
        f"{name} is {str(given[name])[:40]}, and only {only} is supported"
        for name, only in _FIXED.items()
        if given.get(name, only) != only
    ]
    problems += [f"{name} is missing" for name in _SIZES.values() if name not in given]
    problems += [f"{name} is missing" for name in ("token_embd.weight",) if name not in found.tensors]
    if problems:
        raise CheckpointError(f"{found.path} is not supported: {listed(problems)}")
    sizes = {ours: given[theirs] for ours, theirs in _SIZES.items()}
    head = given.get("attention.key_length", given.get("rope.dimension_count"))
    odd = [name for name in ("attention.value_length", "rope.dimension_count") if given.get(name, head) != head]
    if odd:
        raise CheckpointError(f"{found.path} is not supported: {odd[0]} is {given[odd[0]]} and heads have {head}")
    names = found.tensors.keys()
    return {
        **sizes,
        "vocab": found.tensors["token_embd.weight"].shape[0],
        "groups": given.get("attention.head_count_kv", sizes["heads"]),
        "attn_dropout": 0.0,
        "sliding_window": given.get("attention.sliding_window"),
        "tied": "output.weight" not in names,
        "turn": {
            "base": _short(given.get("rope.freq_base", 10000.0)),
            "scaling": _scaling(package, given, found),
        },
        "details": {
            "eps": _short(given.get("attention.layer_norm_rms_epsilon", 1e-6)),
            "head_width": None if _shares(sizes, head) else head,
            "qk_norm": "blk.0.attn_q_norm.weight" in names,
            **_biases(names),
            "activation": "silu",
        },
    }


def _scaling(package: Any, given: Mapping[str, Any], found: Header) -> dict[str, Any] | None:
    """How rotations are made slower: by a divisor of each pair (Llama 3), or as the header says."""
    kind, factor = given.get("rope.scaling.type", "none"), given.get("rope.scaling.factor", 1.0)
    context = given.get("rope.scaling.original_context_length", given["context_length"])
    if "rope_freqs.weight" in found.tensors and kind == "none":
        divisors = dict(_tensors(package, found, {"rope_freqs.weight"}))["rope_freqs.weight"].flatten().tolist()
        return {"short": divisors, "long": divisors, "context": context, "strength": 1.0}
    if kind == "none":
        return None
    if kind == "linear":
        return {"factor": factor}
    if kind == "yarn" and "rope_freqs.weight" not in found.tensors:
        return {"factor": factor, "context": context, "fast": 32.0, "slow": 1.0, "strength": None, "whole": True}
    raise CheckpointError(
        f"{found.path} is not supported: rope.scaling.type is {str(kind)[:40]!r}; linear and yarn are"
    )


def _biases(names: Set[str]) -> dict[str, bool]:
    parts = {"qkv_bias": "attn_q", "out_bias": "attn_output", "mlp_bias": "ffn_up"}
    return {ours: f"blk.0.{theirs}.bias" in names for ours, theirs in parts.items()}


def _shares(sizes: Mapping[str, Any], head: object) -> bool:
    """Whether heads have the width that they share."""
    width, heads = sizes["width"], sizes["heads"]
    return head is None or (type(width) is type(heads) is type(head) is int and head * heads == width)


def _short(number: Any) -> Any:
    """A number of the file, which is kept as float32, in as many digits as that has."""
    return float(f"{number:.7g}") if isinstance(number, float) and math.isfinite(number) else number


def _check_types(package: Any, found: Header) -> None:
    """Refuse types that nobody can read before anything is read."""
    for kind in {each.kind for each in found.tensors.values()}:
        one = package.GGMLQuantizationType(kind)
        try:
            package.quants.dequantize(np.zeros((1, package.GGML_QUANT_SIZES[one][1]), np.uint8), one)
        except NotImplementedError:
            raise CheckpointError(f"{found.path} has tensors of the type {one.name}, which cannot be read") from None


def _tensors(package: Any, found: Header, only: Set[str] | None = None) -> Iterator[tuple[str, Tensor]]:
    """The tensors as float32, one after another, all of their numbers finite."""
    with found.path.open("rb") as file:
        for name, each in found.tensors.items():
            if only is None or name in only:
                numbers = _numbers(package, file, each)
                # Its two ends are finite where all numbers are; to look at each by itself takes a copy of them all.
                if not np.isfinite(numbers.min()) or not np.isfinite(numbers.max()):
                    raise CheckpointError(
                        f"{name} in {found.path} has weights that are NaN or infinite; fetch it again"
                    )
                yield name, torch.from_numpy(numbers)


def _numbers(package: Any, file: BinaryIO, each: Stored) -> "np.ndarray[Any, np.dtype[np.float32]]":
    file.seek(each.start)
    data = np.frombuffer(bytearray(file.read(each.size)), np.uint8).reshape(*each.shape[:-1], -1)
    numbers: Any = package.quants.dequantize(data, package.GGMLQuantizationType(each.kind))
    return np.asarray(numbers, np.float32).reshape(each.shape)


def _apart(x: Tensor, heads: int) -> Tensor:
    """The channels of each head with the two of a pair half the width apart, as our rotations have them."""
    return torch.unflatten(x, 0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def _card(found: Header) -> dict[str, Any]:
    names = {"title": "general.name", "license": "general.license", "chat_template": "tokenizer.chat_template"}
    said = {ours: found.about[theirs] for ours, theirs in names.items() if isinstance(found.about.get(theirs), str)}
    return {"title": found.path.stem, **said, "task": "generate"}
