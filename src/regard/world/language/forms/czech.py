"""Czech forms: nouns and adjectives by case and gender, verbs by person and aspect."""

from regard.world.language.concepts import MASS, NAMES
from regard.world.language.lexicon import czech as lexicon

NOMINATIVE, GENITIVE, DATIVE, ACCUSATIVE, LOCATIVE, INSTRUMENTAL = 0, 1, 2, 3, 4, 5
CASES = {"genitive": GENITIVE, "accusative": ACCUSATIVE, "locative": LOCATIVE, "instrumental": INSTRUMENTAL}
# Genders: living masculine, other masculine, feminine, neuter; then the same in the plural.
_GENDERS = {"ma": 0, "mi": 1, "f": 2, "n": 3}
PLURAL = 4
# Rows are genders, columns cases.
_HARD = (
    ("ý", "ého", "ému", "ého", "ém", "ým"),
    ("ý", "ého", "ému", "ý", "ém", "ým"),
    ("á", "é", "é", "ou", "é", "ou"),
    ("é", "ého", "ému", "é", "ém", "ým"),
    ("í", "ých", "ým", "é", "ých", "ými"),
    ("é", "ých", "ým", "é", "ých", "ými"),
    ("é", "ých", "ým", "é", "ých", "ými"),
    ("á", "ých", "ým", "á", "ých", "ými"),
)
_SOFT = (
    ("í", "ího", "ímu", "ího", "ím", "ím"),
    ("í", "ího", "ímu", "í", "ím", "ím"),
    ("í", "í", "í", "í", "í", "í"),
    ("í", "ího", "ímu", "í", "ím", "ím"),
    *(("í", "ích", "ím", "í", "ích", "ími"),) * 4,
)
# velký → velcí, tichý → tiší, starý → staří, before the í of the living plural
_SOFTENED = (("sk", "št"), ("ck", "čt"), ("ch", "š"), ("k", "c"), ("h", "z"), ("r", "ř"))
DATIVES = ("mi", "ti", "", "nám", "vám", "jim")
ACCUSATIVES = ("mě", "tě", "", "nás", "vás", "je")
HIM = {DATIVE: ("mu", "mu", "jí", "mu"), ACCUSATIVE: ("ho", "ho", "ji", "ho")}

BE = ("jsem", "jsi", "je", "jsme", "jste", "jsou")
NOT_BE = ("nejsem", "nejsi", "není", "nejsme", "nejste", "nejsou")
WILL = ("budu", "budeš", "bude", "budeme", "budete", "budou")
_ENDS = ("", "", "a", "o", "i", "y", "y", "a")  # of a past, by gender


def _noun(concept: str) -> tuple[tuple[str, ...], tuple[str, ...], int, int]:
    """Singular and plural by case, and their genders."""
    if concept in lexicon.IRREGULAR:
        gender, plural_gender, words = lexicon.IRREGULAR[concept]
        forms = tuple(words.split())
        return forms[:6], forms[6:], _GENDERS[gender], PLURAL + _GENDERS[plural_gender]
    nominative, gender, pattern, stem, locative, plural, genitives, locatives = lexicon.NOUNS[concept]
    wide = nominative[-1] in "ěň"

    def inflected(end: str) -> str:
        if end in "=?":
            return nominative if end == "=" else locative
        return stem + ("ě" + end[1:] if wide and end[0] == "e" else end)

    singular, several = ([inflected(end) for end in ends.split()] for ends in lexicon.PATTERNS[pattern])
    for case, form in ((NOMINATIVE, plural), (GENITIVE, genitives), (LOCATIVE, locatives)):
        if form:
            several[case] = form
    if locative:
        singular[LOCATIVE] = locative
    return tuple(singular), tuple(several), _GENDERS[gender], PLURAL + _GENDERS[gender]


def _adjective(word: str) -> tuple[tuple[str, ...], ...]:
    stem = word[:-1]
    if word.endswith("í"):
        return tuple(tuple(stem + end for end in row) for row in _SOFT)
    forms = [[stem + end for end in row] for row in _HARD]
    for old, new in _SOFTENED:
        if stem.endswith(old):
            forms[PLURAL][NOMINATIVE] = stem[: -len(old)] + new + "í"
            break
    return tuple(tuple(row) for row in forms)


def _persons(words: str) -> tuple[str, ...]:
    """já, ty, on, my, vy, oni: from what he and they do."""
    he, they = words.split()
    if he[-1] in "áí":
        return he + "m", he + "š", he, he + "me", he + "te", they
    return he[:-1] + ("i" if they.endswith("í") else "u"), he + "š", he, he + "me", he + "te", they


def _gendered(masculine: str) -> tuple[str, ...]:
    stem = masculine[:-2] + "l" if masculine in ("šel", "našel") else masculine
    return tuple(stem + end if end else masculine for end in _ENDS)


_NONE = ("",) * 6  # what cannot be counted has no plural
NOUNS = {
    concept: (singular, _NONE if concept in MASS or concept in NAMES else plural, one, many)
    for concept in (*lexicon.NOUNS, *lexicon.IRREGULAR)
    for singular, plural, one, many in [_noun(concept)]
}
ADJECTIVES = {concept: _adjective(row[0]) for concept, row in lexicon.ADJECTIVES.items()}
WHO = _adjective("který")
NOW = {verb: _persons(row[1]) for verb, row in lexicon.VERBS.items()}
SOON = {verb: _persons(row[4]) if row[4] else () for verb, row in lexicon.VERBS.items()}
WAS = _gendered("byl")
DOING = {verb: _gendered(row[2]) for verb, row in lexicon.VERBS.items()} | {"be": WAS, "there": WAS}
DONE = {verb: _gendered(row[3] or row[2]) for verb, row in lexicon.VERBS.items()} | {"be": WAS, "there": WAS}
NUMBERS = {count: tuple(row.split()) for count, row in lexicon.NUMBERS.items()}
COMPARATIVES = {concept: row[1] for concept, row in lexicon.ADJECTIVES.items() if row[1]}
INFINITIVES = {verb: row[0] for verb, row in lexicon.VERBS.items()}


def vocabulary() -> set[str]:
    """Every word that Czech sentences are made of."""
    found = set(".,?") | {"že", "než", "tu", "ve", "se", "dvě"}
    verbs = {*BE, *WILL, *DONE["be"]}
    for verb, row in lexicon.VERBS.items():
        verbs |= {*NOW[verb], *SOON[verb], *DOING[verb], *DONE[verb]}
        found.add(row[0])
    found |= verbs | {"ne" + word for word in verbs if word not in BE} | set(NOT_BE)
    for rows in ((DATIVES, ACCUSATIVES, *HIM.values()), NUMBERS.values(), WHO, *ADJECTIVES.values()):
        found |= {word for row in rows for word in row}
    found |= (
        set(lexicon.WHENS.values())
        | set(lexicon.LINKS.values())
        | {word for words, _ in lexicon.RELATIONS.values() for word in words}
    )
    for singular, plural, _, _ in NOUNS.values():
        found |= {*singular, *plural}
    found |= {end for word in COMPARATIVES.values() for end in (word, word + "ch")}
    return found - {""}
