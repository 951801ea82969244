"""A made-up set of English phrases and their Italian, where which word comes from which is known.

Adjectives move behind their nouns and articles take the noun's gender, so word order and agreement must be learned.
Each noun has one adjective it never meets in training: what is tested is always a new combination.
"""

from collections.abc import Iterator
from random import Random

from regard.world.language import Pair

M, F = 0, 1
ARTICLES = {"the": ("il", "la"), "a": ("un", "una")}  # masculine, feminine
NOUNS = {
    "house": ("casa", F),
    "dog": ("cane", M),
    "cat": ("gatto", M),
    "moon": ("luna", F),
    "girl": ("ragazza", F),
    "boy": ("ragazzo", M),
    "horse": ("cavallo", M),
    "boat": ("barca", F),
    "queen": ("regina", F),
    "king": ("re", M),
    "flower": ("fiore", M),
    "star": ("stella", F),
}
ADJECTIVES = {
    "red": ("rosso", "rossa"),
    "big": ("grande", "grande"),
    "small": ("piccolo", "piccola"),
    "white": ("bianco", "bianca"),
    "black": ("nero", "nera"),
    "green": ("verde", "verde"),
    "old": ("vecchio", "vecchia"),
    "new": ("nuovo", "nuova"),
}
VERBS = {"sees": "vede", "hears": "sente", "loves": "ama", "finds": "trova", "follows": "segue", "wants": "vuole"}
MARKS = (".", "?", "!")

# The adjective that each noun first meets in the test; the sentence of the tour has two of them.
HELD_OUT = dict(zip(NOUNS, [*ADJECTIVES, *ADJECTIVES], strict=False))

ENGLISH = (*MARKS, *ARTICLES, *NOUNS, *ADJECTIVES, *VERBS)
ITALIAN = (
    *MARKS,
    *(word for forms in (ARTICLES, ADJECTIVES) for pair in forms.values() for word in pair),
    *(word for word, _ in NOUNS.values()),
    *VERBS.values(),
)


def translate(english: str) -> Pair:
    """The translation of a sentence such as `the red house sees a big dog .`, with its alignment."""
    source = tuple(english.split())
    target: list[str] = []
    links: set[tuple[int, int]] = set()

    def say(word: str, *origins: int) -> None:
        links.update((origin, len(target)) for origin in origins)
        target.append(word)

    start = 0  # of the noun phrase
    for place, word in enumerate(source):
        if word in NOUNS:
            noun, gender = NOUNS[word]
            # An article's meaning is in the article and its gender in the noun: it comes from both.
            say(ARTICLES[source[start]][gender], start, place)
            say(noun, place)
            for between in range(start + 1, place):
                say(ADJECTIVES[source[between]][gender], between)
        elif word in VERBS or word in MARKS:
            say(VERBS.get(word, word), place)
            start = place + 1
    return Pair(source, tuple(target), frozenset(links), None)  # type: ignore[arg-type]  # no meaning of the world's


def phrases(seed: int, *, held_out: bool) -> Iterator[Pair]:
    """Sentences without end, in which every noun stands beside the adjective held out of training, or none does."""
    chance = Random(f"{'unseen' if held_out else 'training'} {seed}")

    def noun_phrase() -> str:
        article, noun = chance.choice(list(ARTICLES)), chance.choice(list(NOUNS))
        if held_out:
            return f"{article} {HELD_OUT[noun]} {noun}"
        adjective = chance.choice([word for word in ADJECTIVES if word != HELD_OUT[noun]])
        return f"{article} {noun}" if chance.random() < 0.3 else f"{article} {adjective} {noun}"

    while True:
        # The mark is one of three so that it must be read: a certain end would leave attention free to look anywhere.
        words = noun_phrase(), chance.choice(list(VERBS)), noun_phrase(), chance.choice(MARKS)
        yield translate(" ".join(words))
