"""Tests of vectors: analogies by 3CosAdd, with the words of the question and without them, and pairs of words.

An answer to `Athens is to Greece as Berlin is to` is the word nearest to Greece - Athens + Berlin, of which each has
length 1 (Mikolov 2013). Case does not count, as in the field's tools: of two spellings the more frequent one is meant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64

from regard.data.sets.wordtests import Alike, Analogy
from regard.progress import Progress
from regard.words.vectors import Vectors

TOGETHER = 64  # questions that are answered at once
COLUMNS = 30_000  # words that they are compared with at once


@dataclass(frozen=True, slots=True, eq=False)
class Analogies:
    """What was answered: `known` says which questions have all of their words, and the others tell of those alone."""

    known: Bool[np.ndarray, " q"]
    sections: tuple[str, ...]  # of those known
    without_inputs: Bool[np.ndarray, " k"]  # which are right if the words of the question are left out
    with_inputs: Bool[np.ndarray, " k"]  # and if they are not
    repeated: Bool[np.ndarray, " k"]  # where the nearest of all is a word of the question
    answers: tuple[str, ...]  # without the words of the question


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The cosine of each pair whose words are `known`, and what people said of it."""

    known: Bool[np.ndarray, " q"]
    cosines: Float64[np.ndarray, " k"]
    scores: Float64[np.ndarray, " k"]


def analogies(vectors: Vectors, questions: Sequence[Analogy], *, progress: Progress | None = None) -> Analogies:
    """Answer analogies; give `vectors.first(30_000)` for the customary protocol, which asks frequent words alone."""
    forms = _Forms(vectors)
    places = [[forms.place(word) for word in question[1:]] for question in questions]
    known = np.asarray([None not in four for four in places], bool)
    asked = np.asarray([four for four in places if None not in four], np.int64).reshape(-1, 4)
    sections = tuple(question.section for question, is_known in zip(questions, known, strict=True) if is_known)
    best, free = _nearest(vectors, asked, forms, progress)
    spelt = forms.of
    return Analogies(
        known,
        sections,
        (best >= 0) & (spelt[best] == spelt[asked[:, 3]]),
        spelt[free] == spelt[asked[:, 3]],
        (spelt[free][:, None] == spelt[asked[:, :3]]).any(axis=1),
        tuple(vectors.words[row] if row >= 0 else "" for row in best.tolist()),
    )


def pairs(vectors: Vectors, questions: Sequence[Alike]) -> Pairs:
    """The cosines of pairs of words."""
    forms = _Forms(vectors)
    places = [(forms.place(question.first), forms.place(question.second)) for question in questions]
    known = np.asarray([None not in pair for pair in places], bool)
    rows = np.asarray([pair for pair in places if None not in pair], np.int64).reshape(-1, 2)
    first, second = (vectors.matrix[rows[:, side]].astype(np.float64) for side in (0, 1))
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosines = (first * second).sum(axis=1) / np.where(lengths > 0, lengths, 1)
    scores = [question.score for question, is_known in zip(questions, known, strict=True) if is_known]
    return Pairs(known, cosines, np.asarray(scores, np.float64))


class _Forms:
    """Words without their case: `of` numbers the form of each row, and rows of one form have one number."""

    def __init__(self, vectors: Vectors) -> None:
        upper = [word.upper() for word in vectors.words]
        self._first = dict(zip(reversed(upper), range(len(upper) - 1, -1, -1), strict=True))
        self._upper = upper

    @cached_property
    def of(self) -> Int64[np.ndarray, " n"]:
        return np.asarray([self._first[form] for form in self._upper], np.int64)

    def place(self, word: str) -> int | None:
        """The row of the most frequent spelling."""
        return self._first.get(word.upper())

    def spellings(self, places: Int64[np.ndarray, " f"]) -> list[list[int]]:
        """The rows of all spellings of each word, by its row."""
        found: dict[int, list[int]] = {place: [] for place in places.tolist()}
        for row in np.flatnonzero(np.isin(self.of, places)).tolist():
            found[int(self.of[row])].append(row)
        return [found[place] for place in places.tolist()]


def _nearest(
    vectors: Vectors, asked: Int64[np.ndarray, "k 4"], forms: _Forms, progress: Progress | None
) -> tuple[Int64[np.ndarray, " k"], Int64[np.ndarray, " k"]]:
    """The nearest row to each question, without the words of the question and with them.

    The questions are made of few words, so that the products of those with all others are taken once, and added.
    """
    few, which = np.unique(asked[:, :3], return_inverse=True)
    which, spellings = which.reshape(-1, 3), forms.spellings(few)
    best, free = _Best(len(asked)), _Best(len(asked))
    for left in range(0, len(vectors), COLUMNS):
        products: Float32[np.ndarray, "f c"] = vectors.unit[few] @ vectors.unit[left : left + COLUMNS].T
        for start in range(0, len(asked), TOGETHER):
            some = slice(start, start + TOGETHER)
            first, second, third = which[some].T
            scores = products[second] - products[first]
            scores += products[third]
            free.take(some, left, scores)
            for i, question in enumerate(which[some].tolist()):
                own = [row - left for word in question for row in spellings[word]]
                scores[i, [row for row in own if 0 <= row < scores.shape[1]]] = -np.inf
            best.take(some, left, scores)
            if progress is not None:
                progress((left + COLUMNS * min(start + TOGETHER, len(asked)) / len(asked)) / (len(vectors) + COLUMNS))
    return best.rows, free.rows


class _Best:
    """The row with the highest score of each question, as more and more rows are seen; -1 before the first."""

    def __init__(self, count: int) -> None:
        self.rows: Int64[np.ndarray, " k"] = np.full(count, -1, np.int64)
        self._scores: Float32[np.ndarray, " k"] = np.full(count, -np.inf, np.float32)

    def take(self, some: slice, left: int, scores: Float32[np.ndarray, "s c"]) -> None:
        """Compare with the rows from `left` on."""
        row = scores.argmax(axis=1)
        score = scores[np.arange(len(row)), row]
        better = score > self._scores[some]
        self.rows[some] = np.where(better, row + left, self.rows[some])
        self._scores[some] = np.where(better, score, self._scores[some])
