"""How Czech says it: seven cases without an article, the aspect of verbs, and clitics in second place."""

from functools import lru_cache

from regard.world.language.concepts import NAMES
from regard.world.language.forms.czech import (
    ACCUSATIVE,
    ACCUSATIVES,
    ADJECTIVES,
    BE,
    CASES,
    COMPARATIVES,
    DATIVE,
    DATIVES,
    DOING,
    DONE,
    GENITIVE,
    HIM,
    INFINITIVES,
    NOMINATIVE,
    NOT_BE,
    NOUNS,
    NOW,
    NUMBERS,
    PLURAL,
    SOON,
    WHO,
    WILL,
)
from regard.world.language.lexicon.czech import DATIVE_VERBS, LINKS, RELATIONS, WHENS
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

_FIVE = 5  # from five on, the counted stand in the genitive and the verb takes them for a neuter


def realise(sentence: Sentence) -> list[Token]:
    """The words of a sentence, each with the parts of the meaning that it expresses."""
    out: list[Token] = []
    body, path, link = sentence.body, ROOT, ""
    while type(body) is Compound:
        _clause(out, body.first, path * 16 + FIRST, "hosted" if link in ("because", "while") else "free")
        if link in ("because", "while") or body.link != "and":
            _comma(out, path * 16 + COMMA)
        link = body.link
        out.append((LINKS[link], (path * 16 + LINK,), "CCONJ" if link in ("and", "but") else "SCONJ"))
        body, path = body.second, path * 16 + SECOND
    assert type(body) is Clause
    order = "asking" if sentence.question else "hosted" if link in ("because", "while") else "free"
    _clause(out, body, path, order)
    if out[-1][0] == ",":
        out.pop()
    out.append(("?" if sentence.question else ".", (ROOT * 16 + STOP,), "PUNCT"))
    return out


def _clause(out: list[Token], clause: Clause, path: int, order: str, gender: int = 0) -> None:
    """One clause. Its clitics follow the first phrase; in a hosted clause, the word that opened it is the first.

    The gender is that of a relative clause's noun.
    """
    base, subject = path * 16, clause.subject
    there = clause.verb == "there"
    # je tu kruh a kříž: the verb looks at what follows it
    near = subject.members[0] if there and type(subject) is Group else subject
    agreement, gender = _agreement(near, gender)
    person = ((base + SUBJECT) * 16 + NOUN,) if type(subject) is Pronoun else ()
    verbs, clitics = _verbs(clause, base, agreement, gender, person)
    clitics += _clitics(clause, base)
    silent = person or type(subject) is Gap
    if there:
        clitics.append(("tu", (base + THERE,), "ADV"))
        silent = True
    when: list[Token] = [] if clause.when is None else [(WHENS[clause.when], (base + WHEN,), "ADV")]
    if order == "hosted":
        out += clitics
        out += when
    elif order == "free":
        if when:
            out += when
            out += clitics
        elif silent:  # nothing stands before the verb
            out.append(verbs.pop(0))
            out += clitics
    else:
        out.append(verbs.pop(0))
        out += clitics
    if not silent:
        _phrase(out, subject, base + SUBJECT, NOMINATIVE)
    if order == "free" and not when and not silent:
        out += clitics
    if order == "asking":
        out += when
    out += verbs
    _complements(out, clause, base, gender)


def _verbs(
    clause: Clause, base: int, agreement: int, gender: int, person: tuple[int, ...]
) -> tuple[list[Token], list[Token]]:
    """The verb, in the order it is said, and the part of it that is a clitic: viděl, jsem."""
    verb, tense = clause.verb, clause.tense
    helper, main = (base + AUXILIARY,), (base + VERB,)
    no: tuple[int, ...] = (base + NEGATION,) if clause.negative else ()
    ne = "ne" if clause.negative else ""
    copula = verb in ("be", "there")
    if tense == "past":
        done = ne + (DOING if clause.progressive else DONE)[verb][gender]
        if agreement in (2, 5):
            return [(done, helper + main + no + person, "VERB")], []
        return [(done, main + no, "VERB")], [(BE[agreement], helper + person, "AUX")]
    if tense == "future":
        if copula:
            return [(ne + WILL[agreement], helper + main + no + person, "AUX")], []
        if not SOON[verb]:
            return [
                (ne + WILL[agreement], helper + no + person, "AUX"),
                (INFINITIVES[verb], main, "VERB"),
            ], []
        return [(ne + SOON[verb][agreement], helper + main + no + person, "VERB")], []
    if copula:
        return [((NOT_BE if no else BE)[agreement], helper + main + no + person, "AUX")], []
    return [(ne + NOW[verb][agreement], helper + main + no + person, "VERB")], []


def _clitics(clause: Clause, base: int) -> list[Token]:
    """mu, ho: the dative before the accusative."""
    found: list[Token] = []
    recipient, thing = clause.recipient, clause.object
    if type(recipient) is Pronoun:
        path = (base + RECIPIENT) * 16
        found.append((_pronoun(recipient, DATIVE), (path + NOUN, path + CASE), "PRON"))
    if type(thing) is Pronoun:
        case = DATIVE if clause.verb in DATIVE_VERBS else ACCUSATIVE
        found.append((_pronoun(thing, case), ((base + OBJECT) * 16 + NOUN,), "PRON"))
    return found


def _complements(out: list[Token], clause: Clause, base: int, gender: int) -> None:
    """Everything behind the verb that is not a clitic."""
    thing, recipient = clause.object, clause.recipient
    if clause.verb == "there":
        _phrase(out, clause.subject, base + SUBJECT, NOMINATIVE)
    if recipient is not None and type(recipient) is not Pronoun:
        _phrase(out, recipient, base + RECIPIENT, DATIVE, ((base + RECIPIENT) * 16 + CASE,))
    if thing is not None and type(thing) is not Pronoun:
        _phrase(out, thing, base + OBJECT, DATIVE if clause.verb in DATIVE_VERBS else ACCUSATIVE)
    if clause.quality is not None:
        _quality(out, clause, base, gender)
    if clause.place is not None:
        _place(out, clause.place, base + WHERE)
    if clause.content is not None:
        inner = (base + CONTENT) * 16
        _comma(out, inner + COMMA)
        out.append(("že", (inner + LINK,), "SCONJ"))
        _clause(out, clause.content, base + CONTENT, "hosted")
        _comma(out, inner + COMMA)


def _quality(out: list[Token], clause: Clause, base: int, gender: int) -> None:
    assert clause.quality is not None
    counted = type(clause.subject) is Entity and clause.subject.number >= _FIVE
    if clause.than is not None:
        word = COMPARATIVES[clause.quality]
        out.append((word + "ch" if counted else word, (base + QUALITY,), "ADJ"))
        out.append(("než", ((base + THAN) * 16 + CASE,), "SCONJ"))
        _entity(out, clause.than, base + THAN, NOMINATIVE)
    else:
        forms = ADJECTIVES[clause.quality]
        out.append((forms[PLURAL][GENITIVE] if counted else forms[gender][NOMINATIVE], (base + QUALITY,), "ADJ"))


def _place(out: list[Token], place: Place, path: int) -> None:
    words, case = RELATIONS[place.relation]
    node = (path * 16 + RELATION,)
    out.extend([(word, node, "ADV") for word in words[:-1]])
    at = len(out)
    _entity(out, place.entity, path * 16 + ENTITY, CASES[case])
    out.insert(at, (_voiced(words[-1], out[at][0]), node, "ADP"))


def _phrase(out: list[Token], phrase: Phrase, path: int, case: int, mark: tuple[int, ...] = ()) -> None:
    if type(phrase) is Entity:
        _entity(out, phrase, path, case, mark)
    elif type(phrase) is Group:
        last = len(phrase.members)
        for i, member in enumerate(phrase.members, 1):
            if i == last:
                out.append((LINKS[phrase.link], (path * 16 + AND,), "CCONJ"))
            elif i > 1:
                _comma(out, path * 16 + BETWEEN)
            _entity(out, member, path * 16 + i, case, mark)


def _entity(out: list[Token], entity: Entity, path: int, case: int, mark: tuple[int, ...] = ()) -> None:
    """A noun with its company; there is no article, so the noun speaks for it."""
    noun, count, _, adjectives, owner, place, relative = entity
    base = path * 16
    singular, plural, gender, plural_gender = NOUNS[noun]
    forms = singular
    inner = case
    if count != 1:
        forms, gender = plural, plural_gender
        if count:
            number = NUMBERS[count][case]
            if number == "dva" and gender > PLURAL + 1:
                number = "dvě"
            out.append((number, (base + NUMBER,), "NUM"))
            if count >= _FIVE and case in (NOMINATIVE, ACCUSATIVE):
                inner = GENITIVE
    slot = base + ADJECTIVE
    for adjective in adjectives:
        out.append((ADJECTIVES[adjective][gender][inner], (slot,), "ADJ"))
        slot += 1
    out.append((forms[inner], (base + NOUN, base + ARTICLE, *mark), "PROPN" if noun in NAMES else "NOUN"))
    if owner is not None:
        _entity(out, owner, base + OWNER, GENITIVE, ((base + OWNER) * 16 + CASE,))
    if place is not None:
        _place(out, place, base + PLACE)
    if relative is not None:
        clause = (base + RELATIVE) * 16
        _comma(out, clause + COMMA)
        if type(relative.subject) is Gap:
            out.append((WHO[gender][NOMINATIVE], ((clause + SUBJECT) * 16 + NOUN,), "PRON"))
        else:
            asked = DATIVE if relative.verb in DATIVE_VERBS else ACCUSATIVE
            out.append((WHO[gender][asked], ((clause + OBJECT) * 16 + NOUN,), "PRON"))
        _clause(out, relative, base + RELATIVE, "hosted", gender)
        _comma(out, clause + COMMA)


def _agreement(phrase: Phrase, gender: int) -> tuple[int, int]:
    """Which person the verb is in, and which gender its past has."""
    if type(phrase) is Entity:
        if phrase.number == 1:
            return 2, NOUNS[phrase.noun][2]
        return (2, 3) if phrase.number >= _FIVE else (5, NOUNS[phrase.noun][3])
    if type(phrase) is Pronoun:
        return phrase.person - 1 + 3 * phrase.plural, _gender(phrase.like, phrase.plural)
    if type(phrase) is Group:
        genders = [_gender(member.noun, member.number != 1) for member in phrase.members]
        if any(g % PLURAL == 0 for g in genders):
            return 5, PLURAL
        return 5, PLURAL + 3 if all(g == PLURAL + 3 for g in genders) else PLURAL + 2
    return (5 if gender >= PLURAL else 2), gender


def _gender(noun: str, plural: bool) -> int:
    row = NOUNS[noun]
    return row[3] if plural else row[2]


def _pronoun(pronoun: Pronoun, case: int) -> str:
    words = DATIVES if case == DATIVE else ACCUSATIVES
    return words[pronoun.person - 1 + 3 * pronoun.plural] or HIM[case][NOUNS[pronoun.like][2]]


@lru_cache(maxsize=4096)
def _voiced(preposition: str, word: str) -> str:
    """v and s grow an e before what would be hard to say: ve škole, se psem."""
    if preposition == "v":
        hard = word[0] in "vf" or (word[0] in "sšzž" and word[1] not in "aáeéěiíoóuúůyý") or word == "městě"
        return "ve" if hard or word.startswith(("dv", "tř", "čt", "žl")) else "v"
    if preposition == "s":
        return "se" if word[0] in "sšzž" or word.startswith(("ps", "dv", "tř", "čt", "mn")) else "s"
    return preposition


def _comma(out: list[Token], node: int) -> None:
    if out[-1][0] != ",":
        out.append((",", (node,), "PUNCT"))
