"""The inventory of the little world: what there is, what can happen, and what can be said of what."""

from typing import NamedTuple


def _row(words: str) -> tuple[str, ...]:
    return tuple(words.split())


# One row per class of nouns. Stuff (bread, drinks) cannot be counted; names stand alone.
NOUNS: dict[str, tuple[str, ...]] = {
    "person": _row(
        "man woman boy girl child teacher doctor king queen farmer cook friend neighbour mother father brother sister "
        "baker painter grandmother"
    ),
    "name": _row("Anna Eva Maria Peter Paul Martin"),
    "animal": _row("dog cat horse bird mouse cow rabbit fox bear duck wolf snake"),
    "food": _row("apple orange pear cake egg banana tomato potato carrot cherry strawberry"),
    "stuff": _row("bread cheese soup meat"),
    "drink": _row("water milk juice coffee tea"),
    "text": _row("book letter magazine"),
    "thing": _row(
        "ball box key cup plate hat flower stone umbrella bag basket mirror knife guitar lamp picture backpack coat toy"
    ),
    "large": _row("chair table bed ladder car tree"),
    "place": _row("garden house kitchen school forest city park room castle market church field station"),
    "shape": _row("disc square triangle star ring cross crescent heart"),
}

KIND = {noun: kind for kind, nouns in NOUNS.items() for noun in nouns}
MASS = frozenset(NOUNS["stuff"] + NOUNS["drink"])
NAMES = frozenset(NOUNS["name"])
# People whom the languages disagree about (das Mädchen, the child … it) are not referred to by pronouns.
UNREFERRED = frozenset(("girl", "child"))

COLOURS = _row("red green blue yellow orange purple pink brown black white grey")
FILLS = _row("plain striped dotted checked")
SIZES = _row("big small")
# One row per kind of quality and the classes of nouns that can have it.
QUALITIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "size": (SIZES, _row("person animal food text thing large place shape")),
    "colour": (COLOURS, _row("thing large shape text")),
    "fill": (_row("striped dotted"), _row("shape")),
    "living": (
        _row("old young happy sad tired hungry strong weak fast slow clever poor rich kind sick brave curious"),
        _row("person animal"),
    ),
    "made": (_row("old new heavy clean dirty expensive cheap strange"), _row("text thing large")),
    "edible": (_row("fresh sweet cold warm"), _row("food stuff drink")),
    "local": (_row("old new quiet clean dirty strange"), _row("place")),
}
# Qualities by which two things can be compared.
GRADED = _row("big small old young fast slow strong heavy")


class Verb(NamedTuple):
    """Who does it, to what, and what else it takes."""

    subjects: str
    objects: str = ""
    takes: str = ""  # "recipient", "content" or "goal"


_PEOPLE, _LIVING = "person name", "person name animal"
VERBS: dict[str, Verb] = {
    "eat": Verb(_LIVING, "food stuff"),
    "drink": Verb(_LIVING, "drink"),
    "see": Verb(_LIVING, "person name animal food thing large shape", takes="content"),
    "hear": Verb(_LIVING, "person name animal", takes="content"),
    "push": Verb(_LIVING, "thing large person animal"),
    "carry": Verb(_LIVING, "food thing text shape"),
    "find": Verb(_LIVING, "food thing text shape animal"),
    "look-for": Verb(_LIVING, "person name animal food thing text shape"),
    "follow": Verb(_LIVING, "person name animal"),
    "catch": Verb(_LIVING, "animal"),
    "take": Verb(_LIVING, "food thing text shape"),
    "break": Verb(_LIVING, "cup plate mirror guitar lamp toy chair umbrella egg"),
    "buy": Verb(_PEOPLE, "food stuff drink thing text large"),
    "read": Verb(_PEOPLE, "text"),
    "paint": Verb(_PEOPLE, "person animal thing large shape place"),
    "draw": Verb(_PEOPLE, "person animal food thing shape"),
    "wash": Verb(_PEOPLE, "food animal cup plate car"),
    "hold": Verb(_PEOPLE, "food thing text shape"),
    "open": Verb(_PEOPLE, "text box bag umbrella"),
    "cook": Verb(_PEOPLE, "soup meat egg potato"),
    "cut": Verb(_PEOPLE, "food bread cheese meat"),
    "throw": Verb(_PEOPLE, "food thing shape"),
    "visit": Verb(_PEOPLE, "person name place"),
    "help": Verb(_PEOPLE, _LIVING),
    "love": Verb(_LIVING, "person name animal"),
    "have": Verb(_PEOPLE, "animal food thing text large shape"),
    "give": Verb(_PEOPLE, "food thing text shape", takes="recipient"),
    "show": Verb(_PEOPLE, "animal thing text shape place", takes="recipient"),
    "send": Verb(_PEOPLE, "thing text", takes="recipient"),
    "sell": Verb(_PEOPLE, "animal food thing text", takes="recipient"),
    "say": Verb(_PEOPLE, takes="content"),
    "know": Verb(_PEOPLE, takes="content"),
    "go": Verb(_LIVING, takes="goal"),
    "sleep": Verb(_LIVING),
    "run": Verb(_LIVING),
    "sing": Verb("person name bird"),
    "dance": Verb(_PEOPLE),
    "work": Verb(_PEOPLE),
    "wait": Verb(_LIVING),
    "swim": Verb(_LIVING),
    "live": Verb(_LIVING),
}


STATES = frozenset(("be", "there", "see", "hear", "find", "love", "have", "know", "live"))  # without a progressive
LASTING = frozenset(("be", "there", "love", "have", "know", "live"))  # in the past, they were so rather than happened


def nouns(kinds: str) -> tuple[str, ...]:
    """The nouns of the classes (or single nouns) named."""
    return tuple(noun for kind in kinds.split() for noun in NOUNS.get(kind, (kind,)))


SUBJECTS = {name: nouns(verb.subjects) for name, verb in VERBS.items()}
OBJECTS = {name: nouns(verb.objects) for name, verb in VERBS.items()}
ADJECTIVES = {
    noun: tuple(word for words, kinds in QUALITIES.values() if kind in kinds for word in words)
    for noun, kind in KIND.items()
}

LINKS = _row("and but because while")
WHENS: dict[str, tuple[str, ...]] = {  # the tenses each word goes with
    "today": ("present", "past", "future"),
    "yesterday": ("past",),
    "tomorrow": ("future",),
    "now": ("present",),
}
# The classes of nouns each relation goes with; the last rows are for things in pictures.
RELATIONS: dict[str, tuple[str, ...]] = {
    "in": nouns("garden house kitchen school forest city park room castle church"),
    "into": nouns("garden house kitchen school forest city park room castle church"),
    "on": nouns("chair table bed"),
    "under": nouns("chair table bed tree car"),
    "behind": nouns("house tree school church castle car station market person"),
    "in front of": nouns("house tree school church castle car station person mirror"),
    "next to": nouns("person animal table tree house field market"),
    "with": nouns("person animal name"),
    "for": nouns("person name"),
    "left of": nouns("shape"),
    "right of": nouns("shape"),
    "above": nouns("shape"),
    "below": nouns("shape"),
    "inside": nouns("shape"),
}
