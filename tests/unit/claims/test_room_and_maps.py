"""The criteria of claims about maps and directions can be met, missed, and left open."""

import numpy as np
import pytest

from regard.claims import maps, room
from regard.claims.claim import Numbers

OPEN = "not at this scale"


def directions(angle: float, *, power: float) -> Numbers:
    """Numbers in which the count at 70° grows by a power of the dimensions, and many vectors are at an angle."""
    told = {"deviation": 5.0, "within 5": 0.5, "shares": [1.0] * 30}
    large = [
        {"seed": seed, "random": told | {"smallest": 50.0}, "optimised": told | {"smallest": angle + 0.1 * seed}}
        for seed in (0, 1, 2)
    ]
    grown = [
        {
            "dimensions": n,
            "times": times,
            "seed": seed,
            "smallest": 90 - 20 * np.log(times) / np.log(2 * n ** (power - 1)),
        }
        for seed in (0, 1, 2)
        for n in (4, 8, 16)
        for times in (2, 64)
    ]
    return {"count": 100, "dimensions": 10, "steps": 1, "large": large, "grown": grown}


@pytest.mark.parametrize(
    ("angle", "power", "verdict"),
    [(75.0, 1.5, "supported"), (75.0, 0.9, OPEN), (65.0, 1.5, OPEN), (50.0, 1.5, "refuted")],
)
def test_room(angle: float, power: float, verdict: str) -> None:
    found = room.judge(directions(angle, power=power))
    assert found.verdict == verdict
    assert found.number == pytest.approx(angle + 0.1)
    assert f"to the power {power:.2f}" in found.says


def test_how_many_fit_lies_between_the_counts_that_were_tried() -> None:
    numbers = directions(75.0, power=2)
    assert room._fits(numbers, 8, 0) == pytest.approx(2 * 8**2, rel=0.01)


def neighbours(gain: float, same: float, cloud: float, depends: float) -> Numbers:
    def value(name: str, how: str, what: str, seed: int) -> float:
        start = 0.2 + 0.001 * seed
        if how == maps.PCA:
            return start
        return start + (cloud if name == maps.CLOUD else same if what == "same" else gain) * (1 + 0.01 * seed)

    runs = [
        {"set": name, "map": how, "seed": seed}
        | {what: value(name, how, what, seed) for what in ("preservation", "trustworthiness", "same")}
        for name in maps.SETS
        for how in (maps.PCA, *map(maps._name, maps.PERPLEXITIES), maps.AGAIN)
        for seed in (0, 1, 2)
    ]
    shared = [
        {"set": name, "seed": seed, "noise": 0.5 + depends + 0.001 * seed, "perplexity": 0.5}
        for name in maps.SETS
        for seed in (0, 1, 2)
    ]
    return {"runs": runs, "shared": shared, "points": 600, "steps": 1}


@pytest.mark.parametrize(
    ("gain", "same", "cloud", "depends", "verdict"),
    [
        (0.3, 0.4, 0.0, 0.2, "supported"),
        (0.3, -0.4, 0.0, 0.2, OPEN),
        (0.3, 0.4, 0.2, 0.2, OPEN),
        (-0.3, 0.4, 0.0, 0.2, "refuted"),
        (0.3, 0.4, 0.0, -0.2, "refuted"),
        (0.3, 0.4, 0.0, -0.001, OPEN),
    ],
)
def test_maps(gain: float, same: float, cloud: float, depends: float, verdict: str) -> None:
    found = maps.judge(neighbours(gain, same, cloud, depends))
    assert found.verdict == verdict
    assert found.number == pytest.approx(gain, rel=0.02)


def test_nouns_are_read_in_as_many_sentences_each() -> None:
    points, labels = maps._points(maps.WORDS, 0, 5)
    assert len(points) == len(labels) == 100
    assert np.bincount(labels).tolist() == [5] * 20
