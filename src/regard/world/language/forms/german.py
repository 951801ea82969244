"""German forms: nouns, articles and adjectives by case and gender, verbs by person."""

from regard.world.language.lexicon import german as lexicon

NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = 0, 1, 2, 3
_GENDERS = {"m": 0, "f": 1, "n": 2}
PLURAL = 3

# Rows are cases (nominative, accusative, dative, genitive), columns are masculine, feminine, neuter, plural.
THE = (
    ("der", "die", "das", "die"),
    ("den", "die", "das", "die"),
    ("dem", "der", "dem", "den"),
    ("des", "der", "des", "der"),
)
AN = (("ein", "eine", "ein"), ("einen", "eine", "ein"), ("einem", "einer", "einem"), ("eines", "einer", "eines"))
NO = tuple(
    tuple("k" + word for word in (*row, plural))
    for row, plural in zip(AN, ("eine", "eine", "einen", "einer"), strict=True)
)
WHO = (("der", "die", "das", "die"), ("den", "die", "das", "die"), ("dem", "der", "dem", "denen"))
_AFTER_THE = (("e", "e", "e", "en"), ("en", "e", "e", "en"), ("en", "en", "en", "en"), ("en", "en", "en", "en"))
_AFTER_A = (("er", "e", "es", "en"), ("en", "e", "es", "en"), ("en", "en", "en", "en"), ("en", "en", "en", "en"))
_ALONE = (("er", "e", "es", "e"), ("en", "e", "es", "e"), ("em", "er", "em", "en"), ("en", "er", "en", "er"))
ME = (
    ("ich", "du", "", "wir", "ihr", "sie"),
    ("mich", "dich", "", "uns", "euch", "sie"),
    ("mir", "dir", "", "uns", "euch", "ihnen"),
)
HE = (("er", "sie", "es"), ("ihn", "sie", "es"), ("ihm", "ihr", "ihm"))

HAVE = ("habe", "hast", "hat", "haben", "habt", "haben")
BE = ("bin", "bist", "ist", "sind", "seid", "sind")
WAS = ("war", "warst", "war", "waren", "wart", "waren")
WILL = ("werde", "wirst", "wird", "werden", "werdet", "werden")
CASES = {"accusative": ACCUSATIVE, "dative": DATIVE}


def _noun(concept: str) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Singular and plural by case, and the gender."""
    nominative, gender, genitive, plural = lexicon.NOUNS[concept]
    oblique = genitive if concept in lexicon.WEAK else nominative
    dative = lexicon.DATIVES.get(concept, oblique)
    plurals = (plural, plural, plural if not plural or plural[-1] in "ns" else plural + "n", plural)
    return (nominative, oblique, dative, genitive), plurals, _GENDERS[gender]


def _past(stem: str) -> tuple[str, ...]:
    if stem.endswith("te"):
        return stem, stem + "st", stem, stem + "n", stem + "t", stem + "n"
    du = "est" if stem[-1] in "sßtdz" else "st"
    ihr = "et" if stem[-1] in "td" else "t"
    return stem, stem + du, stem, stem + "en", stem + ihr, stem + "en"


NOUNS = {concept: _noun(concept) for concept in lexicon.NOUNS}
# by declension (0 after der, 1 after ein, 2 alone), case and gender
ADJECTIVES = {
    concept: tuple(tuple(tuple(stem + end for end in row) for row in table) for table in (_AFTER_THE, _AFTER_A, _ALONE))
    for concept, (_, stem, _) in lexicon.ADJECTIVES.items()
}
PRESENT = {verb: (row[1], row[2], row[3], row[0], row[4], row[0]) for verb, row in lexicon.VERBS.items()}
PAST = {verb: _past(row[5]) for verb, row in lexicon.VERBS.items()}
PREDICATES = {concept: row[0] for concept, row in lexicon.ADJECTIVES.items()}
COMPARATIVES = {concept: row[2] for concept, row in lexicon.ADJECTIVES.items() if row[2]}


def vocabulary() -> set[str]:
    """Every word that German sentences are made of."""
    found = set(".,?") | {"nicht", "als", "von", "dass", "sein", "gibt", "gab", "geben", "es"}
    for rows in (THE, AN, NO, WHO, ME, HE, (HAVE, BE, WAS, WILL)):
        found |= {word for row in rows for word in row}
    found |= (
        set(lexicon.NUMBERS[2:])
        | set(lexicon.WHENS.values())
        | set(lexicon.LINKS.values())
        | set(lexicon.CONTRACTIONS.values())
    )
    found |= {word for words, _ in lexicon.RELATIONS.values() for word in words}
    for singular, plural, _ in NOUNS.values():
        found |= {*singular, *plural}
    for verb, row in lexicon.VERBS.items():
        found |= {row[0], row[6], *PRESENT[verb], *PAST[verb]}
    found |= set(PREDICATES.values()) | set(COMPARATIVES.values())
    found |= {word for tables in ADJECTIVES.values() for table in tables for line in table for word in line}
    return found - {""}
