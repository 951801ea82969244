"""How German says it: three genders, four cases, the verb second or last, and relatives that step aside."""

from regard.world.language.concepts import LASTING, MASS, NAMES
from regard.world.language.forms.german import (
    ACCUSATIVE,
    ADJECTIVES,
    AN,
    BE,
    CASES,
    COMPARATIVES,
    DATIVE,
    GENITIVE,
    HAVE,
    HE,
    ME,
    NO,
    NOMINATIVE,
    NOUNS,
    PAST,
    PLURAL,
    PREDICATES,
    PRESENT,
    THE,
    WAS,
    WHO,
    WILL,
)
from regard.world.language.lexicon.german import CONTRACTIONS, DATIVE_VERBS, LINKS, NUMBERS, RELATIONS, VERBS, WHENS
from regard.world.language.meaning import (
    ADJECTIVE,
    AND,
    ARTICLE,
    AUXILIARY,
    BETWEEN,
    CASE,
    COMMA,
    CONTENT,
    ENTITY,
    FIRST,
    LINK,
    NEGATION,
    NOUN,
    NUMBER,
    OBJECT,
    OWNER,
    PLACE,
    QUALITY,
    RECIPIENT,
    RELATION,
    RELATIVE,
    ROOT,
    SECOND,
    STOP,
    SUBJECT,
    THAN,
    THERE,
    VERB,
    WHEN,
    WHERE,
    Clause,
    Compound,
    Entity,
    Gap,
    Group,
    Phrase,
    Place,
    Pronoun,
    Sentence,
    Token,
)

Waiting = tuple[Clause, int, int]  # a relative clause that will follow the verb: the clause, its path, its gender


def realise(sentence: Sentence) -> list[Token]:
    """The words of a sentence, each with the parts of the meaning that it expresses."""
    out: list[Token] = []
    body, path, link = sentence.body, ROOT, ""
    while type(body) is Compound:
        _clause(out, body.first, path * 16 + FIRST, "last" if link in ("because", "while") else "second")
        if link in ("because", "while") or body.link != "and":
            _comma(out, path * 16 + COMMA)
        link = body.link
        out.append((LINKS[link], (path * 16 + LINK,), "CCONJ" if link in ("and", "but") else "SCONJ"))
        body, path = body.second, path * 16 + SECOND
    assert type(body) is Clause
    order = "first" if sentence.question else "last" if link in ("because", "while") else "second"
    _clause(out, body, path, order)
    if out[-1][0] == ",":
        out.pop()
    out.append(("?" if sentence.question else ".", (ROOT * 16 + STOP,), "PUNCT"))
    return out


def _clause(out: list[Token], clause: Clause, path: int, order: str, gender: int = 0) -> None:
    """One clause with its verb first, second or last. The gender is that of a relative clause's noun."""
    base, subject, verb = path * 16, clause.subject, clause.verb
    there = verb == "there"
    agreement = 2 if there else _agreement(subject, gender)
    finite, other = _verb(clause, agreement)
    both = (base + AUXILIARY, base + VERB)
    beginning: Token = (finite, both[:1] if other else both, "AUX" if other or verb == "be" else "VERB")
    if order == "second":
        if clause.when is not None:
            out.append((WHENS[clause.when], (base + WHEN,), "ADV"))
            out.append(beginning)
            _subject(out, clause, base)
        else:
            _subject(out, clause, base)
            out.append(beginning)
    else:
        if order == "first":
            out.append(beginning)
        _subject(out, clause, base)
    waiting = _middle(out, clause, base, bool(other) or order == "last", order != "second")
    if other:
        out.append((other, both[1:], "VERB"))
    if order == "last":
        out.append(beginning)
    if waiting is not None:
        _relative(out, *waiting)
    if clause.content is not None:
        inner = (base + CONTENT) * 16
        _comma(out, inner + COMMA)
        out.append(("dass", (inner + LINK,), "SCONJ"))
        _clause(out, clause.content, base + CONTENT, "last")
        _comma(out, inner + COMMA)


def _subject(out: list[Token], clause: Clause, base: int) -> None:
    if clause.verb == "there":
        out.append(("es", (base + THERE,), "PRON"))
    else:
        _phrase(out, clause.subject, base + SUBJECT, NOMINATIVE)


def _middle(out: list[Token], clause: Clause, base: int, verb_follows: bool, dated: bool) -> Waiting | None:
    """What stands between the two parts of the verb; a last relative clause waits until the verb is said.

    `dated` says that the time has its place here, behind the pronouns, and not at the head of the clause.
    """
    thing, recipient, place = clause.object, clause.recipient, clause.place
    case = DATIVE if clause.verb in DATIVE_VERBS else ACCUSATIVE
    if clause.verb == "there":  # es gibt einen Stern
        thing = clause.subject
    slot = base + (SUBJECT if clause.verb == "there" else OBJECT)
    no: tuple[int, ...] = ()
    negative, counted = clause.negative, False
    if negative and type(thing) is Entity and not thing.definite and thing.noun not in NAMES:
        counted = thing.number > 1  # nicht zwei Äpfel, but: keinen Apfel
        no = () if counted else (base + NEGATION,)
        negative = False
    last = place is None and clause.quality is None and not negative
    waiting = None
    if type(thing) is Pronoun:  # gibt es dem Mann, but: gibt dem Mann das Buch
        _phrase(out, thing, slot, case)
        thing = None
    mark = ((base + RECIPIENT) * 16 + CASE,)
    if type(recipient) is Pronoun:
        _phrase(out, recipient, base + RECIPIENT, DATIVE, mark)
        recipient = None
    if dated and clause.when is not None:
        out.append((WHENS[clause.when], (base + WHEN,), "ADV"))
    if recipient is not None:
        waiting = _phrase(out, recipient, base + RECIPIENT, DATIVE, mark, wait=verb_follows and last and thing is None)
    if counted:
        out.append(("nicht", (base + NEGATION,), "PART"))
    if thing is not None:
        waiting = _phrase(out, thing, slot, case, no=no, wait=verb_follows and last)
    if negative:
        out.append(("nicht", (base + NEGATION,), "PART"))
    if clause.quality is not None:
        _quality(out, clause, base)
    if place is not None:
        waiting = _place(out, place, base + WHERE, wait=verb_follows)
    return waiting


def _quality(out: list[Token], clause: Clause, base: int) -> None:
    assert clause.quality is not None
    if clause.than is None:
        out.append((PREDICATES[clause.quality], (base + QUALITY,), "ADJ"))
    else:
        out.append((COMPARATIVES[clause.quality], (base + QUALITY,), "ADJ"))
        out.append(("als", ((base + THAN) * 16 + CASE,), "CCONJ"))
        _entity(out, clause.than, base + THAN, NOMINATIVE)


def _place(out: list[Token], place: Place, path: int, wait: bool = False) -> Waiting | None:
    words, case = RELATIONS[place.relation]
    relation, entity = path * 16 + RELATION, place.entity
    out.extend([(word, (relation,), "ADV") for word in words[:-1]])
    if entity.definite and entity.relative is None and entity.noun not in NAMES:
        gender = PLURAL if entity.number != 1 else NOUNS[entity.noun][2]
        short = CONTRACTIONS.get((words[-1], THE[CASES[case]][gender]))
        if short is not None:  # in dem Haus → im Haus
            article = (path * 16 + ENTITY) * 16 + ARTICLE
            return _entity(out, entity, path * 16 + ENTITY, CASES[case], (relation, article), short)
    out.append((words[-1], (relation,), "ADP"))
    return _entity(out, entity, path * 16 + ENTITY, CASES[case], wait=wait)


def _phrase(
    out: list[Token],
    phrase: Phrase,
    path: int,
    case: int,
    mark: tuple[int, ...] = (),
    no: tuple[int, ...] = (),
    wait: bool = False,
) -> Waiting | None:
    if type(phrase) is Entity:
        return _entity(out, phrase, path, case, mark, no=no, wait=wait)
    if type(phrase) is Pronoun:
        word = ME[case][phrase.person - 1 + 3 * phrase.plural] or HE[case][NOUNS[phrase.like][2]]
        out.append((word, (path * 16 + NOUN, *mark), "PRON"))
    elif type(phrase) is Group:
        last = len(phrase.members)
        for i, member in enumerate(phrase.members, 1):
            if i == last:
                out.append((LINKS[phrase.link], (path * 16 + AND,), "CCONJ"))
            elif i > 1:
                _comma(out, path * 16 + BETWEEN)
            _entity(out, member, path * 16 + i, case, mark)
    return None


def _entity(
    out: list[Token],
    entity: Entity,
    path: int,
    case: int,
    mark: tuple[int, ...] = (),
    short: str = "",
    no: tuple[int, ...] = (),
    wait: bool = False,
) -> Waiting | None:
    """A noun with its company. `short` is a preposition that has swallowed the article, `no` asks for kein."""
    noun, count, definite, adjectives, owner, place, relative = entity
    base = path * 16
    singular, plural, gender = NOUNS[noun]
    if count != 1:
        gender = PLURAL
    article = base + ARTICLE
    head: tuple[int, ...] = (base + NOUN,)
    declension = 0
    if short:
        out.append((short, mark, "ADP"))
    elif noun in NAMES:
        head = (base + NOUN, article, *mark)
    elif definite:
        out.append((THE[case][gender], (article, *mark), "DET"))
    elif no:
        out.append((NO[case][gender], (article, *mark, *no), "DET"))
        declension = 1
    elif count == 1 and noun not in MASS:
        out.append((AN[case][gender], (article, *mark), "DET"))
        declension = 1
    else:
        head = (base + NOUN, article, *mark)
        declension = 2
    if count > 1:
        out.append((NUMBERS[count], (base + NUMBER,), "NUM"))
    slot = base + ADJECTIVE
    for adjective in adjectives:
        out.append((ADJECTIVES[adjective][declension][case][gender], (slot,), "ADJ"))
        slot += 1
    out.append(((singular if count == 1 else plural)[case], head, "PROPN" if noun in NAMES else "NOUN"))
    if owner is not None:
        of = (base + OWNER) * 16 + CASE
        if owner.noun in NAMES or (owner.number != 1 and not owner.definite):  # no article to show the genitive
            out.append(("von", (of,), "ADP"))
            _entity(out, owner, base + OWNER, DATIVE)
        else:
            _entity(out, owner, base + OWNER, GENITIVE, (of,))
    if place is not None:
        _place(out, place, base + PLACE)
    if relative is not None:
        if wait:
            return relative, base + RELATIVE, gender
        _relative(out, relative, base + RELATIVE, gender)
    return None


def _relative(out: list[Token], clause: Clause, path: int, gender: int) -> None:
    base = path * 16
    _comma(out, base + COMMA)
    if type(clause.subject) is Gap:
        out.append((WHO[NOMINATIVE][gender], ((base + SUBJECT) * 16 + NOUN,), "PRON"))
    else:
        case = DATIVE if clause.verb in DATIVE_VERBS else ACCUSATIVE
        out.append((WHO[case][gender], ((base + OBJECT) * 16 + NOUN,), "PRON"))
    _clause(out, clause, path, "last", gender)
    _comma(out, base + COMMA)


def _verb(clause: Clause, agreement: int) -> tuple[str, str]:
    """The verb that agrees, and the one that does not ("" when there is none)."""
    verb, tense = clause.verb, clause.tense
    if verb == "be":
        return (WILL[agreement], "sein") if tense == "future" else ((BE if tense == "present" else WAS)[agreement], "")
    if verb == "there":
        return ("wird", "geben") if tense == "future" else ("gibt" if tense == "present" else "gab", "")
    if tense == "present":
        return PRESENT[verb][agreement], ""
    row = VERBS[verb]
    if tense == "future":
        return WILL[agreement], row[0]
    if clause.progressive or verb in LASTING:
        return PAST[verb][agreement], ""
    return (BE if row[7] == "sein" else HAVE)[agreement], row[6]


def _agreement(phrase: Phrase, gender: int) -> int:
    if type(phrase) is Entity:
        return 2 if phrase.number == 1 else 5
    if type(phrase) is Pronoun:
        return phrase.person - 1 + 3 * phrase.plural
    if type(phrase) is Gap:
        return 5 if gender == PLURAL else 2
    return 5


def _comma(out: list[Token], node: int) -> None:
    if out[-1][0] != ",":
        out.append((",", (node,), "PUNCT"))
