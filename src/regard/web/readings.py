"""What was looked at, kept for a while under a name that nobody can guess.

Kept are queries and keys; weights are computed when they are read. The store is bounded in bytes and in time: what is
forgotten is asked for again by the page, which knows the question.
"""

import secrets
import threading
from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from regard.web.errors import RefusedError

if TYPE_CHECKING:
    from regard.analysis.reading import Reading
    from regard.web.question import Question


class Readings:
    """The store, and the weights that were read last."""

    def __init__(self, *, room: int = 256 * 2**20, age: float = 1800.0, cached: int = 64 * 2**20) -> None:
        """`room` bytes of readings, `age` seconds since the last use, and `cached` bytes of computed weights."""
        self.room, self.age, self.cached = room, age, cached
        self._kept: OrderedDict[str, tuple[Reading, int, float]] = OrderedDict()
        self._questions: dict[str, Question | None] = {}  # that they answer
        self._weights: OrderedDict[tuple[str, str], Float[np.ndarray, "h r c"]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """The memory of everything kept."""
        with self._lock:
            return sum(size for _, size, _ in self._kept.values()) + sum(w.nbytes for w in self._weights.values())

    def keep(self, reading: "Reading", question: "Question | None" = None) -> str:
        """Keep a reading, and which question it answers; its name is 128 random bits."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            size = reading.trace.nbytes + 4096 + (0 if question is None else question.nbytes)
            self._kept[name] = reading, size, monotonic()
            self._questions[name] = question
            self._forget()
        return name

    def find(self, name: str) -> "Reading":
        """A reading by its name; using it keeps it young."""
        with self._lock:
            self._forget()
            if name not in self._kept:
                raise RefusedError(410, "this look is forgotten; ask the same question again")
            reading, size, _ = self._kept.pop(name)
            self._kept[name] = reading, size, monotonic()
            return reading

    def question(self, name: str) -> "Question | None":
        """The question that a reading answers, for whoever must ask the model once more."""
        self.find(name)
        return self._questions[name]

    def weights(self, name: str, attention: str) -> Float[np.ndarray, "h r c"]:
        """The weights of every head of one attention."""
        reading, key = self.find(name), (name, attention)
        with self._lock:
            if key in self._weights:
                self._weights.move_to_end(key)
                return self._weights[key]
        import torch

        torch.set_num_threads(1)  # of this reader, which shares the machine with others
        try:
            found = reading.weights(attention)
        except KeyError as error:
            raise RefusedError(404, str(error.args[0])) from None
        except ValueError as error:  # several looks that make no one picture
            raise RefusedError(409, str(error)) from None
        with self._lock:
            if name in self._kept:
                self._weights[key] = found
            while sum(w.nbytes for w in self._weights.values()) > self.cached:
                self._weights.popitem(last=False)
        return found

    def _forget(self) -> None:
        """Drop what is too old, and the oldest of what is too much; the newest always stays."""
        now = monotonic()
        while self._kept:
            first = next(iter(self._kept))
            total = sum(size for _, size, _ in self._kept.values())
            old = now - self._kept[first][2] > self.age
            if not old and (total <= self.room or len(self._kept) == 1):
                return
            del self._kept[first], self._questions[first]
            for key in [key for key in self._weights if key[0] == first]:
                del self._weights[key]
