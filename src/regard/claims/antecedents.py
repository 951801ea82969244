"""Does a head find what “it” stands for, where nobody says so but the German word depends on it?"""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

import torch

from regard.attention.core import Edit
from regard.attention.edits import off, only
from regard.claims.claim import Claim, Finding, Numbers, parts, track, verdict
from regard.claims.glosses import DEPTH, HEADS, Encoder, Told, looks, right, tell, train
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.progress import Progress
from regard.world.language import stories

CLAIM = Claim(
    name="antecedents",
    deck="CNS148, Anaphora Resolution; also Zimmermann, BertViz (“it=animal” vs “it=street”??)",
    sentence='This layer resolves what words like "it" refer back to.',
    experiment="A small encoder reads the world's English stories and says the German word for each word; for “it” "
    "that is er, ihn, sie or es, as the thing is called in German. It is never told what a pronoun stands for. The "
    "head that looks most often at a word for the right thing is chosen on some stories and judged on others.",
    control="Guesses: the nearest noun before “it”, the noun named most often before it, and the word at the usual "
    "distance. The same encoder untrained, its best head chosen alike. Each head off in turn: the German for “it” "
    "must suffer without the chosen head more than without another.",
    criterion="The number is how much more often the strongest look of the chosen head falls on what “it” stands for "
    "than the best of the guesses, seed by seed. Supported if its interval lies above 0.1 and the German for “it” is "
    "wrong at least 10 points more often without that head than without another. Refuted if the interval lies below "
    "zero. Otherwise not at this scale.",
    measures="more looks from “it” than guesses find what it stands for",
    seeds=5,
)

GUESSES = ("nearest noun", "most named", "usual distance")
WAYS = ("best head", *GUESSES, "untrained")
ON, OFF, OTHER = "all heads", "without it", "without another"


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How often looks and guesses find what “it” stands for, and how often its German is right, by seed."""
    count, some, steps = (24, 12, 2) if quick else (3000, 300, 500)
    tests = [tell(story) for story in stories(split="test")[: 2 * some]]
    runs = []
    for seed, inner in parts(progress, seeds):
        told = [tell(story) for story in stories(seed=seed)[: some + count]]
        torch.manual_seed(seed)
        model = Encoder()
        _, untrained = _best(model, told[:some], tests)
        track(train(model, told[some:], steps=steps, seed=seed), steps, inner)
        best, found = _best(model, told[:some], tests)
        hits = {"best head": found, "untrained": untrained} | _guesses(told[:some], tests)
        without = [right(model, tests, _without(head)) for head in range(DEPTH * HEADS)]
        others = fmean(share for head, share in enumerate(without) if head != best)
        shares = {ON: right(model, tests, {}), OFF: without[best], OTHER: others}
        runs.append({"seed": seed, "head": divmod(best, HEADS), "hits": hits, "right": shares})
    return {"runs": runs, "asked": sum(len(one.its) for one in tests), "steps": steps}


def judge(numbers: Numbers) -> Finding:
    runs = numbers["runs"]
    number, low, high = student([run["hits"]["best head"] - max(run["hits"][g] for g in GUESSES) for run in runs])
    hits = ", ".join(f"{way} {fmean(run['hits'][way] for run in runs):.0%}" for way in WAYS)
    said = {part: fmean(run["right"][part] for run in runs) for part in (ON, OFF, OTHER)}
    return Finding(
        verdict(supported=low > 0.1 and said[OTHER] - said[OFF] >= 0.1, refuted=high < 0),
        number,
        (low, high),
        f"What “it” stands for is found so often: {hits}. The German for “it” is right {said[ON]:.0%} of the "
        f"time, {said[OFF]:.0%} without that head and {said[OTHER]:.0%} without another one.",
    )


def draw(numbers: Numbers) -> str:
    runs = numbers["runs"]
    hits = zip(*(student([run["hits"][way] for run in runs]) for way in WAYS), strict=True)
    said = zip(*(student([run["right"][part] for run in runs]) for part in (ON, OFF, OTHER)), strict=True)
    names = [way.replace(" ", "\n") for way in WAYS], (ON, "best head off", "another off")
    return figure(
        "What does “it” stand for?",
        [
            Panel("found", "", "share of “it”", [Bars("looks and guesses", *hits)], names[0], bounds=(0, 1)),
            Panel("German for “it”", "", "share that is right", [Bars("answers", *said)], names[1], bounds=(0, 1)),
        ],
        f"{numbers['asked']} times “it” in unseen stories; {numbers['steps']} steps; whiskers are 95 % intervals over "
        "seeds.",
    )


def _best(model: Encoder, chosen: Sequence[Told], tests: Sequence[Told]) -> tuple[int, float]:
    """The head that is best on some stories, and how often it finds what “it” stands for in others."""
    found = [_share(chosen, places) for places in looks(model, chosen)]
    best = max(range(len(found)), key=found.__getitem__)
    return best, _share(tests, looks(model, tests)[best])


def _share(told: Sequence[Told], places: Sequence[Sequence[int]]) -> float:
    """How often a place has the word for what “it” stands for, wherever in the story it is named."""
    hits = [
        one.words[place] == one.words[named]
        for one, some in zip(told, places, strict=True)
        for place, (_, named) in zip(some, one.its, strict=True)
    ]
    return sum(hits) / max(len(hits), 1)


def _guesses(chosen: Sequence[Told], tests: Sequence[Told]) -> dict[str, float]:
    """How often each guess is right; the usual distance is that of other stories."""
    usual = Counter(i - j for one in chosen for i, j in one.its).most_common(1)[0][0]
    nearest, named, distant = list[list[int]](), list[list[int]](), list[list[int]]()
    for one in tests:
        before = [[place for place in one.nouns if place < i] for i, _ in one.its]
        times = [Counter(one.words[place] for place in some) for some in before]
        nearest.append([some[-1] for some in before])
        named.append(
            [
                max(some, key=lambda place: (count[one.words[place]], place))
                for some, count in zip(before, times, strict=True)
            ]
        )
        distant.append([max(i - usual, 0) for i, _ in one.its])
    return {name: _share(tests, places) for name, places in zip(GUESSES, (nearest, named, distant), strict=True)}


def _without(head: int) -> dict[str, Edit]:
    layer, place = divmod(head, HEADS)
    return {f"stack.blocks.{layer}.attn": only(off, place)}
