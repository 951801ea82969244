"""Algebra with words: king - man + woman, what is near a word, and which of several does not belong.

Vectors are brought to length 1 before they are added, and compared by their cosine. The nearest word to an analogy is
often one of those it was asked with, and customarily they are left out without a word: here both answers are given.
"""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from regard.words.vectors import Vectors

TERMS = 512  # of an expression, at most
_WEIGHT = re.compile(r"(?<![^\s+−–-])(\d{1,6}(?:\.\d{1,6})?)\s*[*×]\s*(?=\S)")
_WEIGHED = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\*(.+)")
_SIGNS = {"+": 1.0, "-": -1.0, "−": -1.0, "–": -1.0}


@dataclass(frozen=True, slots=True)
class Term:
    """A word of an expression and how much of it is taken; less than nothing is subtracted."""

    word: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Near:
    """A word and the cosine of its vector, from -1 to 1."""

    word: str
    score: float


@dataclass(frozen=True, slots=True)
class Answer:
    """The words nearest to what was asked, by both rules: without the words of the question, and with them."""

    asked: str
    inputs: tuple[str, ...]
    without_inputs: tuple[Near, ...]
    with_inputs: tuple[Near, ...]

    @property
    def text(self) -> str:
        """Both answers in a line."""
        others = self.without_inputs[0].word if self.without_inputs else "nothing"
        return f"{others} without {', '.join(self.inputs)}; {self.with_inputs[0].word} with them"


@dataclass(frozen=True, slots=True)
class Odd:
    """Words by how near they are to the mean of them all; the farthest, which comes last, does not belong."""

    word: str
    ranked: tuple[Near, ...]


def parse(expression: str, known: Container[str] = ()) -> tuple[Term, ...]:
    """The terms of `king - man + woman` or `2*king - prince`.

    Signs stand between spaces or before a word, so that mother-in-law is one; what is `known` is a word, such as -lrb-.
    """
    terms: list[Term] = []
    sign: float | None = None
    for token in _tokens(expression, known):
        if token in _SIGNS:
            if sign is not None:
                raise ValueError(f"{expression[:100]!r} has two signs in a row; put a word between them")
            sign = _SIGNS[token]
        elif sign is None and terms:
            raise ValueError(
                f"{expression[:100]!r} has no sign between {terms[-1].word!r} and {token[:100]!r}; put + or - there, "
                f"with spaces around it"
            )
        else:
            terms.append(_term(token, 1.0 if sign is None else sign))
            sign = None
    if sign is not None:
        raise ValueError(f"{expression[:100]!r} ends with a sign; put a word behind it")
    if not terms:
        raise ValueError("no words are given; write something like king - man + woman")
    if len(terms) > TERMS:
        raise ValueError(f"an expression of {len(terms)} words is too long; at most {TERMS} are read")
    return tuple(terms)


def _tokens(expression: str, known: Container[str]) -> Iterator[str]:
    """Words and signs, one by one; the sign before a word such as -man is taken off."""
    for token in _WEIGHT.sub(r"\1*", expression).split():
        if token[0] in _SIGNS and len(token) > 1 and token not in known:
            yield token[0]
            yield token[1:]
        else:
            yield token


def _term(token: str, sign: float) -> Term:
    weighed = _WEIGHED.fullmatch(token)
    if weighed is None:
        return Term(token, sign)
    if not float(weighed[1]):
        raise ValueError(f"{token[:100]!r} weighs nothing; leave it out, or give it another number")
    return Term(weighed[2], sign * float(weighed[1]))


def solve(vectors: Vectors, expression: str, *, count: int = 10) -> Answer:
    """The words nearest to an expression, by both rules."""
    terms = parse(expression, vectors)
    return _answer(vectors, expression.strip(), terms, count)


def near(vectors: Vectors, word: str, *, count: int = 10) -> Answer:
    """The words nearest to a word, which is no expression whatever signs it has."""
    return _answer(vectors, word, (Term(word),), count)


def odd(vectors: Vectors, words: Sequence[str]) -> Odd:
    """Which of several words does not belong: the one farthest from the mean of their directions."""
    given = list(dict.fromkeys(words))
    if len(given) < 3:
        raise ValueError(f"of {len(given)} different words none is the odd one; give 3 or more")
    units = _directions(vectors, given)
    cosines = units @ _unit(units.mean(axis=0))
    order = np.argsort(-cosines, kind="stable")
    ranked = tuple(Near(given[i], float(cosines[i])) for i in order)
    return Odd(ranked[-1].word, ranked)


def _answer(vectors: Vectors, asked: str, terms: Sequence[Term], count: int) -> Answer:
    if count < 1:
        raise ValueError(f"{count} words are no answer; ask for 1 or more")
    inputs = tuple(dict.fromkeys(term.word for term in terms))
    weights = np.asarray([term.weight for term in terms], np.float32)
    target = weights @ _directions(vectors, [term.word for term in terms])
    if not float(target @ target) > 1e-12:
        raise ValueError(f"{asked[:100]!r} leaves nothing, a vector of zeros, and nothing is near that; ask otherwise")
    # One pass over all words: those asked with are at most so many of the best.
    best = _best(vectors, _unit(target), count + len(inputs))
    others = [each for each in best if each.word not in inputs]
    return Answer(asked, inputs, tuple(others[:count]), tuple(best[:count]))


def _directions(vectors: Vectors, words: Sequence[str]) -> Float32[np.ndarray, "m d"]:
    """The vectors of some words with length 1, without those of all others."""
    rows = vectors.matrix[vectors.rows(words)]
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not lengths.all():
        raise ValueError(
            f"the vector of {words[int(np.argmin(lengths))]!r} is zero, which has no direction; ask for another word"
        )
    return np.ascontiguousarray(rows / lengths)


def _best(vectors: Vectors, target: Float32[np.ndarray, " d"], count: int) -> list[Near]:
    lengths = vectors.lengths
    scores = vectors.matrix @ target / np.where(lengths > 0, lengths, 1)
    count = min(count, len(scores))
    rows = np.argpartition(-scores, count - 1)[:count]
    rows = rows[np.lexsort((rows, -scores[rows]))]  # of two that are as near, the more frequent comes first
    return [Near(vectors.words[row], float(scores[row])) for row in rows]


def _unit(vector: Float32[np.ndarray, " d"]) -> Float32[np.ndarray, " d"]:
    found: np.ndarray = vector / np.linalg.norm(vector)
    return found
