"""A question as it goes to the process of the models: plain values, all of them checked."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from regard.web.opened import Place
from regard.web.scenes import draw_shifted


class Edit(NamedTuple):
    """A head, or all heads of an attention, that look at nothing or everywhere alike."""

    name: str
    head: int | None
    kind: str  # off or uniform


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence of the world, whose alignment is known."""

    source: str
    target: str
    index: int
    split: str


class Picture(NamedTuple):
    """A picture: `world:7`, `world:7/sketch` under a shift, or the bytes of a file; and what a request calls it."""

    file: str | bytes
    name: str = ""

    @property
    def of_world(self) -> bool:
        """Whether the little world drew it."""
        return isinstance(self.file, str)

    @property
    def scene(self) -> int | None:
        """The number of the scene that it shows, under whichever shift."""
        return int(self.file.removeprefix("world:").partition("/")[0]) if isinstance(self.file, str) else None


def draw(picture: Picture) -> Any:
    """A picture as pipelines open it; a scene under a shift is drawn."""
    shifted = isinstance(picture.file, str) and "/" in picture.file
    return draw_shifted(str(picture.file)) if shifted else picture.file


@dataclass(frozen=True, slots=True)
class Matched:
    """Pictures and texts to be compared; or a text that finds pictures, among these and others or in a folder."""

    pictures: tuple[Picture, ...]
    texts: tuple[str, ...]
    find: str | None = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """Pictures and texts by turns; the last text asks."""

    parts: tuple[tuple[Picture | None, str], ...]


class Thing(NamedTuple):
    """A sound or a cloud of points: the bytes of its file."""

    file: bytes


@dataclass(frozen=True, slots=True)
class Question:
    """A model and what it is given: a text, a pair, a picture, several with texts, a sound or a cloud, or ids."""

    place: Place
    given: str | Pair | Picture | Matched | Told | Thing | list[int]
    options: dict[str, Any] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All pictures that are given."""
        match self.given:
            case Picture():
                return (self.given,)
            case Matched(pictures):
                return pictures
            case Told(parts):
                return tuple(picture for picture, _ in parts if picture is not None)
        return ()

    @property
    def nbytes(self) -> int:
        """The memory of what is given, where it is large."""
        heard = len(self.given.file) if isinstance(self.given, Thing) else 0
        return heard + sum(len(each.file) for each in self.pictures)

    @property
    def plain(self) -> Any:
        """What a pipeline is given."""
        return draw(self.given) if isinstance(self.given, Picture) else self.given
