"""Words and their vectors, the most frequent word first; the matrix may stay on the disk until somebody reads it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np
from jaxtyping import Float32, Int64

from regard.hub import Checkpoint
from regard.names import nearest

EMBED = "embed.weight"  # what the matrix is called in the state of a model
COMMON = 50_000  # words among which a misspelt one is looked for


@dataclass(frozen=True, eq=False)
class Vectors:
    """A vector for each word: `vectors["king"]`, `"king" in vectors`, `vectors.rows(["king", "queen"])`.

    `notes` tells what was mended while they were read.
    """

    words: Sequence[str]
    matrix: Float32[np.ndarray, "n d"]
    name: str = "vectors"
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.words) != len(self.matrix):
            raise ValueError(
                f"{len(self.words)} words do not go with a matrix of shape {self.matrix.shape}; give each word a row"
            )

    @staticmethod
    def of(checkpoint: Checkpoint) -> "Vectors":
        """The vectors that a model has learnt; specials of its tokenizer, such as <unknown>, are no words."""
        state = checkpoint.model.state_dict()
        if EMBED not in state or checkpoint.tokenizer is None:
            missing = "tokenizer" if EMBED in state else EMBED
            raise ValueError(f"{checkpoint.name} has no {missing}, so that it has no vectors of words; take another")
        matrix = state[EMBED].float().cpu().numpy()
        tokenizer = checkpoint.tokenizer
        if tokenizer.vocab != len(matrix):
            raise ValueError(
                f"{checkpoint.name} has {tokenizer.vocab} words and {len(matrix)} vectors; save both of one training"
            )
        kept = [i for i in range(len(matrix)) if i not in tokenizer.specials and i != tokenizer.unknown]
        # Specials come first or last, where they come at all, and the rest need not be copied.
        together = not kept or kept[-1] - kept[0] == len(kept) - 1
        rows = slice(kept[0], kept[-1] + 1) if kept and together else kept
        return Vectors([tokenizer.entry(i) for i in kept], matrix[rows], checkpoint.name)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._places

    def __getitem__(self, word: str) -> Float32[np.ndarray, " d"]:
        (row,) = self.rows([word])
        found: np.ndarray = self.matrix[row]
        return found

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self.matrix.shape[1])

    @cached_property
    def lengths(self) -> Float32[np.ndarray, " n"]:
        """The length of each vector."""
        found: np.ndarray = np.sqrt(np.einsum("nd,nd->n", self.matrix, self.matrix))
        return found

    @cached_property
    def unit(self) -> Float32[np.ndarray, "n d"]:
        """The vectors with length 1; one that is zero has no direction and stays zero."""
        return np.ascontiguousarray(self.matrix / np.where(self.lengths > 0, self.lengths, 1)[:, None])

    @cached_property
    def _places(self) -> dict[str, int]:
        return dict(zip(self.words, range(len(self.words)), strict=True))

    def rows(self, words: Iterable[str]) -> Int64[np.ndarray, " m"]:
        """The places of words; one that is unknown is answered with the nearest spelling."""
        given = list(words)
        for word in given:
            if word not in self._places:
                raise ValueError(f"no word of {self.name} is called {word[:100]!r}; {self._hint(word)}")
        return np.asarray([self._places[word] for word in given], np.int64)

    def first(self, count: int) -> "Vectors":
        """The most frequent words alone."""
        if count < 1:
            raise ValueError(f"the first {count} words are none; give 1 or more")
        return self if count >= len(self) else Vectors(self.words[:count], self.matrix[:count], self.name, self.notes)

    def _hint(self, word: str) -> str:
        """A spelling that is known; the same letters in another case or with another join come first."""
        simple = (word.lower(), word.title(), word.upper(), word.replace(" ", "_"), word.replace(" ", "-"))
        if known := [each for each in dict.fromkeys(simple) if each in self._places]:
            return f"try {known[0]}"
        if any(sign in word for sign in "+-*"):
            return "put spaces around + and -"
        common = islice(self.words, COMMON)
        alike = [each for each in common if each[:1] == word[:1].lower() and abs(len(each) - len(word)) <= 2]
        return f"try {nearest(word.lower(), alike)}" if alike else f"it knows {len(self):,} others"

    def __repr__(self) -> str:
        return f"Vectors({self.name!r}: {len(self):,} words, {self.width} numbers each)"
