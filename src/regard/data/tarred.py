"""Archives of strangers, read where they lie: nothing is unpacked to the disk, and no more is read than is allowed."""

import gzip
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from regard.data.errors import DataError
from regard.vision.picture import BYTES, Readable, open_picture

MEMBERS = 2_000_000  # of an archive
UNPACKED = 2 * 2**30  # bytes of a compressed archive


class Place(NamedTuple):
    """Where a member of an archive lies in its file."""

    start: int
    size: int


def index(path: Path) -> dict[str, Place]:
    """Where the regular files of an archive that is not compressed lie, by name; links and devices are left out."""
    with _damage(path), tarfile.open(path, "r:") as archive:
        return {member.name: Place(member.offset_data, member.size) for member in _regular(path, archive)}


def members(path: Path, wanted: Callable[[str], bool], limit: int = BYTES) -> dict[str, bytes]:
    """The bytes of the wanted regular files of an archive, compressed if it ends in .gz, by name."""
    found = dict[str, bytes]()
    with (
        _damage(path),
        gzip.open(path) if path.suffix in (".gz", ".tgz") else path.open("rb") as stream,
        tarfile.open(fileobj=_Bounded(path, stream), mode="r|") as archive,  # type: ignore[call-overload]
    ):
        for member in _regular(path, archive):
            if wanted(member.name):
                if member.size > limit:
                    raise DataError(f"{member.name} in {path} has more than {limit:,} bytes; leave it out")
                data = archive.extractfile(member)
                found[member.name] = b"" if data is None else data.read(limit + 1)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Tarred:
    """Pictures that lie in an archive that is not compressed."""

    path: Path
    names: tuple[str, ...]
    places: tuple[Place, ...]

    @staticmethod
    def of(path: Path, names: tuple[str, ...]) -> "Tarred":
        """Some members of an archive, in this order."""
        found = index(path)
        missing = [name for name in names if name not in found]
        if missing:
            raise DataError(f"{path} has no {missing[0]!r}, and {len(missing) - 1} more are missing; fetch it again")
        return Tarred(path, names, tuple(found[name] for name in names))

    def __call__(self, index: int) -> Image.Image:
        place, name = self.places[index], f"{self.names[index]} in {self.path}"
        with self.path.open("rb") as file:
            file.seek(place.start)
            return open_picture(file.read(min(place.size, BYTES + 1)), name=name)


class _Bounded:
    """A stream that ends in a sentence where more is unpacked than is allowed."""

    def __init__(self, path: Path, stream: Readable) -> None:
        self.path, self.stream, self.left = path, stream, UNPACKED

    def read(self, size: int) -> bytes:
        data = self.stream.read(min(size, self.left + 1))
        self.left -= len(data)
        if self.left < 0:
            raise DataError(f"{self.path} unpacks to more than {UNPACKED:,} bytes; divide it")
        return data


def _regular(path: Path, archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for number, member in enumerate(archive):
        if number >= MEMBERS:
            raise DataError(f"{path} has more than {MEMBERS:,} members; divide it")
        if member.isreg() and not member.issparse():
            yield member


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} is cut short or damaged ({error}); make or fetch it again") from None
