"""The models that are open, bounded in bytes. Only the thread that computes opens them."""

import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from regard.web import memory
from regard.web.errors import RefusedError

if TYPE_CHECKING:
    from regard.pipelines import Pipeline

ROOM = 2 * 2**30  # bytes of weights that are open at once


class Place(NamedTuple):
    """A model by the name it goes by, and its folder."""

    name: str
    folder: str


class Opened:
    """Pipelines by folder, those used last at the end."""

    def __init__(self, room: int = ROOM, bound: Callable[[int | None], None] = lambda _: None) -> None:
        """`room` bytes of weights; `bound` says how much more memory than now may be taken, or None for any."""
        self.room, self._bound = room, bound
        self._open: OrderedDict[str, Pipeline] = OrderedDict()

    def __contains__(self, place: object) -> bool:
        return isinstance(place, Place) and place.folder in self._open

    def find(self, place: Place) -> "Pipeline":
        """The pipeline of a model, read from its folder unless it is open already."""
        if place.folder not in self._open:
            import torch

            from regard.pipelines import load

            # Half of the cores: the other half draws the page, and small products that share a busy core crawl.
            torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))
            self._bound(None)
            try:
                one = load(Path(place.folder))
            except (OSError, ValueError, KeyError, RuntimeError) as error:
                said = error.args[0] if isinstance(error, KeyError) and error.args else error
                raise RefusedError(422, f"the model {place.name} cannot be opened: {said}") from None
            finally:
                self._bound(memory.MOST)  # so much may a question take beyond its model
            one.name = place.name
            self._open[place.folder] = one
            while len(self._open) > 1 and sum(map(_bytes, self._open.values())) > self.room:
                self._open.popitem(last=False)
        self._open.move_to_end(place.folder)
        return self._open[place.folder]


def _bytes(pipeline: "Pipeline") -> int:
    return sum(each.nbytes for each in pipeline.model.state_dict().values())
