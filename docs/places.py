"""Places for some thousands of English words in Build up's plane: `python docs/places.py` writes them for the page.

The bundled word vectors have a hundred numbers a word, and the plane has two. t-SNE keeps neighbours together, which
is all that two numbers can; then the map is turned until the words of the lecture lie about where the lecture has
them. The words of everyday are mapped, for an encyclopedia's words would push all of them into one corner; others go
beside them.
"""

import json
from pathlib import Path

import numpy as np
from jaxtyping import Float

import regard
from regard.analysis.maps.quality import quality
from regard.analysis.maps.tsne import tsne
from regard.files import write
from regard.words import Vectors
from regard.world.language.lexicon import english

OUTPUT = Path(regard.__file__).parent / "web/page/js/build/places.js"
COUNT = 3000
SEED = 5  # of 24 maps, the one in which the words of the lecture come closest to their places
NEAR, FAR = 0.7, 2.2  # how long an arrow may be: none so short that it has no direction
SHARP = 25.0  # how much more the likest word counts
APART = 0.16  # between two words of everyday
STEP = 0.05  # one letter a number; LETTERS has one for each place between -FAR and FAR
LETTERS = "".join(chr(code) for code in range(35, 127) if chr(code) != "\\")
LECTURE = {"we": (1.7, 0.8), "see": (0.8, 1.7), "the": (-1.6, 0.6), "sky": (0.3, -1.8)}
# Words that people try first, and that an encyclopedia seldom needs.
EVERYDAY = """
a i you he she it we they me him her us them my your his our their this that these those who what where when why how
yes no not and or but because if then very too so hello thanks please good bad nice beautiful ugly happy sad angry
tired hungry big small tall short long wide deep old young new hot cold warm wet dry fast slow easy difficult funny
sweet wonderful red green blue yellow white black brown pink purple orange grey dog cat bird fish horse cow pig sheep
goat chicken duck mouse rat rabbit lion tiger elephant monkey bear wolf fox snake frog bee ant spider butterfly animal
car truck bus train bicycle boat ship plane wheel engine road street bridge house home room kitchen door window wall
roof garden table chair bed lamp clock mirror floor tree flower grass leaf forest river lake sea ocean beach island
mountain hill valley sky sun moon star cloud rain snow wind storm fire water earth stone sand man woman boy girl child
baby mother father brother sister son daughter uncle aunt grandmother grandfather friend king queen prince doctor
nurse teacher student soldier farmer cook driver plumber head hand foot arm leg eye ear nose mouth hair heart blood
apple banana pear lemon cherry bread butter cheese milk egg meat rice soup salt sugar cake coffee tea wine beer cup
plate knife fork spoon bottle ball book letter pen paper picture song music dance game toy gift money hat coat shirt
shoe dress see sees saw look looks looked eat eats ate eating drink drinks drinking sleep sleeps sleeping run runs ran
running walk walks walking walked go goes went come comes came sit sits sitting stand stands swim swims fly flies
flying read reads write writes writing speak speaks say says said hear hears love loves like likes hate want wants
give gives gave take takes took make makes made buy buys sell open close play plays playing work works help cross
crossed drop dropped chase chases bark barks sing sings morning evening night day today tomorrow yesterday week year
summer winter spring autumn one two three four five six seven eight nine ten school church hospital city town village
country market bank attention word sentence
"""


def choose(vectors: Vectors) -> tuple[list[str], list[str]]:
    """The words of everyday and of the little world; and the most frequent others."""
    forms = (form for name in vars(english) if name.isupper() for form in spoken(vars(english)[name]))
    wanted = [*LECTURE, *EVERYDAY.split(), *(word for form in forms for word in form.lower().split())]
    daily = list(dict.fromkeys(word for word in wanted if word in vectors))
    return daily, [word for word in vectors.words if len(word) > 2 and word not in daily][: COUNT - len(daily)]


def spoken(table: object) -> list[str]:
    """Every text in a table of the lexicon."""
    if isinstance(table, str):
        return [table]
    if isinstance(table, dict):
        return spoken(tuple(table.values()))
    return [form for each in table for form in spoken(each)] if isinstance(table, tuple | list) else []


def spread(places: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """The same neighbours, spread over the plane: as many words to each piece of ground, and to most directions."""
    centred, count = places - np.median(places, axis=0), len(places)
    lengths, angles = np.hypot(*centred.T), np.arctan2(centred[:, 1], centred[:, 0])
    ranks = np.argsort(np.argsort(lengths)) / (count - 1)
    even = np.sqrt(NEAR**2 + ranks * (FAR**2 - NEAR**2))  # ground grows with the square of the length
    fanned = 0.3 * angles + 0.7 * (np.argsort(np.argsort(angles)) / count * 2 * np.pi - np.pi)
    return np.stack([even * np.cos(fanned), even * np.sin(fanned)], axis=1)


def part(places: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """Push words apart that lie on each other, so that two arrows are seen as two."""
    places = places.copy()
    for _ in range(80):
        apart = places[:, None] - places[None]
        lengths = np.hypot(apart[..., 0], apart[..., 1]) + np.eye(len(places))
        push = (APART - lengths).clip(min=0) / lengths.clip(min=1e-3) * (1 - np.eye(len(places)))
        places += 0.4 * (push[..., None] * apart).sum(axis=1)
        places = kept_within(places)
    return places


def beside(
    points: Float[np.ndarray, "m d"], known: Float[np.ndarray, "n d"], places: Float[np.ndarray, "n 2"]
) -> Float[np.ndarray, "m 2"]:
    """Where other words go: between the words of everyday that they are most like."""
    likeness = np.exp(SHARP * (points @ known.T))
    return kept_within(likeness / likeness.sum(axis=1, keepdims=True) @ places)


def kept_within(places: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """The same directions, no arrow too short and none too long."""
    lengths = np.hypot(*places.T)[:, None]
    kept: np.ndarray = places / lengths * lengths.clip(NEAR, FAR)
    return kept


def turn(places: Float[np.ndarray, "n 2"], words: list[str]) -> Float[np.ndarray, "n 2"]:
    """Turn and mirror the map so that the lecture's words come as close as they can to their places (Procrustes)."""
    here = places[[words.index(word) for word in LECTURE]]
    left, _, right = np.linalg.svd(here.T @ np.array(list(LECTURE.values())))
    turned: np.ndarray = places @ left @ right
    return turned


def letters(places: Float[np.ndarray, "n 2"]) -> str:
    """Two letters a word."""
    whole = np.rint((places + FAR) / STEP).astype(int).clip(0, round(2 * FAR / STEP))
    return "".join(LETTERS[each] for each in whole.flatten())


def main() -> None:
    """Make the map and write it, with what it keeps of the truth."""
    vectors = Vectors.of(regard.load("words-en").checkpoint)
    daily, others = choose(vectors)
    known, points = (vectors.unit[vectors.rows(words)] for words in (daily, others))
    places = part(turn(spread(tsne(known, perplexity=20, seed=SEED, steps=700).places), daily))
    kept = quality(known, places, 10)
    words, everywhere = [*daily, *others], np.concatenate([places, beside(points, known, places)])
    lines = [
        f"/** Places of {len(words)} words, made by docs/places.py from the vectors of words-en, two letters a word.",
        f" * Of the ten words most like a word of everyday, {kept.preservation:.0%} are its ten nearest here, too. */",
        "",
        f"export const STEP = {STEP};",
        f"export const FAR = {FAR};",
        f"export const LETTERS = {json.dumps(LETTERS)};",
        f"export const WORDS =\n  {json.dumps(' '.join(words))};",
        f"export const PLACES =\n  {json.dumps(letters(everywhere))};",
    ]
    write(OUTPUT, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
