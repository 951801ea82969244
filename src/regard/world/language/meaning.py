"""What a sentence means, before any language has its say: things, events, and how they hang together.

Every part is a frozen tuple. A part is known by its path from the root, a number that every grammar computes the same
way; words of two languages that express the same path are translations of each other.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple
from zlib import crc32

Tense = Literal["present", "past", "future"]


class Gap(NamedTuple):
    """The place in a relative clause where its noun belongs."""


class Pronoun(NamedTuple):
    """Somebody known already; `like` is the noun it stands for, which settles its gender in every language."""

    person: int = 3
    plural: bool = False
    like: str = "man"


class Entity(NamedTuple):
    """A noun with what is said of it. Its number is 1, a numeral from 2 to 7, or 0 for several."""

    noun: str
    number: int = 1
    definite: bool = True
    adjectives: tuple[str, ...] = ()
    owner: "Entity | None" = None
    place: "Place | None" = None
    relative: "Clause | None" = None


class Group(NamedTuple):
    """Several things side by side."""

    members: tuple[Entity, ...]
    link: str = "and"


class Place(NamedTuple):
    """Where, with whom or for whom."""

    relation: str
    entity: Entity


Phrase = Gap | Pronoun | Entity | Group


class Clause(NamedTuple):
    """An event or a state. `be` has a quality (compared by `than`) or a place; `there` says that something is."""

    verb: str
    subject: Phrase
    object: Phrase | None = None
    recipient: Phrase | None = None
    content: "Clause | None" = None
    quality: str | None = None
    than: Entity | None = None
    place: Place | None = None
    when: str | None = None
    tense: Tense = "present"
    negative: bool = False
    progressive: bool = False


class Compound(NamedTuple):
    """Two clauses in a row: and, but, because, while."""

    first: Clause
    link: str
    second: "Clause | Compound"


class Sentence(NamedTuple):
    """What is said, or asked."""

    body: Clause | Compound
    question: bool = False


GAP = Gap()
ROOT = 1
Token = tuple[str, tuple[int, ...], str]  # a word, the paths of the parts that it expresses, its tag

# The path of a part is its parent's path, sixteen times, plus one of these.
# Of a noun phrase:
ARTICLE, NOUN, NUMBER, CASE, OWNER, PLACE, RELATIVE, ADJECTIVE = 1, 2, 3, 4, 5, 6, 7, 8  # adjectives: 8, 9, 10, …
# Of a clause:
AUXILIARY, VERB, NEGATION, LINK, SUBJECT, OBJECT, RECIPIENT, CONTENT = 1, 2, 3, 4, 5, 6, 7, 8
WHERE, WHEN, QUALITY, THAN, COMMA, THERE, STOP = 9, 10, 11, 12, 13, 14, 15
# Of a place, whose entity is itself a noun phrase:
RELATION, ENTITY = 1, 2
# Of a compound: its LINK and COMMA as in a clause, and
FIRST, SECOND = 5, 6
# Of a group: its members are 1, 2, 3, …, and
AND, BETWEEN = 15, 14


def fold(sentence: Sentence, folds: int = 10) -> int:
    """Which of the folds a sentence belongs to: who does what to whom decides, so no split can share a sentence."""
    body = sentence.body
    while type(body) is Compound:
        body = body.first
    assert type(body) is Clause
    return fold_of(_head(body.subject), body.verb, _object(body), folds)


def inner_folds(sentence: Sentence, folds: int = 10) -> Iterator[int]:
    """The folds of all clauses behind the first: joined, reported or relative."""
    body = sentence.body
    while type(body) is Compound:
        yield from _inner(body.first, folds)
        body = body.second
        yield _clause_fold(body.first if type(body) is Compound else body, folds)
    assert type(body) is Clause
    yield from _inner(body, folds)


def _inner(clause: Clause, folds: int) -> Iterator[int]:
    if clause.content is not None:
        yield _clause_fold(clause.content, folds)
        yield from _inner(clause.content, folds)
    for phrase in (clause.subject, clause.object, clause.recipient):
        for entity in phrase.members if type(phrase) is Group else (phrase,):
            if type(entity) is Entity and entity.relative is not None:
                yield _clause_fold(entity.relative, folds, entity.noun)
                yield from _inner(entity.relative, folds)


def _clause_fold(clause: "Clause | Compound", folds: int, noun: str = "-") -> int:
    """The fold of one clause; `noun` is what the gap of a relative clause stands for."""
    assert type(clause) is Clause
    subject = noun if type(clause.subject) is Gap else _head(clause.subject)
    thing = noun if type(clause.object) is Gap else _object(clause)
    return fold_of(subject, clause.verb, thing, folds)


def fold_of(subject: str, verb: str, thing: str, folds: int = 10) -> int:
    """The fold of a subject, a verb and an object given by name: their numbers add up, as in a Latin square."""
    return (_NUMBERS[subject] + _NUMBERS[verb] + _NUMBERS[thing]) % folds


class _Numbers(dict[str, int]):
    """A number for every name, the same in every process."""

    def __missing__(self, name: str) -> int:
        self[name] = number = crc32(name.encode()) >> 8
        return number


_NUMBERS = _Numbers()


def _head(phrase: Phrase) -> str:
    if type(phrase) is Entity:
        return phrase.noun
    if type(phrase) is Group:
        return phrase.members[0].noun
    return "-"


def _object(clause: Clause) -> str:
    if clause.content is not None:
        return clause.content.verb
    if clause.quality is not None:
        return clause.quality
    return "-" if clause.object is None else _head(clause.object)


def refers(meaning: object) -> bool:
    """Whether a pronoun stands anywhere in it: then one language may not say all that another has to."""
    return isinstance(meaning, Pronoun) or (isinstance(meaning, tuple) and any(map(refers, meaning)))
