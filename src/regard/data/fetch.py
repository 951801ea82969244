"""Find the files of a named set, or fetch them from their public home.

A file is looked for in $REGARD_DATA/<set>/, then in the cache ($REGARD_CACHE, else $XDG_CACHE_HOME/regard, else
~/.cache/regard), and taken only if its size and checksum are the stated ones. What is fetched is data: it is written
beside its place, checked, and moved there; nothing of it is ever run.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, Literal
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.progress import Progress, bar

try:
    import fcntl
except ImportError:  # Windows: there, two processes should not fetch the same file at once
    fcntl = None  # type: ignore[assignment]

State = Literal["whole", "absent", "cut short", "damaged"]

PATIENCE = 30.0  # seconds without a byte before a server is given up
CHUNK = 1 << 16


def cache() -> Path:
    """The folder of what was fetched."""
    if own := os.environ.get("REGARD_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "regard"


def places(dataset: Dataset, file: File) -> list[Path]:
    """Where a file may lie, the first choice first; the last one is in the cache."""
    given = os.environ.get("REGARD_DATA")
    own = [Path(given) / dataset.name / file.name] if given else []
    return [*own, cache() / "data" / dataset.name / file.name]


def locate(dataset: Dataset, file: File) -> Path | None:
    """Where a file lies, whole or not; None if nowhere."""
    return next((path for path in places(dataset, file) if path.is_file()), None)


def inspect(path: Path, file: File) -> State:
    """Compare what lies at a path with what its home published."""
    if not path.is_file():
        return "absent"
    size = path.stat().st_size
    if size != file.size:
        return "cut short" if size < file.size else "damaged"
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    return "whole" if found == file.sha256 else "damaged"


def get(dataset: Dataset, names: list[str] | None = None) -> list[Path]:
    """Paths of the files of a set, or of some of them by name; what is not here yet is fetched."""
    files = dataset.files if names is None else [dataset.file(name) for name in names]
    return [_one(dataset, file) for file in files]


def _one(dataset: Dataset, file: File) -> Path:
    path = locate(dataset, file)
    if path is None:
        return _fetch(dataset, file)
    if (state := inspect(path, file)) != "whole":
        raise DataError(
            f"{path} is {state}: it has {path.stat().st_size} bytes and {file.name} of {dataset.name} has {file.size} "
            f"with SHA-256 {file.sha256[:12]}…; remove it and run: regard data get {dataset.name}"
        )
    return path


def _fetch(dataset: Dataset, file: File) -> Path:
    """Download a file into the cache, continuing what an earlier try has left there."""
    if not dataset.folder:
        raise DataError(
            f"{file.name} of {dataset.name} is not here, and its home has it in another form; take it from "
            f"{dataset.home}, unpack it, and give the folder in place of the name"
        )
    path, url = places(dataset, file)[-1], f"{dataset.folder}/{file.name}"
    by_hand = f"or take {file.name} from {dataset.home} and put it at {path}"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("ab") as out, alone(out):
        if path.exists():  # another process was faster
            partial.unlink(missing_ok=True)
            return path
        try:
            with bar(f"{dataset.name}/{file.name}", float(file.size), unit="bytes") as progress:
                _receive(url, out, file.size, progress)
        except HTTPError as error:
            error.close()
            if error.code == 416:  # what was kept is no beginning of what is there now
                _truncate(out)
            raise DataError(f"{url} answers {error.code} {error.reason}; try again later, {by_hand}") from None
        except (OSError, HTTPException) as error:
            said = getattr(error, "reason", None) or error
            raise DataError(
                f"{url} cannot be fetched ({said}); {out.tell()} of {file.size} bytes are kept and the next try "
                f"continues there: regard data get {dataset.name}; {by_hand}"
            ) from None
        os.fsync(out.fileno())
        if (state := inspect(partial, file)) != "whole":
            # Emptied, not removed: another process may be waiting for this very file.
            _truncate(out)
            raise DataError(
                f"what {url} sent is {state}: its SHA-256 is not {file.sha256}, so it was thrown away; "
                f"try again, {by_hand}"
            )
        partial.replace(path)
    return path


def _receive(url: str, out: IO[bytes], size: int, progress: Progress) -> None:
    """Append the bytes that are missing, never more than `size` of them in all."""
    start = out.tell()
    if start > size:
        start = _truncate(out)
    if start == size:
        return
    wanted = {"Range": f"bytes={start}-"} if start else {}
    request = Request(url, headers={"User-Agent": "regard", "Accept-Encoding": "identity"} | wanted)
    with urlopen(request, timeout=PATIENCE) as got:
        if start and not _continues(got, start):
            start = _truncate(out)
        progress(start)
        while start < size and (chunk := got.read(min(CHUNK, size - start))):
            out.write(chunk)
            start += len(chunk)
            progress(start)
        out.flush()
        if start < size:
            raise OSError("the connection ended early")
        if got.read(1):
            _truncate(out)
            raise OSError(f"it sends more than the {size} bytes that were stated")


def _truncate(out: IO[bytes]) -> int:
    out.seek(0)
    return out.truncate()


def _continues(got: HTTPResponse, start: int) -> bool:
    """Whether a server sends the rest, as it was asked, and not the whole from the beginning."""
    return got.status == 206 and (got.headers.get("Content-Range") or "").startswith(f"bytes {start}-")


@contextmanager
def alone(stream: IO[bytes]) -> Iterator[None]:
    """Wait until no other process writes this file; it is let go when the file is closed."""
    if fcntl is not None:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0, os.SEEK_END)
    yield  # closing the file lets the next one in
