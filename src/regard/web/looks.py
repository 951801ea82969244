"""What was looked at, kept for a while under a name that nobody can guess.

Kept are queries and keys; weights are computed when they are read. The store is bounded in bytes and in time: what is
forgotten is asked for again by the page, which knows the question.
"""

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

from regard.analysis.view import Kind, Words
from regard.web.errors import RefusedError

if TYPE_CHECKING:
    from regard.attention import Trace

Side = Literal["source", "target", "read"]


@dataclass(frozen=True, slots=True)
class Cut:
    """A text in pieces, and the words they make: each piece is in exactly one, and specials are words of their own."""

    pieces: tuple[str, ...]
    words: tuple[tuple[int, int], ...]  # first and last piece
    labels: tuple[str, ...]

    @property
    def axis(self) -> Words:
        return Words(self.pieces, self.words)


@dataclass(frozen=True, slots=True)
class Attended:
    """One attention of a model, and what its rows and columns stand for.

    A row of `target` is the look that wrote that piece; `read` is what had been read by then, from the start token on.
    """

    name: str
    kind: Kind
    layer: int
    heads: int
    rows: Side
    columns: Side


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One sentence read by one model."""

    model: str
    axes: dict[Side, Cut]
    attentions: tuple[Attended, ...]
    trace: "Trace"

    def attention(self, name: str) -> Attended:
        for each in self.attentions:
            if each.name == name:
                return each
        known = ", ".join(each.name for each in self.attentions[:3]) or "this model has none"
        raise RefusedError(404, f"no attention is called {name!r}; try {known}")


class Looks:
    """The store, and the weights that were read last."""

    def __init__(self, *, room: int = 256 * 2**20, age: float = 1800.0, cached: int = 64 * 2**20) -> None:
        """`room` bytes of looks, `age` seconds since the last reading, and `cached` bytes of computed weights."""
        self.room, self.age, self.cached = room, age, cached
        self._seen: OrderedDict[str, tuple[Seen, int, float]] = OrderedDict()
        self._weights: OrderedDict[tuple[str, str], Float[np.ndarray, "h r c"]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._seen)

    @property
    def nbytes(self) -> int:
        """The memory of everything kept."""
        with self._lock:
            return sum(size for _, size, _ in self._seen.values()) + sum(w.nbytes for w in self._weights.values())

    def keep(self, seen: Seen) -> str:
        """Keep a look; its name is 128 bits of chance."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._seen[name] = seen, seen.trace.nbytes + 4096, monotonic()
            self._forget()
        return name

    def find(self, name: str) -> Seen:
        """A look by its name; reading keeps it young."""
        with self._lock:
            self._forget()
            if name not in self._seen:
                raise RefusedError(410, "this look is forgotten; ask the same question again")
            seen, size, _ = self._seen.pop(name)
            self._seen[name] = seen, size, monotonic()
            return seen

    def weights(self, name: str, attention: str) -> Float[np.ndarray, "h r c"]:
        """The weights of every head of one attention."""
        seen = self.find(name)
        one, key = seen.attention(attention), (name, attention)
        with self._lock:
            if key in self._weights:
                self._weights.move_to_end(key)
                return self._weights[key]
        import torch

        torch.set_num_threads(1)  # of this reader, which shares the machine with others
        found: np.ndarray = seen.trace.weights(one.name)[0].float().numpy()
        with self._lock:
            if name in self._seen:
                self._weights[key] = found
            while sum(w.nbytes for w in self._weights.values()) > self.cached:
                self._weights.popitem(last=False)
        return found

    def _forget(self) -> None:
        """Drop what is too old, and the oldest of what is too much; the newest always stays."""
        now = monotonic()
        while self._seen:
            first = next(iter(self._seen))
            total = sum(size for _, size, _ in self._seen.values())
            old = now - self._seen[first][2] > self.age
            if not old and (total <= self.room or len(self._seen) == 1):
                return
            del self._seen[first]
            for key in [key for key in self._weights if key[0] == first]:
                del self._weights[key]
