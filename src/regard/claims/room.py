"""How many directions have room: angles between random vectors and between optimised ones, and how counts grow."""

import math
from itertools import product
from statistics import fmean
from typing import Any

from regard.analysis.orthogonal import Angles, angles, johnson_lindenstrauss, random_directions, spread, welch
from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import student
from regard.claims.plot import Line, Panel, figure
from regard.progress import Progress

CLAIM = Claim(
    name="room",
    deck="Zimmermann, How many independent concepts do you fit in N-dimensional space?",
    sentence="Angles between randomly generated 10000 vectors in 100-dimensional space … Optimized vectors are almost "
    "independent … consequence of Johnson-Lindenstrauss Lemma",
    experiment="10,000 random vectors in 100 dimensions are turned until the largest |cosine| between any two is "
    "small, by 80 steps of pushing apart the pairs that are nearest. The same is done with 2 to 64 vectors for each "
    "of 6, 12, 24 and 48 dimensions, to see how many fit with no angle below 70°, and how that number grows.",
    control="The angles of the random vectors before, which the Johnson-Lindenstrauss lemma promises; and Welch's "
    "bound, which no choice of vectors can pass: of 10,000 in 100 dimensions some pair is at 84.3° or less.",
    criterion="Almost independent means that no two vectors are nearer than 70°, so that none holds more than an "
    "eighth of another (cos²). The number is the smallest angle between any two of the 10,000 optimised vectors. "
    "Supported if its interval lies above 70, and the number of vectors that fit grows faster than the dimensions: by "
    "a power whose interval lies above 1. Refuted if the interval of the angle lies below 60, where random vectors "
    "are already. Otherwise not at this scale.",
    measures="degrees is the smallest angle between two of 10,000 optimised vectors in 100 dimensions",
    seeds=3,
)

COUNT, DIMENSIONS, STEPS = 10_000, 100, 80
SMALL = (6, 12, 24, 48)
TIMES = (2, 4, 8, 16, 32, 64)  # vectors for each dimension
ALMOST, REFUTED = 70.0, 60.0
WAYS = ("random", "optimised")
EDGE, WIDE = 45, 3  # degrees from which on angles are shown, and of each share of them


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Angles of many vectors before and after, and the smallest angle by dimensions, count and seed."""
    count, dimensions, steps = (200, 20, 3) if quick else (COUNT, DIMENSIONS, STEPS)
    small, times = ((4, 8), (2, 4, 8)) if quick else (SMALL, TIMES)
    large, grown = list[dict[str, Any]](), list[dict[str, Any]]()
    for seed, whole in parts(progress, seeds):
        start = random_directions(count, dimensions, seed=seed)
        (_, many), (_, few) = parts(whole, WAYS)  # as long as each other, more or less
        turned = spread(start, steps=steps, progress=many)
        large.append({"seed": seed, "random": _told(angles(start)), "optimised": _told(angles(turned))})
        for (n, k), inner in parts(few, list(product(small, times))):
            found = angles(spread(random_directions(k * n, n, seed=seed), steps=2 * steps, progress=inner))
            grown.append({"dimensions": n, "times": k, "seed": seed, "smallest": found.smallest})
    return {"count": count, "dimensions": dimensions, "steps": steps, "large": large, "grown": grown}


def judge(numbers: Numbers) -> Finding:
    count, n = numbers["count"], numbers["dimensions"]
    number, low, high = student([run["optimised"]["smallest"] for run in numbers["large"]])
    random = fmean(run["random"]["smallest"] for run in numbers["large"])
    power, least, most = student([_power(numbers, seed) for seed in _seeds(numbers)])
    fit = {each: fmean(_fits(numbers, each, seed) for seed in _seeds(numbers)) for each in _dimensions(numbers)}
    near = {way: fmean(run[way]["within 5"] for run in numbers["large"]) for way in WAYS}
    ceiling, floor = (_degrees(bound(count, n)) for bound in (welch, johnson_lindenstrauss))
    told = ", ".join(f"{found:.0f} in {each}" for each, found in fit.items())
    return Finding(
        verdict(supported=low > ALMOST and least > 1, refuted=high < REFUTED),
        number,
        (low, high),
        f"The smallest angle between {count:,} vectors in {n} dimensions is {random:.1f}° at random and {number:.1f}° "
        f"({low:.1f} to {high:.1f}) when optimised; the lemma promises {floor:.1f}°, and Welch's bound allows no more "
        f"than {ceiling:.1f}°. Within 5° of orthogonal are {near['random']:.0%} of the pairs at random and "
        f"{near['optimised']:.0%} optimised: the nearest pairs part, the others do not gather at 90°. With no angle "
        f"below {ALMOST:.0f}° fit {told} dimensions: as the dimensions to the power {power:.2f} ({least:.2f} to "
        f"{most:.2f}).",
    )


def draw(numbers: Numbers) -> str:
    middles = [edge + WIDE / 2 for edge in range(EDGE, 180 - EDGE, WIDE)]
    shares = [
        Line(way, middles, [fmean(at) for at in zip(*(run[way]["shares"] for run in numbers["large"]), strict=True)])
        for way in WAYS
    ]
    lines = []
    for n in _dimensions(numbers):
        times = sorted({run["times"] for run in numbers["grown"] if run["dimensions"] == n})
        found = [student([run["smallest"] for run in _runs(numbers, n, k)]) for k in times]
        lines.append(Line(f"{n} dimensions", [k * n for k in times], *zip(*found, strict=True)))
    n, counts = _dimensions(numbers)[-1], sorted({run["times"] * run["dimensions"] for run in numbers["grown"]})
    counts = [each for each in counts if each > n]
    bounds = [
        Line(f"{name}, {n} dimensions", counts, [_degrees(bound(each, n)) for each in counts], dashed=True)
        for name, bound in (("Welch's bound", welch), ("lemma", johnson_lindenstrauss))
    ]
    title = f"{numbers['count']:,} vectors in {numbers['dimensions']} dimensions"
    return figure(
        "Room for directions",
        [
            Panel(title, "angle, degrees", "pairs, %", shares),
            Panel(
                "optimised",
                "vectors",
                "smallest angle, degrees",
                [*lines, *bounds],
                log="x",
                rule=(ALMOST, "almost independent"),
            ),
        ],
        f"{numbers['steps']} steps for many vectors, {2 * numbers['steps']} for few; {len(_seeds(numbers))} seeds. "
        "Bands are 95 % intervals.",
    )


def _told(found: Angles) -> dict[str, Any]:
    total = int(found.counts.sum())
    edges = range(EDGE, 180 - EDGE, WIDE)
    shares = [round(100 * int(found.counts[edge : edge + WIDE].sum()) / total, 4) for edge in edges]
    return {"smallest": found.smallest, "deviation": found.deviation, "within 5": found.within(5), "shares": shares}


def _runs(numbers: Numbers, dimensions: int, times: int) -> list[dict[str, Any]]:
    return [run for run in numbers["grown"] if (run["dimensions"], run["times"]) == (dimensions, times)]


def _seeds(numbers: Numbers) -> list[int]:
    return sorted({run["seed"] for run in numbers["grown"]})


def _dimensions(numbers: Numbers) -> list[int]:
    return sorted({run["dimensions"] for run in numbers["grown"]})


def _fits(numbers: Numbers, dimensions: int, seed: int) -> float:
    """How many vectors fit at the angle, between the counts that were tried; at 90° as many as dimensions do."""
    runs = [run for run in numbers["grown"] if (run["dimensions"], run["seed"]) == (dimensions, seed)]
    last, angle = float(dimensions), 90.0
    for run in sorted(runs, key=lambda run: float(run["times"])):
        count = float(run["times"] * dimensions)
        if run["smallest"] < ALMOST:
            share: float = (angle - ALMOST) / (angle - run["smallest"])
            return float(last * (count / last) ** share)
        last, angle = count, run["smallest"]
    return last


def _power(numbers: Numbers, seed: int) -> float:
    """The power of the dimensions by which the number of vectors grows: the slope of the logarithms."""
    pairs = [(math.log(n), math.log(_fits(numbers, n, seed))) for n in _dimensions(numbers)]
    middle, mean = (fmean(each) for each in zip(*pairs, strict=True))
    return sum((x - middle) * (y - mean) for x, y in pairs) / sum((x - middle) ** 2 for x, _ in pairs)


def _degrees(cosine: float) -> float:
    return math.degrees(math.acos(cosine))
