"""A model in a folder: `config.json` says what it is, `model.safetensors` holds its numbers, `card.json` its story.

Nothing in the folder is ever executed. A folder is written beside its place and moved there whole, so that a reader
never meets half a model, and neither Ctrl-C nor a full disk costs the one that was there before.
"""

import json
import os
import shutil
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, get_args, get_origin, get_type_hints

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from regard.models.family import Family
from regard.models.family import family as find_family

FORMAT = 1  # rises when an older reader would misread the folder
_LARGEST = 16 * 2**20  # bytes of JSON that anybody needs


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A model as it came from its folder."""

    model: nn.Module
    family: Family | None
    tokenizer: Any
    card: Mapping[str, Any]
    folder: Path
    name: str


class CheckpointError(ValueError):
    """shim"""


def save(
    folder: str | Path,
    model: nn.Module,
    *,
    family: Family,
    tokenizer: Any = None,
    card: Mapping[str, Any] | None = None,
    dtype: torch.dtype | None = None,
    extras: Mapping[str, str] | None = None,
) -> None:
    """Write a model of a family, its card, and further text files such as a tokenizer; replaces what was there.

    `dtype` stores floating-point numbers in another precision, say bfloat16 for half the size.
    """
    place = Path(folder)
    one = family
    extras = dict(extras or {}) | ({"tokenizer.json": tokenizer.to_json()} if tokenizer else {})
    if not isinstance(model, one.model):
        raise TypeError(f"a {type(model).__name__} is no model of the family {one.name}, whose is {one.model.__name__}")
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        config: Any = model.config
        about = {"format": FORMAT, "family": one.name, "config": asdict(config)}
        _write(beside / "config.json", json.dumps(about, indent=2))
        _write(beside / "card.json", json.dumps(dict(card or {}), indent=2, ensure_ascii=False))
        for name, text in (extras or {}).items():
            _write(beside / name, text)
        save_file(_numbers(model, dtype), beside / "model.safetensors")
        (beside / "model.safetensors").chmod(0o644)  # its library lets nobody else read it
        _synced(beside / "model.safetensors")
        _placed(beside, place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def load(folder: str | Path, *, dtype: torch.dtype = torch.float32, device: str | torch.device = "cpu") -> Checkpoint:
    """Read a model back. It is built without numbers, compared with the file, and filled strictly."""
    from regard.text import Tokenizer
    from regard.zoo import find

    place = find(folder)
    about = _json(place / "config.json")
    if about.get("format") != FORMAT:
        raise ValueError(f"{place} has format {about.get('format')!r}, and this regard reads {FORMAT}; update regard")
    one = find_family(str(about.get("family")))
    with torch.device("meta"), _Unfilled():
        model = one.model(_config(one.config, about.get("config"), place / "config.json"))
    _compare(_header(place / "model.safetensors"), model.state_dict(), place)
    numbers = load_file(place / "model.safetensors", device=str(device))
    model.load_state_dict({name: _as(t, dtype) for name, t in numbers.items()}, assign=True)
    return Checkpoint(
        model.eval(),
        one,
        Tokenizer.load(place / "tokenizer.json") if (place / "tokenizer.json").exists() else None,
        _json(place / "card.json"),
        place,
        place.name,
    )


class _Unfilled(TorchFunctionMode):
    """First weights are not drawn: the file has others, and drawing them on `meta` first imports torch's compiler."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


def _numbers(model: nn.Module, dtype: torch.dtype | None) -> dict[str, Tensor]:
    """Every tensor once: what is shared under two names is stored under both, since a file knows no sharing."""
    return {name: _as(tensor.detach(), dtype).clone().contiguous() for name, tensor in model.state_dict().items()}


def _as(tensor: Tensor, dtype: torch.dtype | None) -> Tensor:
    return tensor.to(dtype) if dtype is not None and tensor.is_floating_point() else tensor


def _config(kind: type[Any], given: object, path: Path) -> Any:
    """A config from JSON, with every problem named at once."""
    if not isinstance(given, dict):
        raise ValueError(f"{path} has no config; it should hold one for {kind.__module__}")
    known, hints = {field.name for field in fields(kind)}, get_type_hints(kind)
    problems = [f"unknown field {name!r}" for name in given.keys() - known]
    problems += [f"missing field {name!r}" for name in known - given.keys()]
    values = {name: value for name, value in given.items() if name in known}
    for name, value in values.items():
        if is_dataclass(hints[name]):
            values[name] = _config(hints[name], value, path)
        elif not _is(value, hints[name]):
            problems.append(f"{name} is {value!r}, not {getattr(hints[name], '__name__', hints[name])}")
    if problems:
        raise ValueError(f"{path} does not fit {kind.__module__}: {'; '.join(sorted(problems))}")
    return kind(**values)


def _is(value: object, hint: Any) -> bool:
    """Whether a JSON value is of the type that a field says, as far as configs use types."""
    if get_origin(hint) is not None or hint is None:
        options = get_args(hint)
        return any(value == option or (isinstance(option, type) and _is(value, option)) for option in options)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is hint


def _compare(stored: Mapping[str, tuple[int, ...]], wanted: Mapping[str, Tensor], place: Path) -> None:
    problems = [f"missing {name}" for name in wanted.keys() - stored.keys()]
    problems += [f"unknown {name}" for name in stored.keys() - wanted.keys()]
    problems += [
        f"{name} has shape {stored[name]}, not {tuple(wanted[name].shape)}"
        for name in wanted.keys() & stored.keys()
        if stored[name] != tuple(wanted[name].shape)
    ]
    if problems:
        shown = "; ".join(sorted(problems)[:8]) + (f"; and {len(problems) - 8} more" if len(problems) > 8 else "")
        raise ValueError(f"{place / 'model.safetensors'} does not fit its config: {shown}")


def _header(path: Path) -> dict[str, tuple[int, ...]]:
    """The names and shapes in a file of numbers, before any of them is read."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > _LARGEST:
                raise ValueError(f"its header claims {length:,} bytes")
            header = json.loads(file.read(length))
        size = path.stat().st_size
        end = (
            8
            + length
            + max((row["data_offsets"][1] for name, row in header.items() if name != "__metadata__"), default=0)
        )
        if size != end:
            raise ValueError(f"it has {size:,} bytes where its header announces {end:,}")
        return {name: tuple(row["shape"]) for name, row in header.items() if name != "__metadata__"}
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing; a model folder holds config.json and model.safetensors") from None
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise ValueError(f"{path} is damaged, {error}; fetch or train it again") from None


def _json(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError(f"it has {path.stat().st_size:,} bytes")
        value = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(value, dict):
            raise ValueError("it holds no object")
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing; a model folder holds config.json and model.safetensors") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read, {error}") from None
    return value


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    _synced(path)


def _synced(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _placed(beside: Path, place: Path) -> None:
    """Move a finished folder to its place; what was there is set aside first and thrown away last."""
    beside.chmod(0o755)
    if not place.exists():
        beside.rename(place)
        return
    aside = Path(mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    place.rename(aside / "old")
    try:
        beside.rename(place)
    except OSError:
        (aside / "old").rename(place)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
