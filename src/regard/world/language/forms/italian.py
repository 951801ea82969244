"""Italian forms: articles by the sound that follows them, adjectives by gender, verbs by person."""

from regard.world.language.lexicon import italian as lexicon

# Forms are counted 0 to 3: masculine and feminine singular, masculine and feminine plural.
# Columns: before most consonants, before s + consonant, z, gn, ps; before a vowel.
THE = (("il", "lo", "l'"), ("la", "la", "l'"), ("i", "gli", "gli"), ("le", "le", "le"))
AN = (("un", "uno", "un"), ("una", "una", "un'"), ("dei", "degli", "degli"), ("delle", "delle", "delle"))
# il, lo, la, l', i, gli, le: with the doubled l, except before i and gli
MELTED = {
    "di": {"il": "del", "lo": "dello", "la": "della", "l'": "dell'", "i": "dei", "gli": "degli", "le": "delle"},
    "a": {"il": "al", "lo": "allo", "la": "alla", "l'": "all'", "i": "ai", "gli": "agli", "le": "alle"},
    "in": {"il": "nel", "lo": "nello", "la": "nella", "l'": "nell'", "i": "nei", "gli": "negli", "le": "nelle"},
    "su": {"il": "sul", "lo": "sullo", "la": "sulla", "l'": "sull'", "i": "sui", "gli": "sugli", "le": "sulle"},
}
HIM = ("mi", "ti", "", "ci", "vi", "")
TO_HIM = ("mi", "ti", "", "ci", "vi", "gli")
IT = ("lo", "la", "li", "le")
BEFORE_IT = {"mi": "me", "ti": "te", "ci": "ce", "vi": "ve"}

HAVE = ("ho", "hai", "ha", "abbiamo", "avete", "hanno")
BE = ("sono", "sei", "è", "siamo", "siete", "sono")
STAND = ("sto", "stai", "sta", "stiamo", "state", "stanno")
STOOD = ("stavo", "stavi", "stava", "stavamo", "stavate", "stavano")
WAS = ("ero", "eri", "era", "eravamo", "eravate", "erano")
FUTURE = ("ò", "ai", "à", "emo", "ete", "anno")
_ENDINGS = {
    "are": ("o", "i", "a", "iamo", "ate", "ano"),
    "ere": ("o", "i", "e", "iamo", "ete", "ono"),
    "ire": ("o", "i", "e", "iamo", "ite", "ono"),
}
_HAD = ("vo", "vi", "va", "vamo", "vate", "vano")


def _present(infinitive: str, irregular: str) -> tuple[str, ...]:
    if irregular:
        return tuple(irregular.split())
    stem, ends = infinitive[:-3], _ENDINGS[infinitive[-3:]]
    # mangiare: mangi, mangiamo, with one i
    return tuple(stem[:-1] + end if stem[-1] == "i" and end[0] == "i" else stem + end for end in ends)


def _participle(masculine: str) -> tuple[str, ...]:
    return tuple(masculine[:-1] + end for end in "oaie")


def _sound(word: str) -> int:
    """Which form of an article a word wants: 1 before s + consonant, z, gn, ps; 2 before a vowel; 0 otherwise."""
    first = word[0].lower()
    if first in "aeiou":
        return 2
    hard = first == "z" or word.startswith(("gn", "ps")) or (first == "s" and word[1] not in "aeiou")
    return 1 if hard else 0


GENDER = {noun: 0 if row[1] == "m" else 1 for noun, row in lexicon.NOUNS.items()}
FORM = {noun: (g, 3 if g == 1 or noun in lexicon.FEMININE_PLURALS else 2) for noun, g in GENDER.items()}
SOUND = {word: _sound(word) for row in lexicon.NOUNS.values() for word in (row[0], row[2]) if word}
ADJECTIVES = {concept: tuple(row.split() * (1 if " " in row else 4)) for concept, row in lexicon.ADJECTIVES.items()}
NOW = {verb: _present(row[0], row[4]) for verb, row in lexicon.VERBS.items()}
SOON = {verb: tuple(row[3] + end for end in FUTURE) for verb, row in lexicon.VERBS.items()}
BEFORE = {verb: tuple(lexicon.VERBS[verb][0][:-2] + end for end in _HAD) for verb in ("love", "have", "know", "live")}
DONE = {verb: _participle(row[1]) for verb, row in lexicon.VERBS.items()}
DOING = {
    verb: lexicon.GERUNDS.get(verb, row[0][:-3] + ("ando" if row[0].endswith("are") else "endo"))
    for verb, row in lexicon.VERBS.items()
}
ELIDING = frozenset((*HAVE, *BEFORE["have"]))  # l'ho, l'aveva


def vocabulary() -> set[str]:
    """Every word that Italian sentences are made of."""
    found = set(".,?") | {
        "non",
        "ed",
        "ce",
        "che",
        "più",
        "ci",
        "c'",
        "ad",
        "di",
        "a",
        "in",
        "su",
        "l'",
        "gli",
        "le",
        "gliel'",
    }
    for rows in (THE, AN, (HIM, TO_HIM, IT, HAVE, BE, STAND, STOOD, WAS), lexicon.PATTERNS.values()):
        found |= {word for row in rows for word in row}
    found |= {word for melted in MELTED.values() for word in melted.values()} | set(BEFORE_IT.values())
    found |= {"glie" + it for it in IT} | {"sar" + end for end in FUTURE}
    found |= set(lexicon.NUMBERS[2:]) | set(lexicon.WHENS.values()) | set(lexicon.LINKS.values())
    found |= {word for words, _ in lexicon.RELATIONS.values() for word in words}
    found |= {word for row in lexicon.NOUNS.values() for word in (row[0], row[2])}
    for verb in lexicon.VERBS:
        found |= {*NOW[verb], *SOON[verb], *BEFORE.get(verb, ()), *DONE[verb], DOING[verb]}
    found |= {word for row in ADJECTIVES.values() for word in row}
    return found - {""}
