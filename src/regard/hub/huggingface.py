"""Folders that Hugging Face's libraries read and write, by the tables in `hub/tables`."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard import files
from regard.hub import gate
from regard.hub.gate import CheckpointError, Entry, NoTableError
from regard.hub.store import Checkpoint, files_beside, fill, pack, read_processor, write
from regard.hub.tables import rules
from regard.hub.tables.table import Table, table, table_of
from regard.text import Tokenizer
from regard.text.tokenizer import FILES
from regard.vision.processor import Processor

SHARDS = 1000  # files of one model
_NAMES = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")


def read(
    place: Path, name: str, about: Mapping[str, Any], *, dtype: torch.dtype, device: str | torch.device, pickle: bool
) -> Checkpoint:
    """A model of another library, as one of our families."""
    found, path = table(about.get("model_type"), place, name), place / "config.json"
    unsafe = (
        _unpickle(place / _NAMES[2]) if pickle and not any((place / name).exists() for name in _NAMES[:2]) else None
    )
    stored = _header(place) if unsafe is None else _as_entries(place / _NAMES[2], unsafe)
    try:
        fields = found.config(about, stored.keys())
    except CheckpointError as error:
        raise NoTableError(str(error), place, name) from None  # transformers can still look into it
    stored = {each: entry for each, entry in stored.items() if each not in found.unused(fields)}
    empty = {
        each: torch.empty(entry.shape, dtype=torch.float32 if entry.floating else torch.int64, device="meta")
        for each, entry in stored.items()
    }
    model = gate.build(found.family.model, gate.config(found.family.config, fields, path, stored), path, stored)
    known = found.rules_of(fields, about)
    gate.compare(_as_entries(path, rules.load(known, empty, prefix=found.prefix)), model.state_dict(), place)
    tokenizer = _tokenizer(place, found, about, model)
    theirs = dict(gate.read(stored)) if unsafe is None else {each: unsafe[each] for each in stored}
    fill(model, rules.load(known, theirs, prefix=found.prefix), dtype=dtype, device=device)
    card = {"title": name, **found.card_of(fields), **_labels(about, fields)}
    return Checkpoint(model, found.family, tokenizer, card, place, name, read_processor(place))


def export(
    folder: str | Path,
    model: nn.Module,
    tokenizer: Tokenizer | None = None,
    *,
    processor: Processor | None = None,
    model_type: str | None = None,
) -> None:
    """Write a model and its tokenizer or processor as a folder that `transformers` reads; replaces what was there.

    With the `model_type` "timm", a ViT is written under the names of timm.
    """
    found = table_of(model, model_type)
    config: Any = model.config
    about = found.to_json(config, tokenizer)
    known = found.rules_of(asdict(config), about)
    theirs = rules.save(known, {name: tensor.detach() for name, tensor in model.state_dict().items()})
    write(folder, about, pack(theirs, "float32"), None, files_beside(tokenizer, processor))


def _tokenizer(place: Path, found: Table, about: Mapping[str, Any], model: Any) -> Tokenizer | None:
    if not any((place / name).exists() for name in FILES):
        return None
    tokenizer = found.tokenizer(about, Tokenizer.load(place))
    if tokenizer.vocab > model.config.vocab:
        raise CheckpointError(
            f"{place} has a tokenizer of {tokenizer.vocab} entries and a model of {model.config.vocab}; they do not fit"
        )
    return tokenizer


def _labels(about: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """What the classes of a head are called, where all of them are named."""
    names, classes = about.get("id2label"), fields.get("classes")
    headed = fields.get("head", "classify") in ("classify", "tokens")  # a model of pictures has no other
    if not headed or not isinstance(names, dict) or not isinstance(classes, int):
        return {}
    labels = [names.get(str(i)) for i in range(min(classes, len(names)))]
    return {"labels": labels} if len(labels) == classes and all(isinstance(each, str) for each in labels) else {}


def _header(place: Path) -> dict[str, Entry]:
    """The tensors of one file of weights, or of all the files that an index names."""
    whole, index, unsafe = (place / name for name in _NAMES)
    if whole.exists():
        return gate.header(whole)
    if not index.exists():
        if unsafe.exists():
            raise CheckpointError(
                f"{unsafe} is a pickle, which is read only if you trust it: load it with pickle=True, or take "
                f"model.safetensors in its place"
            )
        raise CheckpointError(f"{whole} is missing; the folder of a model holds config.json and model.safetensors")
    weights = gate.read_json(index).get("weight_map")
    if not isinstance(weights, dict) or not all(isinstance(name, str) for name in weights.values()):
        raise CheckpointError(f"{index} has no weight_map from tensors to files; fetch it again")
    shards = sorted(set(weights.values()))
    if len(shards) > SHARDS or any(Path(name).name != name for name in shards):
        raise CheckpointError(f"{index} names {len(shards)} files, which must be up to {SHARDS} in the same folder")
    found: dict[str, Entry] = {}
    for name in shards:
        entries = gate.header(place / name)
        promised = {tensor for tensor, shard in weights.items() if shard == name}
        if entries.keys() != promised:
            odd = sorted(entries.keys() ^ promised)[0]
            raise CheckpointError(f"{index} and {name} do not agree on {odd[:80]!r}; fetch them again")
        found |= entries
    return found


def _as_entries(path: Path, tensors: Mapping[str, Tensor]) -> dict[str, Entry]:
    """Tensors as a header would announce them."""
    return {
        name: Entry(path, "F32" if tensor.is_floating_point() else "I64", tuple(tensor.shape))
        for name, tensor in tensors.items()
    }


def _unpickle(path: Path) -> dict[str, Tensor]:
    """The tensors of a pickle; torch takes nothing else from it and runs none of its code."""
    files.check(path)
    found = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    if not isinstance(found, dict) or not all(isinstance(each, Tensor) for each in found.values()):
        raise CheckpointError(f"{path} holds no state dict of tensors; take model.safetensors in its place")
    tensors = {str(name): tensor for name, tensor in found.items()}
    gate.stored(tensors, path)
    return {name: gate.finite(name, tensor, path) for name, tensor in tensors.items()}
