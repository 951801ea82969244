"""What the claims on DINO measure with, and that each of their criteria can be met, missed and left open."""

import math
from typing import Any

import numpy as np
import pytest

from regard.claims import emerging, glimpses, segments
from regard.claims.claim import Numbers
from regard.world import KINDS, PARTS


def test_a_twin_begins_with_the_same_weights_and_learns_from_the_same_crops() -> None:
    mine, its = glimpses.pair(3).student.tower.state_dict(), glimpses.eye(3).state_dict()
    assert all(mine[name].equal(its[name]) for name in its)


def test_the_parts_of_a_thing_tile_it() -> None:
    shares, (tests, outlines) = emerging.part_shares("test", 12), glimpses.outlined("test", 12)
    grid, patch = emerging.GRID, glimpses.PATCH
    covered = outlines.reshape(-1, grid, patch, grid, patch).mean(axis=(2, 4))
    np.testing.assert_allclose(shares.sum(axis=-1), covered)
    counts = [len(PARTS[KINDS[kind]]) for kind in tests.targets]
    assert all(not one[..., count:].any() for one, count in zip(shares, counts, strict=True))


def overlaps(dino: float, *, uncentred: float = 0.0, blunt: float = math.log(128), health: float = 1.0) -> Numbers:
    """A twin has an overlap of 0.3 or so, and nothing learned 0.1."""
    meters = {
        segments.HEALTHY: {"entropy": health, "spread": 4.0},
        segments.UNCENTRED: {"entropy": uncentred, "spread": uncentred},
        segments.BLUNT: {"entropy": blunt, "spread": blunt},
    }
    runs: list[dict[str, Any]] = [
        {"seed": seed, "overlap": {"DINO": dino + off, "supervised": 0.3, "untrained": 0.1}, "meters": meters}
        for seed, off in enumerate((-0.01, 0.0, 0.01))
    ]
    return {"runs": runs, "steps": 1, "middle": 0.4, "most": math.log(128)}


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        (overlaps(0.4), "supported"),
        (overlaps(0.2), "refuted"),
        (overlaps(0.301), "not at this scale"),
        (overlaps(0.4, uncentred=3.0), "not at this scale"),
        (overlaps(0.4, blunt=3.0), "not at this scale"),
        (overlaps(0.4, uncentred=3.0, blunt=3.0), "refuted"),
        (overlaps(0.4, health=4.8), "not at this scale"),
    ],
)
def test_dino_segments_where_it_is_above_its_twin_and_collapses_without_either(numbers: Numbers, verdict: str) -> None:
    assert segments.judge(numbers).verdict == verdict


def shares(parts: float, late: float) -> Numbers:
    """Of the parts, a fifth is read from what learned nothing; of the place, half is read from DINO's first block."""
    runs = []
    for seed, off in enumerate((-0.01, 0.0, 0.01)):
        for who, read in (("DINO", parts + off), ("supervised", 0.25), ("untrained", 0.2)):
            for block, place in ((1, 0.5), (2, late)):
                about = {"who": who, "seed": seed, "block": block}
                runs.append(about | {"what": "parts", "three components": read, "shuffled": 0.0})
                runs.append(about | {"what": "place", "three components": place})
    return {"runs": runs, "pictures": 10, "steps": 1}


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        (shares(0.4, 0.3), "supported"),
        (shares(0.1, 0.3), "refuted"),
        (shares(0.4, 0.6), "refuted"),
        (shares(0.201, 0.3), "not at this scale"),
    ],
)
def test_parts_emerge_where_more_of_them_is_read_and_less_of_the_place(numbers: Numbers, verdict: str) -> None:
    assert emerging.judge(numbers).verdict == verdict
