"""Robust by words: what a CLIP and a supervised twin still name when pictures are shifted."""

from statistics import fmean

from regard.claims import texture
from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import student
from regard.claims.plot import Bars, Panel, figure
from regard.claims.spoken import CLIP, PAIRS, SHUFFLED, TWIN, grow, named_right, shown
from regard.progress import Progress
from regard.world import SHIFTS

CLAIM = Claim(
    name="shifts",
    deck="Najdenkoska & Asano, CLIP: Robustness",
    sentence="Zero-shot CLIP models are much more robust than equivalent supervised ImageNet models.",
    experiment="A small CLIP and a supervised twin with the same eye learn the same 10,000 pictures of the world in "
    "the same order, of 16 pixels and one big thing each: by captions, or by the number of its colour and kind. Both "
    "name 1,000 unseen pictures among 64 pairs, as they are and under every named shift of the world that adds no "
    "things. Scored by which share of what is named right as it is, is named right under shifts, on average.",
    control="The same CLIP with the captions of other pictures: what it keeps of nothing would not be robust.",
    criterion="The number is the share that CLIP keeps less that of its twin, seed by seed. Supported if its "
    "interval lies above 0.05. Refuted if it lies below zero. Otherwise not at this scale; so it is if either names "
    "less than 40 % right as they are, or if shuffled captions teach more than 10 %.",
    measures="more of its accuracy kept under shifts by CLIP",
    seeds=3,
)

KINDS = (CLIP, TWIN, SHUFFLED)
MOVED = tuple(name for name, shift in SHIFTS.items() if shift.masks != "more")  # one thing stays one
TESTS = (texture.SAME, *MOVED)
STEPS, MARGIN, LEAST, LUCK = 1500, 0.05, 0.4, 0.1


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """How many pictures are named right under each shift."""
    seen, steps = shown("train", 16 if quick else 10_000), 2 if quick else STEPS
    plain = shown("test", 10 if quick else 1000)
    tests = {name: texture.shown(name, len(plain)).pixels for name in TESTS}
    runs = []
    for seed, whole in parts(progress, seeds):
        for kind, inner in parts(whole, KINDS):
            classify = grow(kind, seen, seed=seed, steps=steps, progress=inner)
            rates = {name: named_right(classify, pixels, plain.pairs) for name, pixels in tests.items()}
            runs.append({"kind": kind, "seed": seed, "accuracy": rates})
    return {"runs": runs, "steps": steps}


def judge(numbers: Numbers) -> Finding:
    kept = {kind: _kept(numbers, kind) for kind in KINDS}
    number, low, high = student([a - b for a, b in zip(kept[CLIP], kept[TWIN], strict=True)])
    plain = {kind: fmean(_rates(numbers, kind, texture.SAME)) for kind in KINDS}
    known = min(plain[CLIP], plain[TWIN]) >= LEAST and plain[SHUFFLED] <= LUCK
    told = "; ".join(f"{kind} {plain[kind]:.1%}, under shifts {_under(numbers, kind):.1%}" for kind in KINDS)
    return Finding(
        verdict(supported=known and low > MARGIN, refuted=known and high < 0),
        number,
        (low, high),
        f"Pictures named right: {told}. CLIP keeps {fmean(kept[CLIP]):.0%} of that under shifts, its twin "
        f"{fmean(kept[TWIN]):.0%}: a difference of {100 * number:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f}).",
    )


def draw(numbers: Numbers) -> str:
    bars = [
        Bars(kind, *zip(*(student([100 * x for x in _rates(numbers, kind, name)]) for name in TESTS), strict=True))
        for kind in KINDS
    ]
    return figure(
        "Pictures under shifts",
        [Panel("", "", "pictures named right, %", bars, TESTS, rule=(100 / len(PAIRS), "chance"))],
        f"Colour and kind of one big thing among {len(PAIRS)} pairs; {numbers['steps']} steps each. Whiskers are 95 % "
        "intervals over seeds.",
    )


def _rates(numbers: Numbers, kind: str, name: str) -> list[float]:
    return [run["accuracy"][name] for run in numbers["runs"] if run["kind"] == kind]


def _under(numbers: Numbers, kind: str) -> float:
    """What is named right under shifts, on average over shifts and seeds."""
    return fmean(rate for name in MOVED for rate in _rates(numbers, kind, name))


def _kept(numbers: Numbers, kind: str) -> list[float]:
    """Which share of what is named right is still so under shifts, seed by seed."""
    shifted = [fmean(each) for each in zip(*(_rates(numbers, kind, name) for name in MOVED), strict=True)]
    return [
        after / max(before, 0.01) for after, before in zip(shifted, _rates(numbers, kind, texture.SAME), strict=True)
    ]
