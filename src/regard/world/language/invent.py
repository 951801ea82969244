"""Meanings at random, with a dial for their length in English words.

One 64-bit draw is spent as a number of mixed radix: `bits, i = divmod(bits, n)` chooses one of n and keeps the rest.
"""

from regard.chance import Chance
from regard.world.language.concepts import (
    ADJECTIVES,
    COLOURS,
    FILLS,
    GRADED,
    KIND,
    LASTING,
    LINKS,
    MASS,
    NAMES,
    NOUNS,
    OBJECTS,
    RELATIONS,
    SIZES,
    STATES,
    SUBJECTS,
    UNREFERRED,
    VERBS,
    WHENS,
    nouns,
)
from regard.world.language.english import size
from regard.world.language.meaning import (
    GAP,
    Clause,
    Compound,
    Entity,
    Group,
    Phrase,
    Place,
    Pronoun,
    Sentence,
    Tense,
    fold_of,
)

_TRANSITIVE = tuple(verb for verb, row in VERBS.items() if row.objects and row.takes != "recipient")
_GIVING = tuple(verb for verb, row in VERBS.items() if row.takes == "recipient")
_ALONE = tuple(verb for verb, row in VERBS.items() if not row.objects and row.takes in ("", "goal"))
_CONTENT = tuple(verb for verb, row in VERBS.items() if row.takes == "content")
_PEOPLE = nouns("person name")
_DESCRIBED = tuple(noun for noun in KIND if ADJECTIVES[noun])
# What a noun can do, and what can be done to it, for relative clauses.
_DOES = {noun: tuple(v for v in (*_TRANSITIVE, *_ALONE) if noun in SUBJECTS[v]) for noun in KIND}
_SUFFERS = {noun: tuple(v for v in _TRANSITIVE if noun in OBJECTS[v] and v != "have") for noun in KIND}
_WHEN = {tense: tuple(w for w, tenses in WHENS.items() if tense in tenses) for tense in ("present", "past", "future")}
_AROUND = ("in", "in", "in", "behind", "next to", "in front of", "under", "with")
_RESTING = ("in", "on", "on", "under", "under", "behind", "next to", "in front of")
_TENSES: tuple[Tense, ...] = ("present", "present", "present", "past", "past", "past", "present", "future")
_RANK = dict.fromkeys(SIZES, 0) | dict.fromkeys(COLOURS, 2) | dict.fromkeys(FILLS, 3)
_OWNED = frozenset(
    NOUNS["animal"] + NOUNS["thing"] + NOUNS["text"] + NOUNS["large"] + ("house", "garden", "castle", "room")
)
_OWNERS = tuple(noun for noun in NOUNS["person"] if noun != "child")
_LONG = 18  # a clause of more words would be too heavy: it becomes a compound


def invent(chance: Chance, length: int, held: bool | None = None) -> Sentence:
    """A meaning of about `length` English words, whose fold is 0 if `held`, another one if not, any for None."""
    bits = chance.bits()
    bits, ask = divmod(bits, 10)
    bits, split = divmod(bits, 4)
    if length > _LONG or (length > 9 and split == 0):
        clauses: list[Clause] = []
        while length > _LONG or not clauses:
            bits, part = divmod(bits or chance.bits(), 7)
            part = min(6 + part, length - 5)
            clauses.append(_main(chance, part, held if not clauses else None))
            length -= size(Sentence(clauses[-1])) + 1
        body: Clause | Compound = _main(chance, max(length, 5), None)
        for clause in reversed(clauses):
            bits, pick = divmod(bits or chance.bits(), len(LINKS))
            link = LINKS[pick]
            if link in ("because", "while"):
                body = _undated(body)
            if link == "while" and not _lasts_as_long(clause, _first(body)):
                link = "and"
            body = Compound(clause, link, body)
        return Sentence(body)
    if ask == 0 and length > 3:
        return Sentence(_main(chance, length - 1, held, asked=True), True)
    return Sentence(_main(chance, length, held))


def _first(body: Clause | Compound) -> Clause:
    return body.first if isinstance(body, Compound) else body


def _lasts_as_long(clause: Clause, other: Clause) -> bool:
    """Whether "while" may join them: in one tense, and the second going on, not done."""
    done = other.tense == "past" and not other.progressive and other.verb not in LASTING
    return clause.tense == other.tense and not done


def _undated(body: Clause | Compound) -> Clause | Compound:
    if isinstance(body, Compound):
        return body._replace(first=body.first._replace(when=None))
    return body._replace(when=None)


def _main(chance: Chance, room: int, held: bool | None, asked: bool = False) -> Clause:
    """A clause that stands on its own."""
    while True:
        bits = chance.bits()
        bits, frame = divmod(bits, 16)
        if frame >= 14:
            if room < 8 or asked:
                continue
            bits, pick = divmod(bits, len(_CONTENT))
            return _telling(chance, bits, _CONTENT[pick], room, held)
        if frame >= 12:
            if room < 4:
                continue
            clause = _state(chance, bits, room, held)
            if clause is None:
                continue
            return clause
        group = _ALONE if frame >= 9 else _GIVING if frame >= 7 and room >= 6 else _TRANSITIVE
        bits, pick = divmod(bits, len(group))
        verb = group[pick]
        bits, pick = divmod(bits, len(SUBJECTS[verb]))
        who = SUBJECTS[verb][pick]
        what = ""
        bits, he = divmod(bits, 5)
        bits, it = divmod(bits, 7)
        if OBJECTS[verb]:
            bits, pick = divmod(bits, len(OBJECTS[verb]))
            what = OBJECTS[verb][pick]
            if held and it:
                what = _held_out(OBJECTS[verb], pick, verb, "-" if he == 0 else who)
            if what == who:
                continue
        elif held and he:
            who = _held_out(SUBJECTS[verb], pick, verb, "-")
        needed = _cost(verb, who, what)
        he, it = he == 0, it == 0 and what != "" and what not in UNREFERRED
        if needed - he - it > room and what and what not in UNREFERRED:
            it = True
        if needed - he - it > room:
            he = True
        if needed - he - it > room:
            continue
        if held is not None and (fold_of("-" if he else who, verb, "-" if it or not what else what) == 0) != held:
            continue
        subject: Phrase = _pronoun(bits, who) if he else GAP
        thing: Phrase | None = None
        if it:
            first = type(subject) is Pronoun and subject.person != 3
            thing = Pronoun(3, bits % 3 == 0 and what not in MASS and what not in NAMES, what)
            if not first and KIND[what] == "person" and bits % 5 == 0:
                thing = _pronoun(bits >> 8, what)
        return _fill(chance, verb, who, what, subject, thing, room - needed + he + it, asked)


def _held_out(options: tuple[str, ...], pick: int, verb: str, other: str) -> str:
    """The next option from `pick` on that makes a sentence of the test together with the verb and the other noun."""
    for option in options[pick:] + options[:pick]:
        if fold_of(option, verb, other) == 0:
            return option
    return options[pick]


def _cost(verb: str, who: str, what: str) -> int:
    cost = (1 if who in NAMES else 2) + 1
    if what:
        cost += 1 if what in NAMES else 2
    if verb == "look-for":
        cost += 1
    if VERBS[verb].takes == "recipient":
        cost += 2
    if verb in ("go", "live"):
        cost += 3
    return cost


def _fill(
    chance: Chance,
    verb: str,
    who: str,
    what: str,
    subject: Phrase,
    thing: Phrase | None,
    extra: int,
    asked: bool = False,
    gap: str = "",
) -> Clause:
    """Spend the words that are left on tense, time, place and company. Phrases still to be made come as GAP or None."""
    bits = chance.bits()
    making = gap != "subject" and type(subject) is not Pronoun
    making_it = what != "" and gap != "object" and thing is None
    bits, pick = divmod(bits, 8)
    tense = _TENSES[pick]
    if tense == "future":
        if extra:
            extra -= 1
        else:
            tense = "past"
    bits, pick = divmod(bits, 8)
    progressive = negative = False
    if pick < 3 and extra and tense != "future" and verb not in STATES:
        progressive = True
        extra -= 1
    elif pick == 3 and extra > 1 and not asked:
        negative = True
        extra -= 1 if tense == "future" else 2
    bits, pick = divmod(bits, 6)
    when = None
    if pick == 0 and extra and not gap:
        bits, pick = divmod(bits, len(_WHEN[tense]))
        when = _WHEN[tense][pick]
        extra -= 1
    place = None
    bits, pick = divmod(bits, 5)
    if verb in ("go", "live"):
        place = _place(bits, "into" if verb == "go" else "in")
    elif extra > 2 and (pick == 0 or not (making or making_it)):
        bits, pick = divmod(bits, len(_AROUND))
        place = _place(bits, "for" if verb in ("buy", "cook") and pick > 4 else _AROUND[pick])
        extra = max(0, extra - 2 - len(place.relation.split()))
    elif extra and not (making or making_it) and tense == "present" and not progressive and not negative:
        if verb not in STATES:
            progressive = True
        extra -= 1
    recipient: Phrase | None = None
    if VERBS[verb].takes == "recipient" and not gap:
        bits, pick = divmod(bits, len(_PEOPLE))
        other = _PEOPLE[pick if _PEOPLE[pick] != who else pick - 1]
        bits, pick = divmod(bits, 3)
        first = type(subject) is Pronoun and subject.person != 3
        if pick == 0 and not (first and other in UNREFERRED):
            recipient = Pronoun(3, False, other) if first else _pronoun(bits, other)
        else:
            recipient = Entity(other, 1, True)
    bits, share = divmod(bits, extra + 1)
    if not making_it:
        share = extra
    elif not making or who in NAMES:
        share = 0
    if making:
        subject = _phrase(chance, who, share, negative)
    if making_it:
        thing = _phrase(chance, what, extra - share)
    if gap == "object":
        thing = GAP
    if type(thing) is Entity and thing.relative is not None:
        place = None  # it would be heard as part of the relative clause
        when = None if asked else when  # and so would a time at the end of a question
    return Clause(verb, subject, thing, recipient, None, None, None, place, when, tense, negative, progressive)


def _telling(chance: Chance, bits: int, verb: str, room: int, held: bool | None) -> Clause:
    """Somebody says that …"""
    while True:
        inner = _main(chance, room - 4, None)
        bits, pick = divmod(bits or chance.bits(), len(_PEOPLE))
        who = _held_out(_PEOPLE, pick, verb, inner.verb) if held else _PEOPLE[pick]
        if held is None or (fold_of(who, verb, inner.verb) == 0) == held:
            break
        bits = 0
    bits, past = divmod(bits or chance.bits(), 3)
    tense: Tense = (
        "past" if past == 0 and verb != "know" and inner.tense == "past" and not inner.progressive else "present"
    )
    return Clause(verb, Entity(who), content=inner._replace(when=None), tense=tense)


def _state(chance: Chance, bits: int, room: int, held: bool | None) -> Clause | None:
    """Something is so, or is somewhere."""
    bits, pick = divmod(bits, len(_DESCRIBED))
    who = _DESCRIBED[pick]
    bits, where = divmod(bits, 3)
    bits, pick = divmod(bits, len(ADJECTIVES[who]))
    quality: str | None = _held_out(ADJECTIVES[who], pick, "be", who) if held else ADJECTIVES[who][pick]
    if where == 0 and room >= 6 and KIND[who] not in ("place", "stuff", "drink"):
        quality = None
    if held is not None and (fold_of(who, "be", quality or "-") == 0) != held:
        return None
    bits, pick = divmod(bits, len(_RESTING))
    place = _place(bits, _RESTING[pick]) if quality is None else None
    extra = room - 3 - (0 if place is None else 2 + len(place.relation.split())) - (quality is not None)
    than = None
    if quality in GRADED and extra > 2 and who not in MASS:
        bits, pick = divmod(bits, len(NOUNS[KIND[who]]))
        if NOUNS[KIND[who]][pick] != who:
            than = Entity(NOUNS[KIND[who]][pick])
            extra -= 3
    bits, pick = divmod(bits, 4)
    tense: Tense = "past" if pick == 0 else "present"
    bits, pick = divmod(bits, 6)
    negative = pick == 0 and extra > 0
    subject = _entity(chance, who, extra - negative, fixed=True)
    if subject.adjectives and quality is not None:
        rank = _RANK.get(quality, 1)
        subject = subject._replace(adjectives=tuple(a for a in subject.adjectives if _RANK.get(a, 1) != rank))
    if subject.relative is not None and subject.relative.quality is not None and quality is not None:
        subject = subject._replace(relative=None)
    return Clause("be", subject, quality=quality, than=than, place=place, tense=tense, negative=negative)


def _place(bits: int, relation: str) -> Place:
    options = RELATIONS[relation]
    return Place(relation, Entity(options[bits % len(options)]))


def _phrase(chance: Chance, noun: str, extra: int, single: bool = False) -> Phrase:
    """A noun, or two of a kind; `single` asks for one that is known, as suits the subject of what is denied."""
    if extra >= 3 and not single and noun not in NAMES:
        bits, pick = divmod(chance.bits(), 6)
        if pick == 0:
            family = NOUNS[KIND[noun]]
            bits, pick = divmod(bits, len(family))
            if family[pick] != noun:
                return Group((_entity(chance, noun, extra - 3, fixed=True), Entity(family[pick])))
    return _entity(chance, noun, extra, fixed=single)


def _entity(chance: Chance, noun: str, extra: int, fixed: bool = False) -> Entity:
    """A noun with about `extra` words more than an article."""
    if noun in NAMES or (fixed and extra <= 0):
        return Entity(noun)
    bits = chance.bits()
    count, definite = 1, True
    if noun not in MASS and not fixed:
        bits, pick = divmod(bits, 16)
        definite = pick % 4 != 0
        if pick < 4:
            count = 0
        elif pick < 6 and extra:
            bits, count = divmod(bits, 6)
            count += 2
            extra -= definite
        if not definite and count == 0:
            extra += 1
    if extra <= 0:
        return Entity(noun, count, definite)
    owner = place = relative = None
    bits, pick = divmod(bits, 6)
    kind = KIND[noun]
    if extra > 4 or (extra >= 2 and pick < 2):
        relative = _relative(chance, noun, extra - 1 - (pick & 1))
        extra = pick & 1
    elif extra >= 2 and pick == 2 and definite and noun in _OWNED:
        bits, pick = divmod(bits, len(_OWNERS))
        owner = Entity(_OWNERS[pick])
        extra -= 2
    elif extra >= 3 and pick == 3 and kind not in ("place", "stuff", "drink"):
        bits, pick = divmod(bits, 3)
        place = _place(bits, ("under", "behind", "next to")[pick])
        extra -= 2 + len(place.relation.split())
    if extra <= 0:
        return Entity(noun, count, definite, (), owner, place, relative)
    said = None if relative is None else relative.quality
    return Entity(noun, count, definite, _adjectives(bits, noun, extra, said), owner, place, relative)


def _adjectives(bits: int, noun: str, wanted: int, said: str | None) -> tuple[str, ...]:
    """Qualities in the order in which English puts them, size, others, colour, pattern, and one of each at most.

    What is `said` elsewhere of the noun is neither repeated nor contradicted.
    """
    options = ADJECTIVES[noun]
    chosen: list[str] = []
    ranks = set() if said is None else {_RANK.get(said, 1)}
    for _ in range(min(wanted, 3)):
        bits, pick = divmod(bits, len(options))
        rank = _RANK.get(options[pick], 1)
        if rank not in ranks:
            ranks.add(rank)
            chosen.append(options[pick])
    if len(chosen) > 1:
        chosen.sort(key=lambda word: _RANK.get(word, 1))
    return tuple(chosen)


def _relative(chance: Chance, noun: str, room: int) -> Clause:
    """A clause of about `room` words that is short of the noun."""
    bits = chance.bits()
    bits, pick = divmod(bits, 2)
    does, suffers = _DOES[noun], _SUFFERS[noun]
    if does and (pick == 0 or room < 3 or not suffers):
        for _ in range(4):
            bits, pick = divmod(bits, len(does))
            verb = does[pick]
            what = ""
            if OBJECTS[verb]:
                bits, pick = divmod(bits, len(OBJECTS[verb]))
                what = OBJECTS[verb][pick]
            spare = room - _cost(verb, "dog", what) + 2
            if spare >= 0:
                return _fill(chance, verb, noun, what, GAP, None, spare, gap="subject")
    elif suffers and room >= 3:
        bits, pick = divmod(bits, len(suffers))
        verb = suffers[pick]
        bits, pick = divmod(bits, len(SUBJECTS[verb]))
        who = SUBJECTS[verb][pick]
        spare = max(0, room - _cost(verb, who, ""))
        return _fill(chance, verb, who, noun, GAP, None, spare, gap="object")
    options = ADJECTIVES[noun]
    if room > 4 or not options:
        bits, pick = divmod(bits, 3)
        place = _place(bits, ("under", "behind", "next to")[pick])
        entity = _entity(chance, place.entity.noun, room - 2 - len(place.relation.split()), fixed=True)
        return Clause("be", GAP, place=place._replace(entity=entity))
    return Clause("be", GAP, quality=options[bits % len(options)])


def _pronoun(bits: int, noun: str) -> Pronoun:
    """Me, you, or somebody like the noun."""
    bits, pick = divmod(bits, 6)
    if pick in (2, 5) and noun not in UNREFERRED:
        return Pronoun(3, pick == 5 and noun not in NAMES and noun not in MASS, noun)
    return Pronoun(1 + pick % 2, pick >= 3, ("man", "woman")[bits % 2])
