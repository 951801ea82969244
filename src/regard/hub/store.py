"""A model in a folder: `config.json` says what it is, `model.safetensors` holds its weights, `card.json` its story.

A folder is written beside its place and moved there whole, so that a reader never meets half a model, and neither
Ctrl-C nor a full disk costs the one that was there before.

With the storage type int8, a matrix `w` of the model is kept as whole numbers from -127 to 127 under its name and one
float32 for each row under `w.scale`; their product is what is loaded. Vectors are kept in float32.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, get_args

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from regard import files
from regard.hub import gate
from regard.hub.gate import CheckpointError, Entry
from regard.models.family import Family, family
from regard.names import Dtype
from regard.text import Tokenizer
from regard.vision.processor import Processor

FORMAT = 1  # rises when an older reader would misread the folder
PROCESSOR = "preprocessor_config.json"
_SCALE = ".scale"


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A model as it came from its folder; one of somebody else's making has no family."""

    model: nn.Module
    family: Family | None
    tokenizer: Any  # a Tokenizer, that of a foreign model, or None
    card: Mapping[str, Any]
    folder: Path
    name: str
    processor: Processor | None = None  # of a model of pictures


def save(
    folder: str | Path,
    model: nn.Module,
    *,
    family: Family,
    card: Mapping[str, Any] | None = None,
    tokenizer: Tokenizer | None = None,
    processor: Processor | None = None,
    dtype: Dtype = "float32",
) -> None:
    """Write a model of a family, its card, and its tokenizer or processor; replaces what was there.

    `dtype` is that of the file: bfloat16 has half the size of float32, int8 a quarter.
    """
    if not isinstance(model, family.model):
        name = type(model).__name__
        raise TypeError(f"a {name} is no model of the family {family.name}, whose is {family.model.__name__}")
    if dtype not in get_args(Dtype):
        raise ValueError(f"weights are not stored as {dtype!r}; choose {', '.join(get_args(Dtype))}")
    _check_registered(family)
    config: Any = model.config
    about = {"format": FORMAT, "family": family.name, "config": asdict(config)}
    tensors = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    write(folder, about, pack(tensors, dtype), card or {}, files_beside(tokenizer, processor))


def read(
    place: Path, name: str, about: Mapping[str, Any], *, dtype: torch.dtype, device: str | torch.device
) -> Checkpoint:
    """A model that `save` wrote: built without weights, compared with its file, and filled strictly."""
    path = place / "config.json"
    if about.get("format") != FORMAT:
        raise CheckpointError(
            f"{place} has format {about.get('format')!r:.40}, and this regard reads {FORMAT}; update it"
        )
    weights = place / "model.safetensors"
    stored = gate.header(weights)
    entries, scales = _apart(stored)
    found = family(str(about.get("family"))[:100])
    model = gate.build(found.model, gate.config(found.config, about.get("config"), path, entries), path, entries)
    gate.compare(entries, model.state_dict(), weights)
    card = gate.read_json(place / "card.json")
    tokenizer = (
        Tokenizer.load(place) if (place / "tokenizer.json").exists() or (place / "source.spm").exists() else None
    )
    fill(model, _unpack(stored, scales), dtype=dtype, device=device)
    return Checkpoint(model, found, tokenizer, card, place, name, read_processor(place))


def read_processor(place: Path) -> Processor | None:
    """What is done to pictures before a model sees them, where its folder says it."""
    path = place / PROCESSOR
    return Processor.from_json(gate.read_json(path)) if path.exists() else None


def files_beside(tokenizer: Tokenizer | None, processor: Processor | None) -> dict[str, bytes]:
    """What lies beside the weights: how texts and pictures are read."""
    found = {} if tokenizer is None else dict(tokenizer.files())
    if processor is not None:
        found[PROCESSOR] = json.dumps(processor.to_json(), indent=2).encode()
    return found


def fill(model: nn.Module, tensors: Mapping[str, Tensor], *, dtype: torch.dtype, device: str | torch.device) -> None:
    """Give a model that was built without weights its tensors, which are copied, and make it ready to be used."""
    laid = torch.contiguous_format  # also where a table has turned a matrix
    ready = {
        name: tensor.to(device, dtype if tensor.is_floating_point() else tensor.dtype, copy=True, memory_format=laid)
        for name, tensor in tensors.items()
    }
    model.load_state_dict(ready, assign=True)
    model.eval()


def convert(folder: str | Path, dtype: Dtype) -> None:
    """Store the weights of a folder in another type; everything else in it stays as it is."""
    place = Path(folder)
    with gate.guard(place):
        stored = gate.header(place / "model.safetensors")
        _, scales = _apart(stored)
        kept = {
            path.name: files.read(path, 10**8)
            for path in place.iterdir()
            if path.name not in ("config.json", "card.json", "model.safetensors")
        }
        about, card = gate.read_json(place / "config.json"), gate.read_json(place / "card.json")
        tensors = _unpack(stored, scales)
    write(place, about, pack(tensors, dtype), card, kept)


def pack(tensors: Mapping[str, Tensor], dtype: Dtype) -> dict[str, Tensor]:
    """Tensors as they are stored; what has two names is stored under both, since a file knows no sharing."""
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if not tensor.is_floating_point() or dtype == "float32":
            found[name] = tensor.float() if tensor.is_floating_point() else tensor
        elif dtype == "bfloat16":
            found[name] = tensor.bfloat16()
        elif tensor.ndim < 2:
            found[name] = tensor.float()
        else:
            rows = tensor.float().flatten(1)
            largest = rows.abs().amax(dim=1) if rows.shape[1] else rows.new_zeros(len(rows))
            scale = largest.clamp(min=torch.finfo(torch.float32).tiny * 128) / 127
            found[name] = (rows / scale[:, None]).round().to(torch.int8).view(tensor.shape)
            found[name + _SCALE] = scale
    return {name: tensor.cpu().clone().contiguous() for name, tensor in found.items()}


def write(
    folder: str | Path,
    config: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    card: Mapping[str, Any] | None,
    others: Mapping[str, bytes],
) -> None:
    """Write a folder beside its place and move it there whole."""
    place = Path(folder)
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        files.write_json(beside / "config.json", config)
        if card is not None:
            files.write_json(beside / "card.json", dict(card))
        for name, data in others.items():
            files.write(beside / name, data)
        with files.replacing(beside / "model.safetensors") as path:
            save_file(dict(tensors), path, metadata={"format": "pt"})
            path.chmod(0o644)  # its library lets nobody else read it
        _move(beside, place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _check_registered(given: Family) -> None:
    """What is saved under a name must be found by it again."""
    try:
        known = family(given.name)
    except (KeyError, ValueError):
        known = None
    if known is None or known.model is not given.model:
        raise ValueError(
            f"no registered family {given.name!r} has the model {given.model.__name__}, so it could not be loaded "
            f"again; call regard.register(FAMILY) first, or name its file in REGARD_PLUGINS"
        )


def _apart(stored: Mapping[str, Entry]) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """The tensors of a model as they will be loaded, and the scales of those that are stored in int8."""
    scales = {
        name: entry
        for name, entry in stored.items()
        if name.endswith(_SCALE)
        and (scaled := stored.get(name.removesuffix(_SCALE))) is not None
        and (scaled.dtype, entry.dtype, entry.shape) == ("I8", "F32", scaled.shape[:1])
    }
    entries = {
        name: Entry(entry.path, "F32", entry.shape) if name + _SCALE in scales else entry
        for name, entry in stored.items()
        if name not in scales
    }
    return entries, scales


def _unpack(stored: Mapping[str, Entry], scales: Mapping[str, Entry]) -> dict[str, Tensor]:
    tensors = dict(gate.read(stored))
    for name in scales:
        scale, whole = tensors.pop(name), tensors[name.removesuffix(_SCALE)]
        tensors[name.removesuffix(_SCALE)] = whole.float() * scale.view(-1, *[1] * (whole.ndim - 1))
    return tensors


def _move(beside: Path, place: Path) -> None:
    """Move a finished folder to its place; what was there is set aside first and thrown away last."""
    beside.chmod(0o755)
    if not place.exists():
        beside.rename(place)
    else:
        aside = Path(mkdtemp(prefix=f".{place.name}-", dir=place.parent))
        place.rename(aside / "old")
        try:
            beside.rename(place)
        except OSError:
            (aside / "old").rename(place)
            raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    files.sync_folder(place.parent)
