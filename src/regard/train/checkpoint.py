"""Where a training stands, in one file: weights, moments, averages, and a few integers.

A file is written beside its place, forced to the disk and then renamed. So a process may die at any moment, and what
carries the name of a checkpoint is always whole. A hash of all that it says stands in it, so that it is also the same.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from regard.files import check, replacing

NAME = re.compile(r"step-(\d+)\.safetensors")


def write(path: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Put a checkpoint in its place, whole or not at all."""
    own, text = apart(tensors), json.dumps(state)
    try:
        with replacing(path) as beside:
            save_file(own, beside, {"state": text, "sha256": _digest(own, text)})
    except (OSError, SafetensorError) as error:
        raise write_error(path, error) from None


def write_error(path: Path, error: Exception) -> OSError:
    """What to say when a file of a run could not be written."""
    return OSError(
        f"could not write {path} ({error}); the last checkpoint is whole: make room, and go on with --resume"
    )


def read(path: Path, prefix: str = "") -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a checkpoint whose names begin with a prefix, and its state; the whole is checked bit by bit."""
    with _open(path) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        about = file.metadata() or {}
        same = about["sha256"] == _digest(tensors, about["state"]) if "sha256" in about else _same_crc(about, tensors)
        if not same:
            raise DamageError(f"{path} is no whole checkpoint (its hash is another)")
        return {name: tensor for name, tensor in tensors.items() if name.startswith(prefix)}, state(path)


def state(path: Path) -> dict[str, Any]:
    """The integers of a checkpoint, which a file that was cut short does not give."""
    with _open(path) as file:
        found = json.loads((file.metadata() or {})["state"])
        if not isinstance(found, dict):
            raise DamageError(f"{path} is no whole checkpoint (it does not say where it stands)")
        return found


class DamageError(ValueError):
    """A file that carries the name of a checkpoint and is none."""


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    try:
        check(path)
        with safe_open(path, framework="pt") as file:
            yield file
    except DamageError:
        raise
    except (SafetensorError, KeyError, ValueError, RecursionError) as error:
        raise DamageError(f"{path} is no whole checkpoint ({error})") from None


def present(folder: Path) -> list[Path]:
    """The checkpoints of a run, oldest first."""
    return sorted((path for path in folder.glob("*") if NAME.fullmatch(path.name)), key=step)


def regular(paths: list[Path], save: int) -> list[Path]:
    """Those that an undisturbed run would have: all at a multiple of `save`, and the last wherever it stands."""
    return [path for path in paths if path == paths[-1] or step(path) % save == 0]


def step(path: Path) -> int:
    """The step whose checkpoint lies here."""
    return int(path.name.removeprefix("step-").removesuffix(".safetensors"))


def place(folder: Path, step: int) -> Path:
    """Where the checkpoint of a step lies."""
    return folder / f"step-{step:08d}.safetensors"


def mean(paths: list[Path], prefix: str) -> dict[str, Tensor]:
    """The mean of the tensors under a prefix over several checkpoints (Vaswani 2017, §6.1)."""
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, tensor in under(read(path, prefix)[0], prefix).items():
            total[name] = total[name] + tensor.double() if name in total else tensor.double()
    return {name: (tensor / len(paths)).to(torch.float32) for name, tensor in total.items()}


def under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def apart(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Each tensor with memory of its own: the file format knows no two names for one."""
    found: dict[str, Tensor] = {}
    taken = set[int]()
    for name, tensor in tensors.items():
        mine = tensor.detach().to("cpu").contiguous()
        found[name] = mine.clone() if mine.untyped_storage().data_ptr() in taken else mine
        taken.add(mine.untyped_storage().data_ptr())
    return found


def _digest(tensors: dict[str, Tensor], text: str) -> str:
    """A hash of the state, and of names, types, shapes and bits, in the order of the alphabet."""
    found = sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        found.update(repr((name, str(tensor.dtype), tuple(tensor.shape))).encode())
        found.update(_bits(tensor))
    return found.hexdigest()


def _same_crc(about: dict[str, str], tensors: dict[str, Tensor]) -> bool:
    """Whether a checkpoint of the first versions, which had a checksum of names and bits alone, is whole."""
    found = 0
    for name in sorted(tensors):
        found = crc32(_bits(tensors[name]), crc32(name.encode(), found))
    return about.get("crc") == str(found)


def _bits(tensor: Tensor) -> memoryview:
    bits: memoryview = tensor.contiguous().flatten().view(torch.uint8).numpy().data
    return bits
