"""GPTs of nanoGPT and minGPT, whose checkpoints are pickles: a file of nanoGPT, or the state dict of either alone.

Theirs are laid out as GPT-2 with plain matrices. nanoGPT says its settings beside the weights, may do without biases,
and has the exact GELU; its first versions had GPT-2's approximation, which no file tells. minGPT says nothing: its
heads are those of the sizes it has names for. It has the approximation, and a matrix of its own to write by.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard import files
from regard.hub import gate
from regard.hub.gate import CheckpointError, Entry, listed
from regard.hub.remote import PREFIX
from regard.hub.store import Checkpoint, fill
from regard.hub.tables.rules import Rule, ignored, load, same, split, tied
from regard.models.gpt import FAMILY

SUFFIX = ".pt"
_COMPILED = "_orig_mod."  # which torch.compile puts before every name
_WORDS, _PLACES, _LAST = "transformer.wte.weight", "transformer.wpe.weight", "lm_head.weight"
_LAYER = (
    *(split(f"attn.c_attn.{p}", [f"attn.{part}.{p}" for part in "qkv"]) for p in ("weight", "bias")),
    same("attn.c_proj.{p}", "attn.out.{p}"),
    same("mlp.c_fc.{p}", "mlp.up.{p}"),
    same("mlp.c_proj.{p}", "mlp.down.{p}"),
    same("ln_1.{p}", "attn_norm.{p}"),
    same("ln_2.{p}", "mlp_norm.{p}"),
    ignored("attn.bias"),  # the causal mask
)
RULES: tuple[Rule, ...] = (
    same(_WORDS, "embed.weight"),
    same(_PLACES, "position.table"),
    *(rule.within("transformer.h.{i}", "decoder.blocks.{i}") for rule in _LAYER),
    same("transformer.ln_f.{p}", "norm.{p}"),
)
# The fields of ours for the `model_args` of nanoGPT; all but the last two are always there.
_ARGS = {
    "vocab_size": "vocab",
    "block_size": "context",
    "n_embd": "width",
    "n_layer": "depth",
    "n_head": "heads",
    "bias": "bias",
    "dropout": "dropout",
}
# The heads of the sizes that minGPT has names for, by depth and width.
_HEADS = {
    (3, 48): 3,
    (4, 128): 4,
    (6, 192): 6,
    (8, 512): 16,
    (12, 768): 12,
    (24, 1024): 16,
    (36, 1280): 20,
    (48, 1600): 25,
}


def find(what: str | Path) -> Path | None:
    """The checkpoint that is meant by its own path."""
    path = Path(what)
    return path if path.suffix == SUFFIX and not str(what).startswith(PREFIX) and not path.is_dir() else None


def read(path: Path, *, dtype: torch.dtype, device: str | torch.device, pickle: bool) -> Checkpoint:
    """The model of a checkpoint; of the pickle, torch takes tensors and plain values, and runs none of its code."""
    if not path.exists():
        raise CheckpointError(f"{path} is not there; give the path of a checkpoint of nanoGPT, such as ckpt.pt")
    files.check(path)
    if not pickle:
        raise CheckpointError(f"{path} is a pickle, which is read only if you trust it: load it with pickle=True")
    theirs, args = _parts(torch.load(path, map_location="cpu", weights_only=True, mmap=True), path)
    is_tied = _LAST not in theirs or _same(theirs[_LAST], theirs[_WORDS])
    fields = _fields(theirs, args, path, is_tied)
    entries = {name: _entry(path, tensor) for name, tensor in theirs.items()}
    model = gate.build(FAMILY.model, gate.config(FAMILY.config, fields, path, entries), path, entries)
    ours = load((*RULES, tied(_LAST, _WORDS) if is_tied else same(_LAST, "to_vocab.weight")), theirs)
    gate.compare({name: _entry(path, tensor) for name, tensor in ours.items()}, model.state_dict(), path)
    fill(model, {name: gate.finite(name, tensor, path) for name, tensor in ours.items()}, dtype=dtype, device=device)
    return Checkpoint(model, FAMILY, None, {"title": path.stem, "task": "generate"}, path, path.stem)


def _parts(given: Any, path: Path) -> tuple[dict[str, Tensor], Mapping[str, Any] | None]:
    """The weights of a checkpoint by their plain names, and the settings beside them."""
    is_whole = isinstance(given, dict) and "model" in given
    state, args = (given["model"], given.get("model_args")) if is_whole else (given, None)
    if not isinstance(state, dict) or not all(isinstance(each, Tensor) for each in state.values()):
        raise CheckpointError(f"{path} holds no state dict of tensors, alone or as 'model' beside 'model_args'")
    theirs = {str(name).removeprefix(_COMPILED): tensor for name, tensor in state.items()}
    if len(theirs) != len(state) or any(name not in theirs or theirs[name].ndim != 2 for name in (_WORDS, _PLACES)):
        raise CheckpointError(f"{path} is no GPT of nanoGPT or minGPT, which has the matrices {_WORDS} and {_PLACES}")
    gate.stored(theirs, path)
    if args is not None and not isinstance(args, dict):
        raise CheckpointError(f"{path} has model_args that are {str(args)[:40]}, and no settings")
    return theirs, args


def _fields(theirs: Mapping[str, Tensor], args: Mapping[str, Any] | None, path: Path, tied: bool) -> dict[str, Any]:
    """Our fields, by their settings or by the shapes of weights that have none."""
    has_bias = "transformer.ln_f.bias" in theirs
    if args is None:
        (vocab, width), context = theirs[_WORDS].shape, len(theirs[_PLACES])
        depth = len({name.split(".")[2] for name in theirs if name.startswith("transformer.h.")})
        if (depth, width) not in _HEADS:
            raise CheckpointError(
                f"{path} is a state dict alone, and {depth} layers of width {width} do not say how many heads they "
                f"have; save {{'model': state, 'model_args': {{{', '.join(map(repr, _ARGS))}}}}}, as nanoGPT does"
            )
        heads = _HEADS[depth, width]
        known: dict[str, Any] = {"vocab": vocab, "context": context, "width": width, "depth": depth, "heads": heads}
        dropout, activation = 0.1, "gelu_tanh"
    else:
        problems = [f"{str(name)[:40]} is not known" for name in args.keys() - _ARGS.keys()]
        problems += [f"{name} is missing" for name in list(_ARGS)[:-2] if name not in args]
        if problems:
            raise CheckpointError(f"the model_args of {path} are not supported: {listed(problems)}")
        known = {_ARGS[name]: value for name, value in args.items()}
        has_bias = known.pop("bias", has_bias)
        dropout, activation = known.pop("dropout", 0.0), "gelu"
    width = known["width"]
    return {
        **known,
        "hidden": 4 * width if type(width) is int else width,
        "dropout": dropout,
        "attn_dropout": dropout,
        "activation": activation,
        "norm_first": True,
        "details": {"eps": 1e-5, "scale": "width", "bias": has_bias, "tied": tied},
    }


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and one.equal(other)


def _entry(path: Path, tensor: Tensor) -> Entry:
    return Entry(path, "F32" if tensor.is_floating_point() else "I64", tuple(tensor.shape))
