"""Maps of vectors by t-SNE and PCA: which neighbours they keep, which words they part, and what perplexity does."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

import numpy as np
from jaxtyping import Float32, Int64

from regard.analysis.contexts import contexts
from regard.analysis.maps import agreement, pca, quality, tsne
from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.pipelines import load
from regard.progress import Progress
from regard.world.language import sentences, text

CLAIM = Claim(
    name="maps",
    deck="Zimmermann, Visualizing high-dimensional embedding in 2D/3D world",
    sentence="t-SNE … Captures non-linear relationships in data … Separate clusters based on their high-dimensional "
    "proximity … Outcome is stochastic and depends of perplexity σ … PCA … Captures linear relationships in data",
    experiment="Maps in two dimensions, by PCA and by exact t-SNE with perplexities 5, 30 and 100, of 600 points: "
    "states of 20 nouns, 30 sentences each, after the last layer of the world's BERT; and 20 round clusters, each on "
    "an axis of its own. Scored by how many of the 10 nearest neighbours stay neighbours, and how many neighbours on "
    "the map are of the same word or cluster.",
    control="600 points of one round cloud, whose 20 labels mean nothing: no map should part them. And another map "
    "with perplexity 30 of the same points, begun by other noise.",
    criterion="The number is how many more neighbours t-SNE with perplexity 30 keeps of BERT's words than PCA does, "
    "seed by seed. Supported if its interval lies above zero, so does that of how many more neighbours on the map are "
    "the same word, the cloud's labels gain less than 5 points, and maps with perplexities 5 and 100 share fewer "
    "neighbours than two maps with perplexity 30 do, with an interval above zero. Refuted if the interval of the "
    "number or that of the last difference lies below zero. Otherwise not at this scale.",
    measures="more of the nearest neighbours stay so by t-SNE than by PCA",
    seeds=3,
)

WORDS, CLUSTERS, CLOUD = "words of BERT", "20 clusters", "one cloud"
SETS = (WORDS, CLUSTERS, CLOUD)
PERPLEXITIES = (5, 30, 100)
USUAL = 30
PCA, AGAIN = "PCA", "again"
KINDS, EACH = 20, 30
NEIGHBOURS, LEAST = 10, 0.05

Labelled = tuple[Float32[np.ndarray, "n d"], Int64[np.ndarray, " n"]]


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Neighbours kept and kinds parted by set, map and seed, and the neighbours that two maps share."""
    each, steps = (4, 20) if quick else (EACH, 750)
    runs, shared = list[dict[str, Any]](), list[dict[str, Any]]()
    for seed, whole in parts(progress, seeds):
        for name, inner in parts(whole, SETS):
            points, labels = _points(name, seed, each)
            places = {PCA: pca(points).places}
            for (how, perplexity, noise), told in parts(inner, _ways(seed)):
                places[how] = tsne(points, perplexity, seed=noise, steps=steps, progress=told).places
            for how, found in places.items():
                kept = quality(points, found, NEIGHBOURS)
                told_facts = {"preservation": kept.preservation, "trustworthiness": kept.trustworthiness}
                same = agreement(found, labels, NEIGHBOURS)
                runs.append({"set": name, "map": how, "seed": seed, **told_facts, "same": same})
            few, many = _name(PERPLEXITIES[0]), _name(PERPLEXITIES[-1])
            pairs = {"noise": (_name(USUAL), AGAIN), "perplexity": (few, many)}
            kept_by = {why: quality(places[a], places[b], NEIGHBOURS).preservation for why, (a, b) in pairs.items()}
            shared.append({"set": name, "seed": seed, **kept_by})
    return {"runs": runs, "shared": shared, "points": KINDS * each, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    usual = _name(USUAL)
    number, low, high = student(_gains(numbers, WORDS, usual, "preservation"))
    same = student(_gains(numbers, WORDS, usual, "same"))
    cloud = fmean(_gains(numbers, CLOUD, usual, "same"))
    depends = student([one["noise"] - one["perplexity"] for one in numbers["shared"] if one["set"] == WORDS])
    shared = {
        why: fmean(one[why] for one in numbers["shared"] if one["set"] == WORDS) for why in ("noise", "perplexity")
    }
    told = "; ".join(
        f"{how} {_mean(numbers, WORDS, how, 'preservation'):.0%} and {_mean(numbers, WORDS, how, 'same'):.0%}"
        for how in (PCA, *map(_name, PERPLEXITIES))
    )
    clusters = [_mean(numbers, CLUSTERS, how, "same") for how in (PCA, usual)]
    return Finding(
        verdict(
            supported=low > 0 and same[1] > 0 and cloud < LEAST and depends[1] > 0, refuted=high < 0 or depends[2] < 0
        ),
        number,
        (low, high),
        f"Of BERT's words, neighbours that stay and neighbours that are the same word: {told}. t-SNE keeps "
        f"{100 * number:+.1f} points more ({100 * low:+.1f} to {100 * high:+.1f}) than PCA and parts words by "
        f"{100 * same[0]:+.1f} ({100 * same[1]:+.1f} to {100 * same[2]:+.1f}); of the clusters, PCA parts "
        f"{clusters[0]:.0%} and t-SNE {clusters[1]:.0%}; of the cloud's empty labels t-SNE makes {100 * cloud:+.1f} "
        f"points. Two maps of other noise share {shared['noise']:.0%} of the neighbours, two of perplexity "
        f"{PERPLEXITIES[0]} and {PERPLEXITIES[-1]} {shared['perplexity']:.0%}.",
    )


def draw(numbers: Numbers) -> str:
    ways = (PCA, *map(_name, PERPLEXITIES))

    def panel(what: str, title: str) -> Panel:
        marks = []
        for how in ways:
            found = [student([100 * x for x in _values(numbers, name, how, what)]) for name in SETS]
            marks.append(Bars(how, *zip(*found, strict=True)))
        return Panel(title, "", "%", marks, SETS, bounds=(0, 100))

    return figure(
        "What maps keep",
        [panel("preservation", "nearest neighbours that stay so"), panel("same", "neighbours of the same kind")],
        f"{numbers['points']} points a set, {numbers['steps']} steps, {NEIGHBOURS} neighbours. Whiskers are 95 % "
        "intervals over seeds.",
    )


def _ways(seed: int) -> list[tuple[str, int, int]]:
    """What each map is called, its perplexity, and the seed of its first noise."""
    return [*((_name(each), each, seed) for each in PERPLEXITIES), (AGAIN, USUAL, 1000 + seed)]


def _name(perplexity: int) -> str:
    return f"t-SNE, perplexity {perplexity}"


def _points(name: str, seed: int, each: int) -> Labelled:
    if name == WORDS:
        return _states(seed, each)
    chance = np.random.default_rng(seed)
    labels = np.arange(KINDS * each) % KINDS
    points = chance.normal(size=(len(labels), 50))
    if name == CLUSTERS:
        points[np.arange(len(labels)), labels] += 8.0  # farther than a cluster is wide, by little
    return points.astype(np.float32), labels.astype(np.int64)


@lru_cache(maxsize=1)
def _bert() -> Any:
    return load("world-bert")


def _states(seed: int, each: int) -> Labelled:
    """What the world's BERT makes of the commonest nouns, in as many sentences each."""
    bert, lines = _bert(), defaultdict[str, list[str]](list)
    spoken = sentences("en", seed=seed, split="test")[: 100 * each]
    nouns = Counter(word for one in spoken for word, tag in zip(one.words, one.tags, strict=True) if tag == "NN")
    common = [word for word, _ in nouns.most_common(KINDS)]
    for one in spoken:
        once = [word for word in common if one.words.count(word) == 1 and len(lines[word]) < each]
        if once:
            lines[once[0]].append(text(one.words))
    vectors = [_read(bert, lines[word], word) for word in common]
    labels = np.repeat(np.arange(KINDS), [len(part) for part in vectors])
    return np.concatenate(vectors), labels.astype(np.int64)


def _read(bert: Any, lines: Sequence[str], word: str) -> Float32[np.ndarray, "n d"]:
    return contexts(
        bert.model, bert.tokenizer, lines, [word], limit=bert.limit, lower=bool(bert.card.get("lower"))
    ).vectors


def _values(numbers: Numbers, name: str, how: str, what: str) -> list[float]:
    return [run[what] for run in numbers["runs"] if (run["set"], run["map"]) == (name, how)]


def _mean(numbers: Numbers, name: str, how: str, what: str) -> float:
    return fmean(_values(numbers, name, how, what))


def _gains(numbers: Numbers, name: str, how: str, what: str) -> list[float]:
    """Over PCA, seed by seed."""
    return [a - b for a, b in zip(*(_values(numbers, name, each, what) for each in (how, PCA)), strict=True)]
