"""A question as it goes to the process of the models: plain values, all of them checked."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from regard.web.opened import Place


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
    """A picture: `world:7`, or the bytes of a file."""

    file: str | bytes


@dataclass(frozen=True, slots=True)
class Question:
    """A model and what it is given: a text, a pair, a picture, or ids."""

    place: Place
    given: str | Pair | Picture | list[int]
    options: dict[str, Any] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()

    @property
    def nbytes(self) -> int:
        """The memory of what is given, where it is large."""
        return len(self.given.file) if isinstance(self.given, Picture) else 0

    @property
    def plain(self) -> Any:
        """What a pipeline is given."""
        return self.given.file if isinstance(self.given, Picture) else self.given
