"""Short stories in which pronouns have one possible antecedent, in the very language they are told in."""

from typing import NamedTuple

from regard.chance import Chance
from regard.world.language.concepts import NAMES, NOUNS, RELATIONS, UNREFERRED
from regard.world.language.meaning import (
    NOUN,
    OBJECT,
    RECIPIENT,
    ROOT,
    SUBJECT,
    Clause,
    Entity,
    Phrase,
    Place,
    Pronoun,
    Sentence,
    fold_of,
)
from regard.world.language.realise import grammar, text, words

Where = tuple[int, int]  # a sentence and a word in it


class Story(NamedTuple):
    """Sentences in a row. An antecedent is the place of a pronoun, or of the verb that swallowed it, and of a noun."""

    sentences: tuple[tuple[str, ...], ...]
    antecedents: tuple[tuple[Where, Where], ...]
    meanings: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        return " ".join(text(sentence) for sentence in self.sentences)


# Roles: A and C are people, B is an animal, F a food, T a thing, L a text, P a place.
_CAST: dict[str, tuple[str, ...]] = {
    "A": tuple(n for n in NOUNS["person"] + NOUNS["name"] if n not in UNREFERRED),
    "C": tuple(n for n in NOUNS["person"] + NOUNS["name"] if n not in UNREFERRED),
    "B": NOUNS["animal"],
    "F": NOUNS["food"],
    "T": ("ball", "box", "cup", "hat", "umbrella", "lamp", "toy", "bag"),
    "L": NOUNS["text"],
    "P": RELATIONS["into"],
}
# One row per event: verb, subject, object, recipient, relation and place, quality.
_Event = tuple[str, str, str, str, str, str]
PLOTS: tuple[tuple[_Event, ...], ...] = (
    (
        ("go", "A", "", "", "into P", ""),
        ("find", "A", "B", "", "", ""),
        ("be", "B", "", "", "", "hungry"),
        ("give", "A", "F", "B", "", ""),
        ("eat", "B", "F", "", "", ""),
        ("love", "A", "B", "", "", ""),
    ),
    (
        ("buy", "A", "T", "", "", ""),
        ("show", "A", "T", "C", "", ""),
        ("take", "C", "T", "", "", ""),
        ("be", "A", "", "", "", "sad"),
        ("help", "C", "A", "", "", ""),
        ("find", "C", "T", "", "in P", ""),
    ),
    (
        ("look-for", "A", "B", "", "", ""),
        ("see", "C", "B", "", "in P", ""),
        ("catch", "C", "B", "", "", ""),
        ("show", "C", "B", "A", "", ""),
        ("be", "A", "", "", "", "happy"),
        ("wash", "A", "B", "", "", ""),
    ),
    (
        ("take", "B", "F", "", "", ""),
        ("follow", "A", "B", "", "", ""),
        ("go", "B", "", "", "into P", ""),
        ("wait", "A", "", "", "", ""),
        ("eat", "B", "F", "", "", ""),
        ("be", "A", "", "", "", "tired"),
    ),
    (
        ("read", "A", "L", "", "in P", ""),
        ("send", "A", "L", "C", "", ""),
        ("open", "C", "L", "", "", ""),
        ("be", "C", "", "", "", "curious"),
        ("visit", "C", "A", "", "", ""),
        ("give", "A", "F", "C", "", ""),
    ),
    (
        ("see", "A", "C", "", "in P", ""),
        ("have", "C", "B", "", "", ""),
        ("draw", "A", "B", "", "", ""),
        ("be", "B", "", "", "", "tired"),
        ("sleep", "B", "", "", "", ""),
        ("carry", "C", "B", "", "", ""),
    ),
)


def tell(chance: Chance, language: str, held: bool | None = None) -> Story:
    """A story of three to six sentences; a pronoun appears wherever nothing else told so far could be meant by it."""
    say = grammar(language)
    while True:
        which = chance.below(len(PLOTS))
        plot = PLOTS[which]
        cast = {role: chance.choose(nouns) for role, nouns in _CAST.items()}
        used = " ".join(cast[role] for role in plot[0][1:4] if role)
        if cast["C"] != cast["A"] and held in (None, fold_of(str(which), plot[0][0], used) == 0):
            break
    # One in the plural, often: what drops its pronouns can tell two people apart by their number alone.
    many = {role for role in chance.choose(("", "A", "C")) if cast[role] not in NAMES}
    length = 3 + chance.below(4)
    met: dict[str, Where] = {}
    sentences: list[tuple[str, ...]] = []
    antecedents: list[tuple[Where, Where]] = []
    meanings: list[Sentence] = []
    for number, event in enumerate(plot[:length]):
        clause = _clause(event, cast, many, met)
        parts = dict(zip(("subject", "object", "recipient"), event[1:4], strict=True))
        pronouns: dict[str, str] = {}
        for part, role in parts.items():
            if role in met and chance.happens(0.8):
                candidate = _with(clause, part, _pronoun(cast, many, role))
                mine = words(say(Sentence(candidate)))
                others = [_with(clause, part, _pronoun(cast, many, other)) for other in met if other != role]
                # Whoever else was mentioned must sound different in the same place.
                if all(mine != words(say(Sentence(other))) for other in others):
                    clause, pronouns[part] = candidate, role
        meaning = Sentence(clause)
        tokens = say(meaning)
        for part, role in parts.items():
            if not role:
                continue
            node = (ROOT * 16 + _SLOTS[part]) * 16 + NOUN
            place = (number, next(i for i, token in enumerate(tokens) if node in token[1]))
            if part in pronouns:
                antecedents.append((place, met[role]))
            else:
                met[role] = place
        if event[4]:
            met[event[4].split()[1]] = (number, len(tokens) - 1)  # a place is never referred to, but could be
        meanings.append(meaning)
        sentences.append(words(tokens))
    return Story(tuple(sentences), tuple(antecedents), tuple(meanings))


_SLOTS = {"subject": SUBJECT, "object": OBJECT, "recipient": RECIPIENT}


def _clause(event: _Event, cast: dict[str, str], many: set[str], met: dict[str, Where]) -> Clause:
    verb, subject, thing, recipient, place, quality = event

    def phrase(role: str) -> Phrase:
        count = 0 if role in many else 1
        # A new face is "a man"; for several, "men" would mean men in general.
        return Entity(cast[role], count, definite=role in met or role in many or cast[role] in NAMES)

    where = None
    if place:
        relation, role = place.split()
        where = Place(relation, Entity(cast[role]))
    return Clause(
        verb,
        phrase(subject),
        phrase(thing) if thing else None,
        phrase(recipient) if recipient else None,
        place=where,
        quality=quality or None,
        tense="past",
    )


def _pronoun(cast: dict[str, str], many: set[str], role: str) -> Pronoun:
    return Pronoun(3, role in many, cast[role])


def _with(clause: Clause, part: str, phrase: Phrase) -> Clause:
    if part == "subject":
        return clause._replace(subject=phrase)
    return clause._replace(object=phrase) if part == "object" else clause._replace(recipient=phrase)
