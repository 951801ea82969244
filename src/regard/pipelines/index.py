"""The vectors of all pictures in a folder, kept in a file beside it and brought up to date when somebody asks.

A picture is known by its name, its size and the time it was written, so only what is new or changed is read again. The
folder may change meanwhile: a picture that goes away is left out, one that is being written is read the next time. What
cannot be read is remembered with its reason, and tried again once it has changed.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from PIL import Image
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from regard import files
from regard.progress import Progress
from regard.vision.picture import PictureError, open_picture

SUFFIXES = frozenset((".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm"))
MOST = 1_000_000  # pictures of a folder
TOGETHER = 32  # pictures that are read at once
SAVED = 1024  # pictures after which what was read is kept, so that an interruption costs little
FORMAT = "regard index 1"
LARGEST = 8 * 2**30  # bytes of an index

Encode = Callable[[Sequence[Image.Image]], Float[Tensor, "n j"]]


class Stamp(NamedTuple):
    """What tells one state of a file from another."""

    size: int
    written: int  # nanoseconds


class Hit(NamedTuple):
    """A picture that was found, by its name below the folder, and how near it is."""

    name: str
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The pictures of a folder as vectors of length 1, by name; and those that cannot be read, with the reason."""

    folder: Path
    stamps: dict[str, Stamp]
    vectors: Float[Tensor, "n j"]  # in the order of the stamps
    broken: dict[str, tuple[Stamp, str]]
    new: int = 0  # how many were read this time
    unkept: str = ""  # why the file could not be written, if it could not

    def __len__(self) -> int:
        return len(self.stamps)

    def search(self, query: Float[Tensor, " j"], count: int = 10) -> list[Hit]:
        """The pictures that are nearest to a vector, the nearest first; equally near ones by name."""
        _check_width(self.folder, self.vectors, query)
        alike, names = (self.vectors @ query.float().cpu()).tolist(), list(self.stamps)
        order = sorted(range(len(names)), key=lambda i: (-alike[i], names[i]))
        return [Hit(names[i], alike[i]) for i in order[: count or None]]


def place_of(folder: Path) -> Path:
    """Where the index of a folder is kept: beside it, under its name."""
    whole = folder.resolve()
    return whole.with_name(f"{whole.name or 'root'}.regard-index")


def fingerprint(model: nn.Module) -> str:
    """A name for the vectors that a model makes: changes with its config and its weights."""
    found = sha256(repr(getattr(model, "config", "")).encode())
    for name, tensor in sorted(model.state_dict().items()):
        if isinstance(tensor, Tensor):
            flat = tensor.detach().float().flatten()
            # Some of the numbers of each tensor, and their sum, tell trained models apart in no time.
            found.update(name.encode() + flat[:: max(1, len(flat) // 64)].cpu().numpy().tobytes())
            found.update(repr(round(float(flat.double().sum()), 6)).encode())
    return found.hexdigest()


def update(
    folder: Path, encode: Encode, model: str, *, path: Path | None = None, progress: Progress | None = None
) -> Index:
    """The index of a folder as it is now; what is new or has changed is read, and the file replaced whole.

    `model` is the `fingerprint` of what `encode` computes by: vectors of another one are not taken for its own.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder; give one with pictures")
    path = path or place_of(folder)
    present = dict(_list(folder, path))
    if not present:
        raise ValueError(f"{folder} has no pictures; put some there ({', '.join(sorted(SUFFIXES))}), or give another")
    before = _load(path, folder, model)
    known = {name: i for i, (name, stamp) in enumerate(before.stamps.items()) if present.get(name) == stamp}
    broken = {name: found for name, found in before.broken.items() if present.get(name) == found[0]}
    stamps = {name: present[name] for name in known}
    vectors = [before.vectors[list(known.values())]] if known else []
    todo = [name for name in present if name not in known and name not in broken]
    unkept, read = "", 0
    try:
        for start in range(0, len(todo), TOGETHER):
            opened = dict(_open(folder, todo[start : start + TOGETHER], broken))
            if opened:
                made = encode([picture for picture, _ in opened.values()]).float().cpu()
                if vectors:
                    _check_width(folder, vectors[0], made)
                vectors.append(made)
                stamps |= {name: stamp for name, (_, stamp) in opened.items()}
                read += len(opened)
            if progress is not None:
                progress(min(1.0, (start + TOGETHER) / len(todo)))
            if (start + TOGETHER) % SAVED == 0:
                unkept = _save(path, model, stamps, vectors, broken)
    finally:  # also where somebody stops it
        if todo:
            unkept = _save(path, model, stamps, vectors, broken)
    gone = before.stamps.keys() - present.keys() or before.broken.keys() - present.keys()
    if not todo and gone:
        unkept = _save(path, model, stamps, vectors, broken)
    if not stamps:
        name, (_, reason) = next(iter(broken.items()), ("", (Stamp(0, 0), "it went away meanwhile")))
        raise ValueError(f"none of the {len(present)} pictures in {folder} can be read; the first: {name} {reason}")
    return Index(folder, stamps, torch.cat(vectors), broken, read, unkept)


def _check_width(folder: Path, kept: Tensor, made: Tensor) -> None:
    """Refuse vectors that somebody else has put into an index: those of one model are equally wide."""
    if kept.shape[-1] != made.shape[-1]:
        raise ValueError(
            f"the index of {folder} has vectors of {kept.shape[-1]} numbers, and the model makes {made.shape[-1]}; "
            "remove the index, and search again"
        )


def _list(folder: Path, path: Path) -> Iterator[tuple[str, Stamp]]:
    """The pictures below a folder by name, and their stamps; hidden folders and links to folders are left out."""
    count = 0
    for home, inside, names in os.walk(folder):
        inside[:] = sorted(each for each in inside if not each.startswith("."))
        for name in sorted(names):
            whole = Path(home) / name
            if whole.suffix.lower() not in SUFFIXES or name.startswith(".") or whole == path:
                continue
            try:
                about = whole.stat()
            except OSError:  # it went away
                continue
            count += 1
            if count > MOST:
                raise ValueError(f"{folder} has more than {MOST:,} pictures; give a part of it")
            yield str(whole.relative_to(folder)), Stamp(about.st_size, about.st_mtime_ns)


def _open(
    folder: Path, names: Sequence[str], broken: dict[str, tuple[Stamp, str]]
) -> Iterator[tuple[str, tuple[Image.Image, Stamp]]]:
    """Pictures that can be read and did not change meanwhile; why others cannot is put down."""
    for name in names:
        whole = folder / name
        try:
            before = _stamp(whole)
            picture = open_picture(whole, name=name)
            after = _stamp(whole)
        except PictureError as error:
            if whole.exists():
                broken[name] = (before, str(error).removeprefix(name).strip())
        except OSError:  # it went away
            continue
        else:
            if before == after:
                yield name, (picture, after)


def _stamp(path: Path) -> Stamp:
    about = path.stat()
    return Stamp(about.st_size, about.st_mtime_ns)


def _save(
    path: Path, model: str, stamps: dict[str, Stamp], vectors: Sequence[Tensor], broken: dict[str, tuple[Stamp, str]]
) -> str:
    """Write the file whole; why not, if it cannot be written, since a search can do without."""
    names = json.dumps([[name, *stamp] for name, stamp in stamps.items()])
    odd = json.dumps([[name, *stamp, why] for name, (stamp, why) in broken.items()])
    about = {"format": FORMAT, "model": model, "pictures": names, "broken": odd}
    tensor = torch.cat(list(vectors)).contiguous() if vectors else torch.zeros(0, 1)
    try:
        with files.replacing(path) as beside:
            save_file({"vectors": tensor}, beside, metadata=about)
    except OSError as error:
        return f"{path} cannot be written ({error.strerror or error})"
    return ""


def _load(path: Path, folder: Path, model: str) -> Index:
    """What is kept; nothing, where there is no file, one of another model, or one that is damaged."""
    nothing = Index(folder, {}, torch.zeros(0, 1), {})
    try:
        files.check(path, LARGEST)
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            if (about.get("format"), about.get("model")) != (FORMAT, model):
                return nothing
            vectors: Tensor = file.get_tensor("vectors")
        stamps = {str(name): Stamp(int(size), int(when)) for name, size, when in json.loads(about["pictures"])}
        broken = {
            str(name): (Stamp(int(size), int(when)), str(why)) for name, size, when, why in json.loads(about["broken"])
        }
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError, SafetensorError):
        return nothing
    sound = vectors.ndim == 2 and len(vectors) == len(stamps) and bool(vectors.isfinite().all())
    return Index(folder, stamps, vectors.float(), broken) if sound else nothing
