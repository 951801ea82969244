"""How Italian says it: subjects that need no pronoun, clitics, articles that melt into what stands before them."""

from regard.world.language.concepts import LASTING, MASS, NAMES
from regard.world.language.forms.italian import (
    ADJECTIVES,
    AN,
    BE,
    BEFORE,
    BEFORE_IT,
    DOING,
    DONE,
    ELIDING,
    FORM,
    FUTURE,
    GENDER,
    HAVE,
    HIM,
    IT,
    MELTED,
    NOW,
    SOON,
    SOUND,
    STAND,
    STOOD,
    THE,
    TO_HIM,
    WAS,
)
from regard.world.language.lexicon.italian import FRONTED, LINKS, NOUNS, NUMBERS, PATTERNS, RELATIONS, VERBS, WHENS
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


def realise(sentence: Sentence) -> list[Token]:
    """The words of a sentence, each with the parts of the meaning that it expresses."""
    out: list[Token] = []
    body, path = sentence.body, ROOT
    while type(body) is Compound:
        _clause(out, body.first, path * 16 + FIRST)
        if body.link == "but":
            out.append((",", (path * 16 + COMMA,), "PUNCT"))
        out.append((LINKS[body.link], (path * 16 + LINK,), "CCONJ" if body.link in ("and", "but") else "SCONJ"))
        body, path = body.second, path * 16 + SECOND
    assert type(body) is Clause
    _clause(out, body, path, asking=sentence.question)
    out.append(("?" if sentence.question else ".", (ROOT * 16 + STOP,), "PUNCT"))
    for i, (word, nodes, tag) in enumerate(out[:-1]):
        if word == "e" and out[i + 1][0][0] in "eEè":  # ed è, ed Eva
            out[i] = ("ed", nodes, tag)
    return out


def _clause(out: list[Token], clause: Clause, path: int, form: int = 0, asking: bool = False) -> None:
    """One clause; `form` is that of the noun of a relative clause."""
    base, subject = path * 16, clause.subject
    if clause.when is not None and not asking:
        out.append((WHENS[clause.when], (base + WHEN,), "ADV"))
    person: tuple[int, ...] = ()
    if type(subject) is Pronoun:  # the verb says who
        person = ((base + SUBJECT) * 16 + NOUN,)
        agreement = subject.person - 1 + 3 * subject.plural
        form = FORM[subject.like][subject.plural]
    else:
        if type(subject) is Entity:
            form = FORM[subject.noun][subject.number != 1]
        elif type(subject) is Group:
            form = 3 if all(FORM[m.noun][m.number != 1] % 2 for m in subject.members) else 2
        agreement = 2 if form < 2 else 5
        if clause.verb != "there":
            _phrase(out, subject, base + SUBJECT)
    if clause.negative:
        out.append(("non", (base + NEGATION,), "PART"))
    _verbs(out, clause, base, agreement, form, person)
    _complements(out, clause, base, form)
    if clause.when is not None and asking:
        out.append((WHENS[clause.when], (base + WHEN,), "ADV"))
    if clause.content is not None:
        out.append(("che", ((base + CONTENT) * 16 + LINK,), "SCONJ"))
        _clause(out, clause.content, base + CONTENT)


def _verbs(out: list[Token], clause: Clause, base: int, agreement: int, form: int, person: tuple[int, ...]) -> None:
    """The clitics and the verb. A participle agrees with an accusative clitic, or with the subject after essere."""
    helper, verb = _verb(clause, agreement, form)
    agrees = _clitics(out, clause, base, helper or verb)
    if agrees is not None and helper in HAVE:
        verb = DONE[clause.verb][agrees]
    copula = clause.verb in ("be", "there")
    if helper:
        out.append((helper, (base + AUXILIARY, *person), "AUX"))
        out.append((verb, (base + VERB,), "VERB"))
    else:
        out.append((verb, (base + AUXILIARY, base + VERB, *person), "AUX" if copula else "VERB"))


def _clitics(out: list[Token], clause: Clause, base: int, verb: str) -> int | None:
    """What leans on the verb; returns the form of lo, la, li, le, if one of them is there."""
    if clause.verb == "there":
        out.append(("c'" if verb[0] in "èe" else "ci", (base + THERE,), "PRON"))
        return None
    thing, recipient = clause.object, clause.recipient
    agrees: int | None = None
    it = to = ""
    if type(thing) is Pronoun:
        it = HIM[thing.person - 1 + 3 * thing.plural]
        if not it:
            agrees = FORM[thing.like][thing.plural]
            it = IT[agrees]
            if agrees < 2 and verb in ELIDING:
                it = "l'"
            if clause.verb == "have":  # ce l'ho
                out.append(("ce", (base + VERB,), "PRON"))
    if type(recipient) is Pronoun:
        to = TO_HIM[recipient.person - 1 + 3 * recipient.plural] or ("gli", "le")[GENDER[recipient.like]]
    slot, way = (base + OBJECT) * 16 + NOUN, (base + RECIPIENT) * 16
    if to and it:
        if to in ("gli", "le"):  # gli + lo → glielo
            out.append(("glie" + it, (way + NOUN, way + CASE, slot), "PRON"))
        else:
            out.append((BEFORE_IT[to], (way + NOUN, way + CASE), "PRON"))
            out.append((it, (slot,), "PRON"))
    elif to:
        out.append((to, (way + NOUN, way + CASE), "PRON"))
    elif it:
        out.append((it, (slot,), "PRON"))
    return agrees


def _verb(clause: Clause, agreement: int, form: int) -> tuple[str, str]:
    """The helping verb ("" when there is none), and the verb."""
    verb, tense = clause.verb, clause.tense
    if verb in ("be", "there"):
        return "", "sar" + FUTURE[agreement] if tense == "future" else (BE if tense == "present" else WAS)[agreement]
    if tense == "future":
        return "", SOON[verb][agreement]
    if clause.progressive:
        return (STAND if tense == "present" else STOOD)[agreement], DOING[verb]
    if tense == "present":
        return "", NOW[verb][agreement]
    if verb in LASTING:
        return "", BEFORE[verb][agreement]
    if VERBS[verb][2] == "essere":
        return BE[agreement], DONE[verb][form]
    return HAVE[agreement], DONE[verb][0]


def _complements(out: list[Token], clause: Clause, base: int, form: int) -> None:
    """Everything behind the verb that is not a clitic."""
    thing, recipient = clause.object, clause.recipient
    if clause.verb == "there":
        _phrase(out, clause.subject, base + SUBJECT, bare=clause.negative)
    # dà al cuoco la borsa che …
    heavy = type(thing) is Entity and (thing.relative is not None or thing.place is not None)
    if recipient is not None and heavy and type(recipient) is not Pronoun:
        _phrase(out, recipient, base + RECIPIENT, ("a", ((base + RECIPIENT) * 16 + CASE,)))
    if thing is not None and type(thing) is not Pronoun:
        _phrase(out, thing, base + OBJECT, bare=clause.negative)
    if recipient is not None and not heavy and type(recipient) is not Pronoun:
        _phrase(out, recipient, base + RECIPIENT, ("a", ((base + RECIPIENT) * 16 + CASE,)))
    if clause.quality is not None:
        words: tuple[str, ...] = PATTERNS.get(clause.quality, ())
        if not words:
            words = (ADJECTIVES[clause.quality][form],)
        if clause.than is not None:
            words = ("più", *words)
        out.extend((word, (base + QUALITY,), "ADJ") for word in words)
        if clause.than is not None:
            _entity(out, clause.than, base + THAN, ("di", ((base + THAN) * 16 + CASE,)))
    if clause.place is not None:
        _place(out, clause.place, base + WHERE)


def _place(out: list[Token], place: Place, path: int) -> None:
    words, melting = RELATIONS[place.relation]
    node = (path * 16 + RELATION,)
    out.extend([(word, node, "ADP") for word in words])
    _entity(out, place.entity, path * 16 + ENTITY, (melting, node), bare=True)


_ALONE = ("", ())
Preposition = tuple[str, tuple[int, ...]]  # one that melts into the article, and what it expresses


def _phrase(out: list[Token], phrase: Phrase, path: int, before: Preposition = _ALONE, bare: bool = False) -> None:
    if type(phrase) is Entity:
        _entity(out, phrase, path, before, bare)
    elif type(phrase) is Group:
        last = len(phrase.members)
        for i, member in enumerate(phrase.members, 1):
            if i == last:
                out.append((LINKS[phrase.link], (path * 16 + AND,), "CCONJ"))
            elif i > 1:
                out.append((",", (path * 16 + BETWEEN,), "PUNCT"))
            _entity(out, member, path * 16 + i, before, bare)


def _entity(out: list[Token], entity: Entity, path: int, before: Preposition = _ALONE, bare: bool = False) -> None:
    """A noun with its company. `bare` leaves out the dei of an unnumbered plural."""
    noun, count, _, adjectives, owner, place, relative = entity
    base = path * 16
    row = NOUNS[noun]
    word = row[0] if count == 1 else row[2]
    form = FORM[noun][count != 1]
    # The article looks at the word that follows it, which no fronted adjective or numeral here makes special.
    plain = count > 1 or (bool(adjectives) and not FRONTED.isdisjoint(adjectives))
    sound = 0 if plain else SOUND[word]
    head = _article(out, entity, base, before, form, sound, bare)
    if count > 1:
        out.append((NUMBERS[count], (base + NUMBER,), "NUM"))
    slot = base + ADJECTIVE
    if adjectives:
        for i, adjective in enumerate(adjectives):
            if adjective in FRONTED:
                out.append((ADJECTIVES[adjective][form], (slot + i,), "ADJ"))
    out.append((word, head, "PROPN" if noun in NAMES else "NOUN"))
    if adjectives:
        for i in range(len(adjectives) - 1, -1, -1):  # a strange red box: una scatola rossa strana
            adjective = adjectives[i]
            if adjective not in FRONTED and adjective not in PATTERNS:
                out.append((ADJECTIVES[adjective][form], (slot + i,), "ADJ"))
        for i, adjective in enumerate(adjectives):
            if adjective in PATTERNS:
                out.extend([(part, (slot + i,), "ADJ") for part in PATTERNS[adjective]])
    if owner is not None:
        _entity(out, owner, base + OWNER, ("di", ((base + OWNER) * 16 + CASE,)), bare=True)
    if place is not None:
        _place(out, place, base + PLACE)
    if relative is not None:
        clause = base + RELATIVE
        role = SUBJECT if type(relative.subject) is Gap else OBJECT
        out.append(("che", ((clause * 16 + role) * 16 + NOUN,), "PRON"))
        _clause(out, relative, clause, form)


def _article(
    out: list[Token], entity: Entity, base: int, before: Preposition, form: int, sound: int, bare: bool
) -> tuple[int, ...]:
    """Say the preposition and the article, melted where they melt; returns what is left for the noun to express."""
    word, mark = before
    article = base + ARTICLE
    named = entity.noun in NAMES
    if entity.definite and not named:
        the = THE[form][sound]
        if word:
            out.append((MELTED[word][the], (*mark, article), "ADP"))
        else:
            out.append((the, (article,), "DET"))
        return (base + NOUN,)
    if word:
        near = NOUNS[entity.noun][0][0] if named else ""
        out.append(("ad" if word == "a" and near == "A" else word, mark, "ADP"))
    if not named and (entity.number == 1 or not (bare or word or entity.number)) and entity.noun not in MASS:
        out.append((AN[form][sound], (article,), "DET"))
        return (base + NOUN,)
    return base + NOUN, article
