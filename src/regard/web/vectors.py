"""Vectors of the reader's own, read in the process of the models: as many words as a page can show."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from regard.web import answers
from regard.web.errors import RefusedError
from regard.web.opened import Place

if TYPE_CHECKING:
    from regard.web.inside import Inside
    from regard.web.ticket import Ticket

SHOWN = 50_000  # words at most, the most frequent first
NUMBERS = 20_000_000  # of all their vectors; a browser holds each twice
FEWEST = 3  # words that make a map


class Given(NamedTuple):
    """The words that are shown and their rows, how many there are in all, and what was mended."""

    words: list[str]
    rows: np.ndarray
    total: int
    notes: tuple[str, ...]


def read_given(inside: "Inside", ticket: "Ticket", place: Place) -> Given:
    """The most frequent words of a file or a folder; who wrote it put them first."""
    pipeline: Any = answers.opened(inside, ticket, place)
    vectors = pipeline.vectors
    if len(vectors) < FEWEST:
        raise RefusedError(422, f"{place.name} holds {len(vectors)} vectors, which make no map; give {FEWEST} or more")
    first = vectors.first(max(FEWEST, min(SHOWN, NUMBERS // vectors.width)))
    notes = tuple(note.replace(place.folder, Path(place.folder).name) for note in vectors.notes)
    return Given(list(first.words), np.ascontiguousarray(first.matrix, "<f4"), len(vectors), notes)
