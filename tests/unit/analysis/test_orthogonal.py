"""Many more than n almost orthogonal directions fit into n dimensions, between two bounds."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from regard.analysis.orthogonal import angles, johnson_lindenstrauss, random_directions, spread, surely_fit, welch


def test_angles_are_those_between_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.analysis.orthogonal.STRIP", 200)  # several strips
    v = random_directions(60, 7) * 3
    found = angles(v)
    unit = (v / v.norm(dim=1, keepdim=True)).double()
    cosines = (unit @ unit.T)[tuple(np.triu_indices(60, 1))]
    assert found.counts.sum() == 60 * 59 // 2
    assert found.cosine == pytest.approx(float(cosines.abs().max()), abs=1e-5)
    degrees = cosines.acos().rad2deg()
    assert found.deviation == pytest.approx(float(((degrees - 90) ** 2).mean().sqrt()), rel=1e-4)
    assert found.within(10) == pytest.approx(float(((degrees - 90).abs() < 10).double().mean()), abs=1e-3)


def test_as_many_directions_as_dimensions_become_orthogonal() -> None:
    assert angles(spread(random_directions(16, 16), steps=300)).smallest > 89


def test_three_lines_in_a_plane_part_by_sixty_degrees() -> None:
    assert angles(spread(random_directions(3, 2), steps=300)).smallest == pytest.approx(60, abs=0.5)


def test_directions_that_push_each_other_part() -> None:
    start, told = random_directions(300, 20), list[float]()
    found = spread(start, steps=60, progress=told.append)
    before, after = angles(start), angles(found)
    assert after.smallest > before.smallest + 15
    assert welch(300, 20) <= after.cosine
    assert torch.allclose(found.norm(dim=1), torch.ones(300))
    assert told == sorted(told)
    assert told[-1] == 1


def test_spreading_never_makes_it_worse_and_depends_on_the_seed_alone() -> None:
    start = random_directions(40, 10, seed=3)
    assert angles(spread(start, steps=0)).cosine == angles(start).cosine
    assert torch.equal(spread(start, steps=5), spread(random_directions(40, 10, seed=3), steps=5))


def test_welch_knows_what_simplices_reach() -> None:
    assert welch(4, 3) == pytest.approx(1 / 3)  # the corners of a tetrahedron
    assert welch(10, 10) == 0
    assert math.degrees(math.acos(welch(10_000, 100))) == pytest.approx(84.3, abs=0.05)
    assert welch(1000, 3) > math.sqrt((1000 / 3 - 1) / 999)  # higher powers say more where there are many


def test_random_directions_keep_what_the_lemma_promises() -> None:
    assert angles(random_directions(500, 64)).cosine < johnson_lindenstrauss(500, 64)
    assert johnson_lindenstrauss(500, 64) == pytest.approx(math.sqrt(4 * math.log(500) / 64))
    assert johnson_lindenstrauss(10**6, 3) == 1


def test_room_grows_exponentially_with_the_dimensions() -> None:
    fits = [surely_fit(n, 70) for n in (10, 500, 1000)]
    assert fits[0] == 10
    assert fits[2] / fits[1] == pytest.approx(math.exp(500 * math.cos(math.radians(70)) ** 2 / 4), rel=1e-3)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: random_directions(1, 5), "1 directions in 5 dimensions have no angles"),
        (lambda: angles(torch.zeros(3, 4)), "direction 0 has no length"),
        (lambda: spread(torch.ones(3, 4), steps=-1), "-1 steps of 1 spread nothing"),
        (lambda: angles(torch.tensor([[1.0, 0], [torch.nan, 1]])), "direction 1 has no length or is not finite"),
    ],
)
def test_what_has_no_angles_is_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()
