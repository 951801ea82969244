"""A made-up world of English phrases and their Italian, where which word comes from which is known.

Adjectives move behind their nouns and articles take the noun's gender, so word order and agreement must be learned.
Each noun has one adjective it never meets in training: what is tested is always a new pair.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

ARTICLES = {"the": ("il", "la"), "a": ("un", "una")}  # masculine, feminine
NOUNS = {
    "house": ("casa", "f"),
    "dog": ("cane", "m"),
    "cat": ("gatto", "m"),
    "moon": ("luna", "f"),
    "girl": ("ragazza", "f"),
    "boy": ("ragazzo", "m"),
    "horse": ("cavallo", "m"),
    "boat": ("barca", "f"),
    "queen": ("regina", "f"),
    "king": ("re", "m"),
    "flower": ("fiore", "m"),
    "star": ("stella", "f"),
}
ADJECTIVES = {
    "red": ("rosso", "rossa"),
    "big": ("grande", "grande"),
    "small": ("piccolo", "piccola"),
    "white": ("bianco", "bianca"),
    "black": ("nero", "nera"),
    "green": ("verde", "verde"),
    "old": ("vecchio", "vecchia"),
    "new": ("nuovo", "nuova"),
}
VERBS = {"sees": "vede", "hears": "sente", "loves": "ama", "finds": "trova", "follows": "segue", "wants": "vuole"}
MARKS = (".", "?", "!")

# The pair that each noun first meets in the test; the sentence of the tour is made of two of them.
NEW = dict(zip(NOUNS, ["red", "big", "small", "white", "black", "green", "old", "new"] * 2, strict=False))

ENGLISH = (*MARKS, *ARTICLES, *NOUNS, *ADJECTIVES, *VERBS)
ITALIAN = (
    *MARKS,
    *(word for pair in ARTICLES.values() for word in pair),
    *(word for word, _ in NOUNS.values()),
    *dict.fromkeys(word for pair in ADJECTIVES.values() for word in pair),
    *VERBS.values(),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, its translation, and for each Italian word the places of the English words it comes from."""

    english: tuple[str, ...]
    italian: tuple[str, ...]
    origins: tuple[frozenset[int], ...]


def translated(english: str) -> Pair:
    """The translation of a sentence such as `the red house sees a big dog .`, word by word."""
    source = tuple(english.split())
    verb, mark = next(place for place, word in enumerate(source) if word in VERBS), len(source) - 1
    words = [
        *_noun_phrase(source, 0, verb),
        (VERBS[source[verb]], frozenset({verb})),
        *_noun_phrase(source, verb + 1, mark),
        (source[mark], frozenset({mark})),
    ]
    return Pair(source, tuple(word for word, _ in words), tuple(origin for _, origin in words))


def training(seed: int) -> Iterator[Pair]:
    """Sentences without end, in which no noun stands beside the adjective kept for the test."""
    chance = Random(f"training {seed}")
    while True:
        yield _sentence(chance, _seen)


def unseen(seed: int) -> Iterator[Pair]:
    """Sentences without end, in which every noun stands beside the adjective that training kept from it."""
    chance = Random(f"unseen {seed}")
    while True:
        yield _sentence(chance, _new)


def _sentence(chance: Random, noun_phrase: Callable[[Random], str]) -> Pair:
    # The mark is one of three so that it must be read: a certain end would leave attention free to look anywhere.
    words = noun_phrase(chance), chance.choice(list(VERBS)), noun_phrase(chance), chance.choice(MARKS)
    return translated(" ".join(words))


def _seen(chance: Random) -> str:
    article, noun = chance.choice(list(ARTICLES)), chance.choice(list(NOUNS))
    adjective = chance.choice([word for word in ADJECTIVES if word != NEW[noun]])
    return f"{article} {noun}" if chance.random() < 0.3 else f"{article} {adjective} {noun}"


def _new(chance: Random) -> str:
    noun = chance.choice(list(NOUNS))
    return f"{chance.choice(list(ARTICLES))} {NEW[noun]} {noun}"


def _noun_phrase(source: tuple[str, ...], start: int, end: int) -> Iterator[tuple[str, frozenset[int]]]:
    article, *adjectives, noun = source[start:end]
    italian, gender = NOUNS[noun]
    feminine = gender == "f"
    # An article's meaning is in the article and its gender in the noun: both are its origins.
    yield ARTICLES[article][feminine], frozenset({start, end - 1})
    yield italian, frozenset({end - 1})
    for adjective in adjectives:
        yield ADJECTIVES[adjective][feminine], frozenset({start + 1})
