"""How English says it: do-support, the progressive, 's, and the tree of every sentence."""

from regard.world.language.concepts import FILLS, KIND, LINKS, MASS, NAMES, QUALITIES, WHENS
from regard.world.language.lexicon.english import COMPARATIVES, NOUNS, NUMBERS, RELATIONS, VERBS
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

Span = tuple[int, int, str]  # from word, to word, the name of the phrase

# I, you, he, we, you, they
_SUBJECTS = ("I", "you", "", "we", "you", "they")
_OBJECTS = ("me", "you", "", "us", "you", "them")
_OBJECT_OF = {"he": "him", "she": "her", "it": "it"}
_BE = {
    "present": ("am", "are", "is", "are", "are", "are"),
    "past": ("was", "were", "was", "were", "were", "were"),
}
_SILENT = frozenset((".", ",", "POS"))
_PHRASE_OF_TIME = {"NN": "NP", "RB": "ADVP"}
_RELATION_TAGS = {"to": "TO", "the": "DT", "left": "NN", "right": "NN", "front": "NN", "next": "JJ"}
_TAGS = ("VBP", "VBP", "VBZ", "VBP", "VBP", "VBP")


def realise(sentence: Sentence) -> list[Token]:
    """The words of a sentence, each with the parts of the meaning that it expresses."""
    return spell(sentence)[0]


def size(sentence: Sentence) -> int:
    """How many words a sentence has; punctuation and 's are none."""
    return count(realise(sentence))


def count(tokens: list[Token]) -> int:
    return sum([token[2] not in _SILENT for token in tokens])


def spell(sentence: Sentence) -> tuple[list[Token], list[Span]]:
    """The words of a sentence and its phrases, inner ones before outer ones."""
    out: list[Token] = []
    spans: list[Span] = []
    body, path, link = sentence.body, ROOT, -1
    first, several = 0, False  # where the clauses that belong together begin, and whether others stand beside them
    while type(body) is Compound:
        _clause(out, spans, body.first, path * 16 + FIRST)
        if link >= 0:
            spans.append((link, len(out), "SBAR"))
            if body.link in ("and", "but"):
                spans.append((first, len(out), "S"))
        if body.link == "but":
            out.append((",", (path * 16 + COMMA,), ","))
        coordinated = body.link in ("and", "but")
        link = -1 if coordinated else len(out)
        out.append((body.link, (path * 16 + LINK,), "CC" if coordinated else "IN"))
        if coordinated:
            first, several = len(out), True
        body, path = body.second, path * 16 + SECOND
    assert type(body) is Clause
    _clause(out, spans, body, path, asking=sentence.question)
    if link >= 0:
        spans.append((link, len(out), "SBAR"))
        if several:
            spans.append((first, len(out), "S"))
    out.append(("?" if sentence.question else ".", (ROOT * 16 + STOP,), "."))
    return out, spans


def _clause(
    out: list[Token], spans: list[Span], clause: Clause, path: int, asking: bool = False, agreement: int = 2
) -> None:
    """One clause. In a relative clause the noun outside sets the agreement."""
    start, base, subject = len(out), path * 16, clause.subject
    if clause.when is not None and not asking:
        out.append(_time(clause.when, base))
        spans.append((start, start + 1, _PHRASE_OF_TIME[out[-1][2]]))
    there = clause.verb == "there"
    if type(subject) is not Gap:
        agreement = _agreement(subject.members[0] if there and type(subject) is Group else subject)
    helper, helper_tag, verb, tag = _verb(clause, agreement, asking)
    both = (base + AUXILIARY, base + VERB)
    if asking:  # Does the dog … ?
        out.append((helper or verb, both[:1] if helper else both, helper_tag or tag))
    if there:
        out.append(("there", (base + THERE,), "EX"))
        spans.append((len(out) - 1, len(out), "NP"))
    else:
        _phrase(out, spans, subject, base + SUBJECT, True)
    predicate = len(out)
    if not asking:
        out.append((helper or verb, both[:1] if helper else both, helper_tag or tag))
    if clause.negative:
        out.append(("not", (base + NEGATION,), "RB"))
    inner = len(out)
    if helper:
        out.append((verb, both[1:], tag))
    _complements(out, spans, clause, base)
    if clause.when is not None and asking:
        out.append(_time(clause.when, base))
        spans.append((len(out) - 1, len(out), _PHRASE_OF_TIME[out[-1][2]]))
    if helper:
        spans.append((inner, len(out), "VP"))
    if not asking:
        spans.append((predicate, len(out), "VP"))
    spans.append((start, len(out), "SQ" if asking else "S"))


def _complements(out: list[Token], spans: list[Span], clause: Clause, base: int) -> None:
    """Everything behind the verb."""
    thing, recipient = clause.object, clause.recipient
    if clause.verb == "there":
        _phrase(out, spans, clause.subject, base + SUBJECT, True)
    sought = len(out)
    if clause.verb == "look-for":
        out.append(("for", (base + VERB,), "IN"))
    if recipient is not None and _comes_first(recipient, thing):
        _phrase(out, spans, recipient, base + RECIPIENT, False, ((base + RECIPIENT) * 16 + CASE,))
        recipient = None
    if thing is not None:
        _phrase(out, spans, thing, base + OBJECT, False)
    if clause.verb == "look-for":
        spans.append((sought, len(out), "PP"))
    if recipient is not None:
        start = len(out)
        out.append(("to", ((base + RECIPIENT) * 16 + CASE,), "TO"))
        _phrase(out, spans, recipient, base + RECIPIENT, False)
        spans.append((start, len(out), "PP"))
    if clause.quality is not None:
        _quality(out, spans, clause, base)
    if clause.place is not None:
        _place(out, spans, clause.place, base + WHERE)
    if clause.content is not None:
        start, inner = len(out), (base + CONTENT) * 16
        out.append(("that", (inner + LINK,), "IN"))
        _clause(out, spans, clause.content, base + CONTENT)
        spans.append((start, len(out), "SBAR"))


def _quality(out: list[Token], spans: list[Span], clause: Clause, base: int) -> None:
    start, than = len(out), (base + THAN) * 16
    assert clause.quality is not None
    if clause.than is None:
        out.append((clause.quality, (base + QUALITY,), "JJ"))
    else:
        out.append((COMPARATIVES[clause.quality], (base + QUALITY,), "JJR"))
        out.append(("than", (than + CASE,), "IN"))
        _entity(out, spans, clause.than, base + THAN)
        spans.append((start + 1, len(out), "PP"))
    spans.append((start, len(out), "ADJP"))


def _place(out: list[Token], spans: list[Span], place: Place, path: int) -> None:
    start, relation = len(out), RELATIONS[place.relation]
    out.extend([(word, (path * 16 + RELATION,), _RELATION_TAGS.get(word, "IN")) for word in relation])
    behind = len(out)
    _entity(out, spans, place.entity, path * 16 + ENTITY)
    if len(relation) > 1:  # (to (the left (of the ring))), (next (to the ring))
        spans.append((behind - 1, len(out), "PP"))
        if len(relation) > 2:
            spans.append((start + 1, behind - 1, "NP"))
            spans.append((start + 1, len(out), "NP"))
    spans.append((start, len(out), "PP"))


def _time(when: str, base: int) -> Token:
    return when, (base + WHEN,), "NN" if when in ("today", "yesterday", "tomorrow") else "RB"


def _phrase(
    out: list[Token], spans: list[Span], phrase: Phrase, path: int, subject: bool, mark: tuple[int, ...] = ()
) -> None:
    """A subject or an object; a gap is silent, for its word stands at the head of the relative clause."""
    if type(phrase) is Entity:
        _entity(out, spans, phrase, path, mark)
    elif type(phrase) is Pronoun:
        word = (_SUBJECTS if subject else _OBJECTS)[phrase.person - 1 + 3 * phrase.plural]
        if not word:
            word = NOUNS[phrase.like][2]
            word = word if subject else _OBJECT_OF[word]
        out.append((word, (path * 16 + NOUN, *mark), "PRP"))
        spans.append((len(out) - 1, len(out), "NP"))
    elif type(phrase) is Group:
        start = len(out)
        last = len(phrase.members)
        for i, member in enumerate(phrase.members, 1):
            if i == last:
                out.append((phrase.link, (path * 16 + AND,), "CC"))
            elif i > 1:
                out.append((",", (path * 16 + BETWEEN,), ","))
            _entity(out, spans, member, path * 16 + i, mark)
        spans.append((start, len(out), "NP"))


def _entity(out: list[Token], spans: list[Span], entity: Entity, path: int, mark: tuple[int, ...] = ()) -> None:
    noun, count, definite, adjectives, owner, place, relative = entity
    start, base = len(out), path * 16
    forms = NOUNS[noun]
    head: tuple[int, ...] = (base + NOUN, *mark)
    ours = owner is not None and definite and _short(owner)
    if ours:  # the king 's dog
        assert owner is not None
        _entity(out, spans, owner, base + OWNER)
        word = "'" if owner.number != 1 and out[-1][0].endswith("s") else "'s"
        out.append((word, ((base + OWNER) * 16 + CASE, base + ARTICLE), "POS"))
        spans.append((start, len(out), "NP"))
    elif noun in NAMES:
        head = (base + NOUN, base + ARTICLE, *mark)
    elif definite:
        out.append(("the", (base + ARTICLE,), "DT"))
    elif count == 1 and noun not in MASS:
        word = adjectives[0] if adjectives else forms[0]
        out.append(("an" if word[0] in "aeiou" else "a", (base + ARTICLE,), "DT"))
    else:
        head = (base + NOUN, base + ARTICLE, *mark)
    if count > 1:
        out.append((NUMBERS[count], (base + NUMBER,), "CD"))
    slot = base + ADJECTIVE
    for adjective in adjectives:
        out.append((adjective, (slot,), "JJ"))
        slot += 1
    if noun in NAMES:
        out.append((forms[0], head, "NNP"))
    else:
        out.append((forms[0], head, "NN") if count == 1 else (forms[1], head, "NNS"))
    spans.append((start, len(out), "NP"))
    if owner is not None and not ours:
        inner = len(out)
        out.append(("of", ((base + OWNER) * 16 + CASE,), "IN"))
        _entity(out, spans, owner, base + OWNER)
        spans.append((inner, len(out), "PP"))
        spans.append((start, len(out), "NP"))
    if place is not None:
        _place(out, spans, place, base + PLACE)
        spans.append((start, len(out), "NP"))
    if relative is not None:
        inner, clause = len(out), base + RELATIVE
        asked = type(relative.subject) is Gap
        who = "who" if asked and KIND[noun] in ("person", "name") else "that"
        out.append(
            (who, ((clause * 16 + (SUBJECT if asked else OBJECT)) * 16 + NOUN,), "WP" if who == "who" else "WDT")
        )
        spans.append((inner, inner + 1, "WHNP"))
        _clause(out, spans, relative, clause, agreement=2 if count == 1 else 5)
        spans.append((inner, len(out), "SBAR"))
        spans.append((start, len(out), "NP"))


def _verb(clause: Clause, agreement: int, asking: bool) -> tuple[str, str, str, str]:
    """The helping verb ("" when there is none) with its tag, then the verb with its own."""
    tense, tag = clause.tense, _TAGS[agreement]
    if clause.verb in ("be", "there"):
        if tense == "future":
            return "will", "MD", "be", "VB"
        return "", "", _BE[tense][agreement], "VBD" if tense == "past" else tag
    base, third, past, running = VERBS[clause.verb]
    if tense == "future":
        return "will", "MD", base, "VB"
    if clause.progressive:
        return _BE[tense][agreement], "VBD" if tense == "past" else tag, running, "VBG"
    if asking or clause.negative:
        if tense == "past":
            return "did", "VBD", base, "VB"
        return "does" if agreement == 2 else "do", tag, base, "VB"
    if tense == "past":
        return "", "", past, "VBD"
    return "", "", third if agreement == 2 else base, tag


def _agreement(phrase: Phrase) -> int:
    if type(phrase) is Entity:
        return 2 if phrase.number == 1 else 5
    if type(phrase) is Pronoun:
        return phrase.person - 1 + 3 * phrase.plural
    return 5


def _short(owner: Entity) -> bool:
    """Whether 's may follow: a living owner of few words."""
    living = KIND[owner.noun] in ("person", "name", "animal")
    return living and owner.owner is None and owner.place is None and owner.relative is None


def _comes_first(recipient: Phrase, thing: Phrase | None) -> bool:
    """gives the man a book, but: gives it to the man, gives a book to the man who sleeps."""
    if type(thing) is Pronoun or type(thing) is Gap:
        return False
    return type(recipient) is Pronoun or (type(recipient) is Entity and _short(recipient))


def vocabulary() -> set[str]:
    """Every word that English sentences are made of."""
    found = set(".,?") | {"'s", "'", "the", "a", "an", "not", "there", "for", "to", "of", "than", "that", "who", "or"}
    found |= {"will", "be", "did", "does", "do"} | set(LINKS) | set(WHENS) | set(NUMBERS[2:])
    found |= {word for row in (_SUBJECTS, _OBJECTS, *_BE.values()) for word in row}
    found |= set(_OBJECT_OF) | set(_OBJECT_OF.values()) | set(COMPARATIVES.values())
    found |= {word for words in RELATIONS.values() for word in words} | {word for row in VERBS.values() for word in row}
    found |= {word for row in NOUNS.values() for word in row[:2]}
    found |= {word for words, _ in QUALITIES.values() for word in words} | set(FILLS)
    return found - {""}
