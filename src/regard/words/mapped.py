"""Vectors that stay on the disk until they are read: a safetensors file of ours, or a .npy with a list of words.

A safetensors file holds `embed.weight`, a row for each word, and `words`, which are UTF-8 with a line feed between.
"""

import json
from codecs import BOM_UTF8
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from regard import files
from regard.data import cache
from regard.hub import CheckpointError, gate
from regard.words.soundness import name_of, settle
from regard.words.vectors import EMBED, Vectors

WORDS = "words"
NOTES = "notes"
LISTS = ("words.txt", "vocab.txt")  # beside a .npy
LIST = 2**30  # bytes of a list of words


def read_safetensors(path: Path, *, checked: bool = False) -> Vectors:
    """The vectors of a file, mapped; one that was `checked` when it was written is not read through again."""
    entries = gate.header(path)
    if EMBED not in entries or WORDS not in entries:
        known = ", ".join(list(entries)[:4]) or "nothing"
        raise CheckpointError(
            f"{path} has {known}, and vectors are {EMBED} and {WORDS}; give the folder of a model, or a file that "
            f"regard.words.write_vectors wrote"
        )
    if len(entries[EMBED].shape) != 2 or not entries[EMBED].floating or entries[WORDS].dtype != "U8":
        raise CheckpointError(f"{path} has no matrix of numbers as {EMBED}, or no bytes as {WORDS}; write it again")
    with safe_open(path, framework="pt") as file:
        matrix = file.get_tensor(EMBED).float().numpy()
        raw = file.get_tensor(WORDS).numpy().tobytes()
        about = file.metadata() or {}
    if not checked:
        return settle(path, raw, matrix)
    return Vectors(raw.decode().split("\n"), matrix, name_of(path), tuple(json.loads(about.get(NOTES, "[]"))))


def write_safetensors(path: Path, vectors: Vectors, about: Mapping[str, str] | None = None) -> None:
    """Write a file that can be mapped."""
    words = np.frombuffer("\n".join(vectors.words).encode(), np.uint8)
    matrix = np.ascontiguousarray(vectors.matrix, np.float32)
    with files.replacing(path) as beside:
        save_file({EMBED: matrix, WORDS: words}, beside, metadata={"format": "np", **(about or {})})
        beside.chmod(0o644)


def read_npy(path: Path) -> Vectors:
    """A matrix that numpy saved, with the words in a list beside it: a text, or a column of Parquet."""
    files.check(path)
    try:
        matrix = np.load(path, mmap_mode="c", allow_pickle=False)  # no byte of the file is changed
    except (ValueError, EOFError) as error:
        raise CheckpointError(f"{path} is no matrix of numpy's ({error}); save it again") from None
    if matrix.ndim != 2 or matrix.dtype.kind != "f":
        raise CheckpointError(
            f"{path} has shape {matrix.shape} of {matrix.dtype}, and vectors are rows of floating-point numbers"
        )
    beside = _list_of(path)
    raw = _parquet(beside) if beside.suffix == ".parquet" else _lines(beside)
    return settle(path, raw, np.asarray(matrix, np.float32))


def _list_of(path: Path) -> Path:
    own = [path.with_suffix(".txt"), path.with_suffix(".parquet"), *(path.parent / name for name in LISTS)]
    for each in (*own, *sorted(path.parent.glob("*index*.parquet"))):
        if each.is_file():
            return each
    raise CheckpointError(f"nothing beside {path} lists its words; put them into {own[0].name}, one a line")


def _lines(path: Path) -> bytes:
    return files.read(path, LIST).removeprefix(BOM_UTF8).replace(b"\r\n", b"\n").removesuffix(b"\n")


def _parquet(path: Path) -> bytes:
    try:
        from pyarrow import parquet  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise CheckpointError(
            f"the words of {path} are Parquet, which needs pyarrow; in a clone of regard, pip install '.[tables]'"
        ) from None
    try:
        (column,) = parquet.read_table(path).columns
        return "\n".join(map(str, column.to_pylist())).encode()
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"{path} is no column of words ({' '.join(str(error).split())[:200]}); save it again"
        ) from None


def kept(path: Path) -> Path:
    """Where the vectors of a file that is slow to read are kept, to be mapped the next time."""
    whole = str(path.resolve())
    return cache() / "vectors" / f"{name_of(path)[:80]}-{sha256(whole.encode()).hexdigest()[:12]}.safetensors"


def recall(path: Path) -> Vectors | None:
    """The vectors of a file as they were kept, unless the file has changed since."""
    place = kept(path)
    try:
        with safe_open(place, framework="pt") as file:
            if (file.metadata() or {}).get("of") != _state(path):
                return None
        found = read_safetensors(place, checked=True)
    except Exception:  # whatever has become of it, it can be made again
        return None
    return Vectors(found.words, found.matrix, name_of(path), found.notes)


def keep(path: Path, vectors: Vectors) -> Vectors:
    """Keep vectors for the next time, and give them mapped; where nothing can be written, as they are."""
    try:
        write_safetensors(kept(path), vectors, {"of": _state(path), NOTES: json.dumps(vectors.notes)})
    except OSError:
        return vectors
    return recall(path) or vectors


def _state(path: Path) -> str:
    about = path.stat()
    return f"{about.st_size} bytes of {about.st_mtime_ns}"
