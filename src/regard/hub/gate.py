"""The one gate for models from disk: nothing is built, and nothing large is read, before it is checked.

Whatever is wrong with a folder is a `CheckpointError` in one sentence. No file of a folder is ever executed.
"""

import json
import math
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn.modules import module as registration
from torch.overrides import TorchFunctionMode

from regard import files

JSON = 2 * 2**20  # bytes of a config, a card, or the header of a file of tensors
LARGEST_NUMBER = 2**20  # of a config, or the elements of its file where they are more
_SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
_SHOWN = 8  # problems in one sentence
_LONGEST = 700  # letters of one


class CheckpointError(ValueError):
    """A model on disk that cannot be loaded, with the reason and the way out in one sentence."""


class NoTableError(CheckpointError):
    """A sound config.json of Hugging Face whose `model_type` or settings no table of ours reads."""

    def __init__(self, message: str, folder: Path, name: str) -> None:
        super().__init__(message)
        self.folder, self.name = folder, name


@dataclass(frozen=True, slots=True)
class Entry:
    """A tensor as the header of its file announces it."""

    path: Path
    dtype: str
    shape: tuple[int, ...]

    @property
    def floating(self) -> bool:
        return self.dtype in ("F64", "F32", "F16", "BF16")


@contextmanager
def guard(folder: str | Path) -> Iterator[None]:
    """Turn whatever goes wrong with a folder into one `CheckpointError`; panics of Rust are no `Exception`."""
    try:
        yield
    except CheckpointError as error:
        error.args = (_sentence(str(error), folder),)
        raise
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except FileNotFoundError as error:
        missing = error.filename or error
        raise CheckpointError(
            f"{missing} is missing; the folder of a model holds config.json and model.safetensors"
        ) from None
    except RecursionError:
        raise CheckpointError(f"{folder} holds no model that can be loaded: it is nested too deeply") from None
    except BaseException as error:
        said = " ".join(str(error.args[0] if isinstance(error, KeyError) and error.args else error).split())[:400]
        here = said if str(folder) in said else f"{folder} holds no model that can be loaded: {said}"
        raise CheckpointError(here or type(error).__name__) from None


def _sentence(said: str, folder: str | Path) -> str:
    """One line that can be printed, is not too long, and names the folder, whatever a stranger's names are made of."""
    said = re.sub(r"\s*[\r\n]+\s*", " ", said).encode("utf-8", "replace").decode()
    said = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
    return said if str(folder) in said else f"{folder}: {said}"


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file that is small, regular, not deep, and whose keys, numbers and texts are sound."""
    return parse_json(files.read(path, JSON), path)


def parse_json(data: bytes, path: Path) -> dict[str, Any]:
    """The object in JSON, where it is sound."""
    try:
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_refuse, parse_int=_int)
        if b"\\ud" in data or b"\\uD" in data:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise CheckpointError(f"{path} has half a character, a lone surrogate; write it as UTF-8") from None
    except RecursionError:
        raise CheckpointError(f"{path} is nested too deeply; fetch or train it again") from None
    except ValueError as error:
        raise CheckpointError(f"{path} is no sound JSON: {error}; fetch or train it again") from None
    if not isinstance(value, dict):
        raise CheckpointError(f"{path} holds {type(value).__name__} and no object; fetch or train it again")
    return value


def header(path: Path) -> dict[str, Entry]:
    """The tensors that a safetensors file announces; they fill it without gap or overlap."""
    size = files.check(path)
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > min(JSON, size - 8):
            raise _damage(path, f"its header claims {length:,} bytes of {size:,}, and at most {JSON:,} are read")
        rows = parse_json(file.read(length), path)
    rows.pop("__metadata__", None)
    spans, found = list[tuple[int, int, str]](), dict[str, Entry]()
    for name, row in rows.items():
        if not isinstance(row, dict) or row.keys() != {"dtype", "shape", "data_offsets"}:
            raise _damage(path, f"{name[:80]!r} is not announced by dtype, shape and data_offsets")
        dtype, shape, offsets = row["dtype"], row["shape"], row["data_offsets"]
        if not isinstance(dtype, str) or dtype not in _SIZES:
            raise _damage(path, f"{name[:80]!r} has the dtype {str(dtype)[:20]!r}; known are {', '.join(_SIZES)}")
        if not _counts(shape) or not _counts(offsets) or len(offsets) != 2 or len(shape) > 8:
            raise _damage(path, f"{name[:80]!r} has a shape or offsets that are no whole numbers")
        if math.prod(shape) * _SIZES[dtype] != offsets[1] - offsets[0]:
            raise _damage(path, f"{name[:80]!r} has {offsets[1] - offsets[0]:,} bytes, which its shape {shape} denies")
        spans.append((offsets[0], offsets[1], name))
        found[name] = Entry(path, dtype, tuple(shape))
    end = 0
    for start, stop, name in sorted(spans):
        if start != end:
            raise _damage(path, f"{name[:80]!r} begins at byte {start:,} where {end:,} is free, a gap or an overlap")
        end = stop
    if size != 8 + length + end:
        raise _damage(path, f"it has {size:,} bytes where its header announces {8 + length + end:,}")
    return found


def config(kind: type[Any], given: object, path: Path, entries: Mapping[str, Entry]) -> Any:
    """A config from JSON, with every problem named at once; no number is larger than what the file could hold."""
    most = max(LARGEST_NUMBER, sum(math.prod(entry.shape) for entry in entries.values()))
    problems: list[str] = []
    made = _config(kind, given, "", most, problems)
    if problems:
        raise CheckpointError(f"{path} does not fit {kind.__module__}: {listed(problems)}")
    return made


def build(model: type[nn.Module], made: Any, path: Path, entries: Mapping[str, Entry]) -> nn.Module:
    """The module of a config without weights, given up as soon as it has more tensors than its file."""
    try:
        with torch.device("meta"), _Unfilled(), _count_tensors(len(entries), path):
            return model(made)
    except CheckpointError:
        raise
    except Exception as error:
        raise CheckpointError(f"{path} describes no {model.__name__}: {' '.join(str(error).split())[:300]}") from None


def compare(entries: Mapping[str, Entry], wanted: Mapping[str, Tensor], path: Path) -> None:
    """Refuse a file whose tensors are not those of a model, naming each that differs."""
    problems = [f"missing {name}" for name in wanted.keys() - entries.keys()]
    problems += [f"unknown {name[:80]}" for name in entries.keys() - wanted.keys()]
    for name in wanted.keys() & entries.keys():
        shape, entry = tuple(wanted[name].shape), entries[name]
        if entry.shape != shape:
            problems.append(f"{name} has shape {entry.shape}, not {shape}")
        elif wanted[name].is_floating_point() != entry.floating:
            problems.append(f"{name} is {entry.dtype}, not {str(wanted[name].dtype).removeprefix('torch.')}")
    if problems:
        raise CheckpointError(f"{path} does not fit its config: {listed(problems)}")


def read(entries: Mapping[str, Entry]) -> Iterator[tuple[str, Tensor]]:
    """The tensors that were announced, one after another, all of their numbers finite."""
    for path in dict.fromkeys(entry.path for entry in entries.values()):
        with safe_open(path, framework="pt") as file:
            for name, entry in entries.items():
                if entry.path == path:
                    yield name, finite(name, file.get_tensor(name), path)


def finite(name: str, tensor: Tensor, path: Path) -> Tensor:
    """A tensor without NaN and infinity."""
    if tensor.is_floating_point() and not tensor.isfinite().all():
        raise CheckpointError(f"{name} in {path} has weights that are NaN or infinite; fetch or train it again")
    return tensor


def stored(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Refuse tensors of a pickle that claim to be larger than what is stored of them, all of their rows being one."""
    for name, tensor in tensors.items():
        if tensor.untyped_storage().nbytes() < tensor.numel() * tensor.element_size():
            raise CheckpointError(f"{name[:80]} in {path} is larger than what is stored of it; fetch or train it again")


def listed(problems: list[str]) -> str:
    rest = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return "; ".join(sorted(problems)[:_SHOWN]) + rest


def _damage(path: Path, reason: str) -> CheckpointError:
    return CheckpointError(f"{path} is damaged, {reason}; fetch or train it again")


def _counts(value: object) -> bool:
    return isinstance(value, list) and all(type(each) is int and 0 <= each < 2**50 for each in value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _int(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _config(kind: type[Any], given: object, where: str, most: int, problems: list[str]) -> Any:
    if not isinstance(given, dict):
        problems.append(f"{where.rstrip('.') or 'config'} is {_quote(given)}, not an object")
        return None
    known, hints = {each.name: each for each in fields(kind)}, get_type_hints(kind)
    problems += [f"unknown field {where + name[:60]!r}" for name in given.keys() - known.keys()]
    # A field that came later says what folders without it mean, by its default.
    problems += [
        f"missing field {where + name!r}"
        for name, each in known.items()
        if name not in given and not (each.metadata.get("later") and each.default is not MISSING)
    ]
    values = {
        name: _value(hints[name], value, where + name, most, problems) for name, value in given.items() if name in known
    }
    return None if problems else kind(**values)


def _value(hint: Any, given: object, where: str, most: int, problems: list[str]) -> Any:
    """A JSON value as the type that a field says, as far as configs use types; a list becomes a tuple."""
    if is_dataclass(hint):
        return _config(cast(type[Any], hint), given, f"{where}.", most, problems)
    origin, options = get_origin(hint), get_args(hint)
    if origin is Literal and any(type(given) is type(option) and given == option for option in options):
        return given
    if origin in (Union, UnionType):
        for option in options:
            inner: list[str] = []
            found = _value(option, given, where, most, inner)
            if not inner:
                return found
        problems.append(f"{where} is {_quote(given)}, not {hint}")
        return None
    if origin is tuple and isinstance(given, list):
        kinds = [options[0]] * len(given) if options[1:] == (Ellipsis,) else list(options)
        if len(kinds) == len(given):
            rows = zip(kinds, given, strict=True)
            return tuple(_value(kind, each, f"{where}[{i}]", most, problems) for i, (kind, each) in enumerate(rows))
    if (hint in (None, NoneType) and given is None) or (hint in (bool, str) and type(given) is hint):
        return given
    if hint in (int, float) and type(given) in ((int,) if hint is int else (int, float)):
        if math.isfinite(cast(float, given)) and (hint is float or abs(cast(int, given)) <= most):
            return given
        problems.append(f"{where} is {_quote(given)}, and no number beyond {most:,} is believed")
        return None
    problems.append(f"{where} is {_quote(given)}, not {getattr(hint, '__name__', hint) if origin is None else hint}")
    return None


def _quote(value: object) -> str:
    return f"{str(value)[:60]!r}" if isinstance(value, str) else str(value)[:60]


_DRAWING = (Tensor.normal_, Tensor.uniform_, Tensor.erfinv_)


class _Unfilled(TorchFunctionMode):
    """First weights are not drawn: the file has others, and drawing them on `meta` first imports torch's compiler."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else (kwargs or {})["tensor"]
        if func in _DRAWING and args[0].is_meta:  # by the functions of torch.nn.init that do not say so
            return args[0]
        return (torch.empty if func is torch.randn else func)(*args, **(kwargs or {}))


@contextmanager
def _count_tensors(tensors: int, path: Path) -> Iterator[None]:
    """Stop a construction that registers more than a file of so many tensors could fill."""
    # Some slack, since a module may build a part and then share or replace it.
    left, thread = {"tensors": 2 * tensors + 64, "modules": 16 * tensors + 512}, threading.get_ident()

    def count(what: str) -> Any:
        def hook(*_: object) -> None:
            if threading.get_ident() == thread:  # others may build models meanwhile
                left[what] -= 1
                if left[what] < 0:
                    raise CheckpointError(f"{path} describes a far larger model than the {tensors} tensors of its file")

        return hook

    handles = [
        registration.register_module_parameter_registration_hook(count("tensors")),
        registration.register_module_buffer_registration_hook(count("tensors")),
        registration.register_module_module_registration_hook(count("modules")),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
