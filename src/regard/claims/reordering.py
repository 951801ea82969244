"""Where two languages order their words differently, attention bends; where they do not, it is a diagonal."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.contest import SHORT, WORDS
from regard.claims.interval import student
from regard.claims.plot import Bars, Heat, Panel, figure
from regard.claims.translation import Lexicon, accuracy, attend, batch, batches, train
from regard.models.seq2seq import Config, Seq2Seq
from regard.progress import Progress
from regard.world.language import Pair, grammar, pairs, vocabulary

CLAIM = Claim(
    name="reordering",
    deck="Hoàng, English to French translation: visualize attention weights",
    sentence="Diagonal attention means words correspond in order. Attention figures out different word orders.",
    experiment="A recurrent translator with additive attention learns the world's Italian into English from short "
    "sentences. In unseen ones, two neighbouring English words are a pair that is in order, or turned round: a noun "
    "and its adjective, or a verb and a pronoun, whose Italian words stand the other way. Looks at a pair cross if the "
    "first word looks most at a later Italian word than the second does.",
    control="A twin learns the same English from monotone data: the Italian words of each sentence stand in the order "
    "of the English ones. Whatever crosses there is not found in the order of words. And pairs in order, of which none "
    "should cross.",
    criterion="The number is how many more of the pairs that are turned round have looks that cross in Italian than "
    "the same pairs in monotone data, seed by seed. Supported if its interval lies above 0.5, more than half cross of "
    "either kind, and less than a tenth of the pairs in order. Refuted if the interval lies below 0.1, or if pairs in "
    "order cross as often. Otherwise not at this scale; so it is if fewer than 80 % of the next words are right.",
    measures="more looks at pairs that are turned round cross than in monotone data",
    seeds=3,
)

ITALIAN, MONOTONE = "Italian", "in English order"
NOUN, VERB, ORDERED = "noun and adjective", "verb and pronoun", "in order"
KINDS = (NOUN, VERB, ORDERED)
TURNED = {("ADJ", "NOUN"): NOUN, ("VERB", "PRON"): VERB}  # tags of the Italian words, as English has them
STEPS, LEAST = 900, 0.8


class Two(NamedTuple):
    """Neighbouring English words, and how their Italian words stand."""

    first: int  # the place of the first English word
    kind: str


def monotone(pair: Pair) -> Pair:
    """The same sentence with its Italian words in the order of the English ones; who has none stays where it was."""
    targets = [min((j for i, j in pair.alignment if i == place), default=-1) for place in range(len(pair.source))]
    for place in range(1, len(targets)):
        targets[place] = targets[place - 1] if targets[place] < 0 else targets[place]
    order = sorted(range(len(targets)), key=lambda place: targets[place])
    moved = {old: new for new, old in enumerate(order)}
    links = frozenset((moved[i], j) for i, j in pair.alignment)
    return pair._replace(source=tuple(pair.source[old] for old in order), alignment=links)


def twos(pair: Pair) -> list[Two]:
    """The pairs of neighbours in a sentence, by kind; those that are turned round in another way are left out."""
    tags, straight, found = [tag for _, _, tag in grammar("it")(pair.meaning)], monotone(pair), []
    for j in range(len(pair.target) - 1):
        one, other = _from(pair, j), _from(pair, j + 1)
        if not _before(_from(straight, j), _from(straight, j + 1)):
            continue
        if _before(one, other):
            found.append(Two(j, ORDERED))
        elif _before(other, one):
            kinds = {TURNED.get((tags[a], tags[b])) for a, b in product(one, other)}
            found += [Two(j, kind) for kind in kinds if kind is not None]
    return found


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often looks cross, by data, kind of pair and seed; and the looks at one sentence."""
    count, steps, asked = (24, 2, 12) if quick else (8000, STEPS, 800)
    lexicon = Lexicon(vocabulary("it"), vocabulary("en"))
    tests = list(pairs("it", "en", split="test", length=SHORT)[:asked])
    known, runs, look = [twos(pair) for pair in tests], list[Numbers](), Numbers()
    shown = max(range(asked), key=lambda place: _worth(tests[place], known[place]))
    for seed, whole in parts(progress, seeds):
        learned = list(pairs("it", "en", seed=seed, length=SHORT)[:count])
        for data, inner in parts(whole, (ITALIAN, MONOTONE)):
            some, unseen = (_said(each, data) for each in (learned, tests))
            torch.manual_seed(seed)
            model = Seq2Seq(Config(vocab=len(lexicon), target=None, width=64, hidden=96))
            track(train(model, batches(some, lexicon, WORDS), steps=steps, lr=3e-3, seed=seed), steps, inner)
            weights = attend(model, unseen, lexicon)
            right = accuracy(model, [batch(unseen, lexicon)])
            runs.append({"data": data, "seed": seed, "accuracy": right, "crossing": _crossing(weights, known)})
            if (seed, data) == (seeds[0], ITALIAN):
                pair = unseen[shown]
                look = {"source": pair.source, "target": pair.target, "weights": weights[shown].tolist()}
    counts = {kind: sum(two.kind == kind for each in known for two in each) for kind in KINDS}
    return {"runs": runs, "counts": counts, "look": look, "sentences": asked, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    found = [_turned(numbers, data) for data in (ITALIAN, MONOTONE)]
    number, low, high = student([a - b for a, b in zip(*found, strict=True)])
    shares = {(data, kind): student(_shares(numbers, data, kind))[0] for data in (ITALIAN, MONOTONE) for kind in KINDS}
    right = min(run["accuracy"] for run in numbers["runs"])
    said = "; ".join(
        f"{kind} {shares[ITALIAN, kind]:.0%} against {shares[MONOTONE, kind]:.0%} of {numbers['counts'][kind]}"
        for kind in KINDS
    )
    turned = student(found[0])[0]
    return Finding(
        verdict(
            supported=right >= LEAST
            and low > 0.5
            and min(shares[ITALIAN, NOUN], shares[ITALIAN, VERB]) > 0.5
            and shares[ITALIAN, ORDERED] < 0.1,
            refuted=right >= LEAST and (high < 0.1 or shares[ITALIAN, ORDERED] >= turned),
        ),
        number,
        (low, high),
        f"Looks that cross, in Italian against monotone data: {said}. Of all that are turned round, {turned:.0%} "
        f"cross, {number:.0%} more than in monotone data. At least {right:.0%} of the next words are right.",
    )


def draw(numbers: Numbers) -> str:
    bars = [
        Bars(data, *zip(*(student(_shares(numbers, data, kind)) for kind in KINDS), strict=True))
        for data in (ITALIAN, MONOTONE)
    ]
    names, look = [kind.replace(" and ", " and\n") for kind in KINDS], numbers["look"]
    title = "what each English word looks at in Italian"
    return figure(
        "Attention bends where the order of words does",
        [
            Panel("looks that cross", "", "share of pairs", bars, names, bounds=(0, 1)),
            Heat(title, "", "", look["weights"], look["target"], look["source"]),
        ],
        f"Italian to English in the little world, {numbers['sentences']} unseen sentences, {numbers['steps']} steps; "
        "whiskers are 95 % intervals over seeds.",
    )


def _said(some: Sequence[Pair], data: str) -> list[Pair]:
    return [pair if data == ITALIAN else monotone(pair) for pair in some]


def _worth(pair: Pair, found: Sequence[Two]) -> tuple[int, int]:
    """How well a sentence shows the orders of words: by many kinds of pairs, and short words."""
    return len({two.kind for two in found}), -max(map(len, pair.source))


def _from(pair: Pair, target: int) -> list[int]:
    """The places of the Italian words of an English one."""
    return [i for i, j in pair.alignment if j == target]


def _before(some: Sequence[int], others: Sequence[int]) -> bool:
    """Whether all of some words stand before all of the others."""
    return bool(some) and bool(others) and max(some) < min(others)


def _crossing(weights: Sequence[Float[Tensor, "_ _"]], known: Sequence[Sequence[Two]]) -> dict[str, list[int]]:
    """For each kind, how many pairs have looks that cross, and how many pairs there are."""
    found = {kind: [0, 0] for kind in KINDS}
    for looks, each in zip(weights, known, strict=True):
        strongest = looks.argmax(dim=-1).tolist()
        for two in each:
            found[two.kind][0] += strongest[two.first] > strongest[two.first + 1]
            found[two.kind][1] += 1
    return found


def _runs(numbers: Numbers, data: str) -> list[Numbers]:
    return [run for run in numbers["runs"] if run["data"] == data]


def _shares(numbers: Numbers, data: str, kind: str) -> list[float]:
    return [run["crossing"][kind][0] / max(run["crossing"][kind][1], 1) for run in _runs(numbers, data)]


def _turned(numbers: Numbers, data: str) -> list[float]:
    """The share of looks that cross among all pairs that are turned round, seed by seed."""
    counts = [[run["crossing"][kind] for kind in (NOUN, VERB)] for run in _runs(numbers, data)]
    return [sum(cross for cross, _ in each) / max(sum(all_ for _, all_ in each), 1) for each in counts]
