"""King - man + woman: which analogies come out, with the customary rule and without it, and what the sum adds."""

from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.interval import bootstrap
from regard.claims.plot import Bars, Panel, figure
from regard.claims.senses import WIDTH, read_words
from regard.claims.understanding import FIRST, KINDS, SPECIALS, lexicon
from regard.data.sets.wordtests import Analogy
from regard.hub import load
from regard.models.word2vec import Config, Word2Vec
from regard.progress import Progress
from regard.words import Vectors, analogies
from regard.world.language import stories
from regard.world.language.concepts import NOUNS
from regard.world.language.lexicon import english

CLAIM = Claim(
    name="algebra",
    deck="Zimmermann, Word2vec represents words as low-dimensional continuous vectors",
    sentence="Word algebra: king - man + woman = queen. Male-Female, Verb Tense, Country-Capital.",
    experiment="Pairs of words that stand in one relation, such as man and woman, walking and walked, France and "
    "Paris, are put together in all ways as analogies, and answered by the bundled vectors (word2vec on enwik8): the "
    "nearest of 30,000 words to the sum. And from the world's stories, whether words with like contexts get like "
    "vectors: how often the word nearest to a noun names something of the same kind.",
    control="Customarily the three words of the question may not be the answer, and nobody says so. So each is "
    "answered without this rule too; and with the rule by the word nearest to the third alone, as if the other two "
    "had not been given (Linzen 2016). Vectors dealt out among the words by chance know nothing. For likeness, a "
    "neighbour drawn by chance.",
    criterion="The number is how many more analogies come out by the sum than by the third word alone, both with the "
    "rule. Supported if its interval, by drawing the pairs asked for again, lies above zero, in each relation more "
    "come out than by chance vectors, and the word nearest to a noun is of its kind more often than one by chance. "
    "Refuted if the interval lies below zero, otherwise not at this scale.",
    measures="more analogies come out by the sum of three words than by the third alone",
    seeds=3,
)

SET, WORDS = "words-en", 30_000
FEMALE, CAPITAL, PAST, PEOPLE, MORE, MANY = "male-female", "country-capital", "verb tense", "people", "more", "plural"
PAIRS: dict[str, str] = {
    FEMALE: "man woman, boy girl, king queen, father mother, brother sister, son daughter, husband wife, uncle aunt, "
    "actor actress, prince princess, he she, his her, himself herself, grandfather grandmother, emperor empress, "
    "god goddess",
    PAST: "walking walked, playing played, working worked, looking looked, saying said, going went, making made, "
    "taking took, writing wrote, running ran, flying flew, thinking thought, selling sold, playing played, "
    "moving moved, increasing increased, describing described, singing sang",
    CAPITAL: "france paris, germany berlin, italy rome, spain madrid, russia moscow, japan tokyo, china beijing, "
    "england london, greece athens, egypt cairo, iraq baghdad, iran tehran, poland warsaw, austria vienna, "
    "hungary budapest, portugal lisbon, ireland dublin, sweden stockholm, norway oslo, finland helsinki, cuba havana",
    PEOPLE: "france french, germany german, italy italian, spain spanish, russia russian, japan japanese, "
    "china chinese, england english, greece greek, egypt egyptian, iraq iraqi, poland polish, portugal portuguese, "
    "ireland irish, sweden swedish, norway norwegian, denmark danish, brazil brazilian, india indian, israel israeli",
    MORE: "big bigger, small smaller, large larger, great greater, high higher, low lower, fast faster, slow slower, "
    "long longer, short shorter, strong stronger, weak weaker, old older, young younger, good better, bad worse",
    MANY: "car cars, dog dogs, city cities, child children, man men, woman women, year years, country countries, "
    "machine machines, bird birds, horse horses, hand hands, eye eyes, computer computers, tree trees, road roads",
}
SUM, FREE, ALONE, DEALT = "sum", "sum, without the rule", "third word alone", "chance vectors"
WAYS = (SUM, FREE, ALONE, DEALT)
STEPS = 600


def questions() -> list[Analogy]:
    """All analogies of two pairs of one relation; the pair asked for comes last."""
    found = []
    for relation, text in PAIRS.items():
        pairs = list(dict.fromkeys(tuple(pair.split()) for pair in text.split(", ")))
        found += [Analogy(relation, *a, *b) for b in pairs for a in pairs if a != b]
    return found


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often each pair is answered right, by way; and how often the nearest noun is of the same kind."""
    asked, known = questions(), vectors().first(2000 if quick else WORDS)
    dealt = Vectors(known.words, known.matrix[np.random.default_rng(0).permutation(len(known))], "dealt")
    found = analogies(known, asked)
    kept = [one for one, is_known in zip(asked, found.known, strict=True) if is_known]
    right = {
        SUM: found.without_inputs,
        FREE: found.with_inputs,
        ALONE: _alone(known, kept),
        DEALT: analogies(dealt, asked).without_inputs,
    }
    rows = [
        {"relation": relation, "pair": pair, **{way: _rate(right[way], kept, relation, pair) for way in WAYS}}
        for relation, pair in dict.fromkeys((one.section, (one.third, one.fourth)) for one in kept)
    ]
    alike = [_likeness(seed, quick, inner) for seed, inner in parts(progress, seeds)]
    return {"rows": rows, "asked": len(kept), "all": len(asked), "alike": alike, "words": len(known)}


def judge(numbers: Numbers) -> Finding:
    rows = numbers["rows"]
    number, low, high = bootstrap([row[SUM] - row[ALONE] for row in rows])
    means = {way: fmean(row[way] for row in rows) for way in WAYS}
    relations = {name: [row for row in rows if row["relation"] == name] for name in PAIRS}
    better = all(fmean(r[SUM] for r in some) > fmean(r[DEALT] for r in some) for some in relations.values() if some)
    alike, chance = (fmean(one[key] for one in numbers["alike"]) for key in ("found", "chance"))
    told = ", ".join(
        f"{name} {fmean(r[SUM] for r in some):.0%} and {fmean(r[FREE] for r in some):.0%}"
        for name, some in relations.items()
        if some
    )
    return Finding(
        verdict(supported=low > 0 and better and alike > chance, refuted=high < 0),
        number,
        (low, high),
        f"Of {numbers['asked']:,} analogies {means[SUM]:.0%} come out with the rule and {means[FREE]:.0%} without it; "
        f"{means[ALONE]:.0%} by the third word alone with the rule, {means[DEALT]:.1%} by chance vectors. With the "
        f"rule and without: {told}. In the world's stories the word nearest to a noun is of its kind in {alike:.0%} of "
        f"cases, by chance in {chance:.0%}.",
    )


def draw(numbers: Numbers) -> str:
    names = [name for name in PAIRS if any(row["relation"] == name for row in numbers["rows"])]
    bars = []
    for way in WAYS[:3]:
        rates = [[100 * row[way] for row in numbers["rows"] if row["relation"] == name] for name in names]
        bars.append(Bars(way, *zip(*map(bootstrap, rates), strict=True)))
    return figure(
        "King - man + woman",
        [Panel("", "", "analogies that come out, %", bars, names)],
        f"Nearest of {numbers['words']:,} words. The rule leaves out the words of the question. Whiskers are 95 % "
        "intervals over the pairs asked for.",
    )


@lru_cache(1)
def vectors() -> Vectors:
    """The bundled vectors."""
    return Vectors.of(load(SET))


def _alone(known: Vectors, asked: Sequence[Analogy]) -> Bool[np.ndarray, " q"]:
    """Which are right if the answer is the word nearest to the third, and none of the three."""
    found = []
    for one in asked:
        scores = known.unit @ known.unit[known.rows([one.third])[0]]
        scores[known.rows(one[1:4])] = -np.inf
        found.append(known.words[int(scores.argmax())] == one.fourth)
    return np.asarray(found)


def _rate(right: Bool[np.ndarray, " q"], asked: Sequence[Analogy], relation: str, pair: tuple[str, str]) -> float:
    """How often a pair comes out, whichever other pair it is asked with."""
    rows = [(one.section, (one.third, one.fourth)) == (relation, pair) for one in asked]
    return float(right[rows].mean())


def _likeness(seed: int, quick: bool, progress: Progress) -> dict[str, Any]:
    """How often the noun nearest to a noun of the world names something of the same kind, and one by chance."""
    known, steps = lexicon(), 2 if quick else STEPS
    kinds = {english.NOUNS.get(noun, (noun,))[0]: kind for kind in KINDS for noun in NOUNS[kind]}
    read = stories(seed=seed)[: 40 if quick else 3000]
    told = [[[known[word] for word in sentence] for sentence in story.sentences] for story in read]
    torch.manual_seed(seed)
    model = Word2Vec(Config(FIRST + len(known), WIDTH, loss="softmax"))
    track(read_words(model, told, steps=steps, seed=seed), steps, progress)
    met = {word for story in told for sentence in story for word in sentence} - SPECIALS
    nouns = [noun for noun in kinds if noun in known and known[noun] in met]
    rows = torch.nn.functional.normalize(model.embed.weight.detach()[[known[noun] for noun in nouns]], dim=-1)
    near = (rows @ rows.T).fill_diagonal_(-2).argmax(dim=1).tolist()
    same = [kinds[noun] == kinds[nouns[i]] for noun, i in zip(nouns, near, strict=True)]
    others = [fmean(kinds[a] == kinds[b] for b in nouns if b != a) for a in nouns]
    return {"seed": seed, "nouns": len(nouns), "found": fmean(same), "chance": fmean(others)}
