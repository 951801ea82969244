"""t-SNE as it is written: Gaussians of a perplexity, a Student distribution, and KL by gradient descent."""

import math
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.analysis.maps import Frame, agreement, draw_map, pca, tsne
from regard.analysis.maps.affinity import conditional_probabilities, joint_probabilities, lower_perplexity
from regard.analysis.maps.distances import Distances
from regard.analysis.maps.tsne import _Descent


def clusters(count: int = 120, kinds: int = 6, width: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Round clusters, each on an axis of its own, which two linear axes cannot part."""
    labels = np.arange(count) % kinds
    points = np.random.default_rng(0).normal(size=(count, width))
    points[np.arange(count), labels] += 9
    return points.astype(np.float32), labels


def written_out(p: Tensor, places: Tensor) -> Tensor:
    """KL(P ‖ Q) as a lecture has it."""
    near = 1 / (1 + torch.cdist(places, places) ** 2)
    near = near * (1 - torch.eye(len(places), dtype=near.dtype))
    q = near / near.sum()
    return torch.xlogy(p, p).sum() - (p * q.clamp(min=1e-300).log()).sum()


@pytest.mark.parametrize("perplexity", [1.5, 10, 35])
def test_everybody_has_as_many_neighbours_as_the_perplexity_says(perplexity: float) -> None:
    points, _ = clusters()
    points[:40] *= 100  # however dense the place
    p = conditional_probabilities(Distances(points).rows(torch.arange(len(points))), perplexity)
    entropy = -torch.xlogy(p, p).sum(dim=1)
    assert torch.allclose(entropy.exp(), torch.full_like(entropy, perplexity), rtol=1e-4)
    assert torch.allclose(p.sum(dim=1), torch.ones(len(p)).double())
    assert p.diagonal().count_nonzero() == 0


def test_probabilities_of_pairs_are_symmetric_and_add_up_to_one() -> None:
    p = joint_probabilities(clusters()[0], 20)
    assert float(p.sum()) == pytest.approx(1, abs=1e-5)
    assert torch.equal(p, p.T)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("strip", [1 << 19, 700])
def test_gradient_and_kl_are_those_that_are_written(
    dimensions: int, strip: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The function of the same name stands before its file in the package.
    monkeypatch.setattr(sys.modules["regard.analysis.maps.tsne"], "STRIP", strip)
    p = joint_probabilities(clusters(50)[0], 10)
    places = torch.randn(50, dimensions)
    exact = places.double().requires_grad_()
    kl = written_out(p.double(), exact)
    kl.backward()
    descent = _Descent(p, places.T, lr=1.0)
    assert descent.kl() == pytest.approx(kl.item(), rel=1e-4)
    assert exact.grad is not None
    assert torch.allclose(descent.gradient().T.double(), exact.grad, atol=1e-6)


def test_the_kl_of_what_one_side_picks_differs_by_a_constant() -> None:
    points, _ = clusters(40)
    picked = conditional_probabilities(Distances(points).rows(torch.arange(40)), 8) / 40
    both = joint_probabilities(points, 8).double()
    lost = [
        float(written_out(picked, places) - written_out(both, places))
        for places in (torch.randn(40, 2).double(), 5 * torch.randn(40, 2).double())
    ]
    assert lost[0] == pytest.approx(lost[1], abs=1e-6)


def test_clusters_that_pca_mixes_are_parted() -> None:
    points, labels = clusters(180, kinds=12)
    found = tsne(points, perplexity=10, steps=400)
    assert agreement(found.places, labels) > 0.95 > agreement(pca(points).places, labels) + 0.2
    assert "lowered" not in found.facts
    assert found.caption.startswith("t-SNE, perplexity 10, KL ")


def test_a_seed_is_a_map() -> None:
    points, _ = clusters(60)
    first, again, other = (tsne(points, 10, seed=seed, steps=60).places for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_three_dimensions_and_a_beginning_by_pca() -> None:
    points, _ = clusters(60)
    found = tsne(points, 10, dimensions=3, init="pca", steps=60)
    assert found.places.shape == (60, 3)
    assert found.facts["init"] == "pca"


def test_a_perplexity_too_large_for_the_set_is_lowered_and_said() -> None:
    points, _ = clusters(20)
    found = tsne(points, steps=20)
    assert found.facts["perplexity"] == pytest.approx(19 / 3)
    assert found.facts["lowered"] == "perplexity 30 is too large for 20 points and was lowered to 6.33"
    assert lower_perplexity(30, 200) == (30.0, "")


def test_places_can_be_watched_while_they_move() -> None:
    points, _ = clusters(60)
    seen: list[Frame] = []
    told: list[float] = []
    found = tsne(points, 10, steps=110, every=50, watch=seen.append, progress=told.append)
    assert [each.step for each in seen] == [0, 50, 100, 110]
    assert all(each.places.shape == (60, 2) for each in seen)
    assert seen[-1].kl < seen[0].kl
    assert seen[-1].kl == found.facts["kl"]
    np.testing.assert_array_equal(seen[-1].places, found.places)
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.mark.parametrize(
    "points",
    [np.zeros((2, 3)), np.eye(3), np.ones((30, 4)), np.repeat(np.eye(4), 10, axis=0), 1e6 * np.eye(12)],
    ids=["two", "three", "all the same", "each ten times", "far apart"],
)
def test_odd_sets_get_finite_places(points: np.ndarray) -> None:
    found = tsne(points, steps=300)
    assert np.isfinite(found.places).all()
    assert math.isfinite(found.facts["kl"])


@pytest.mark.parametrize(
    ("points", "options", "said"),
    [
        (np.zeros((1, 4)), {}, "1 point cannot be told apart"),
        (np.full((5, 4), np.nan), {}, "point 0 .* holds NaN"),
        (np.eye(5), {"perplexity": 0.5}, "a perplexity of 0.5 is no number of neighbours; give 1 or more"),
        (np.eye(5), {"perplexity": math.nan}, "a perplexity of nan is no number"),
        (np.eye(5), {"dimensions": 0}, "a map of 0 dimensions has no room"),
        (np.zeros((20_001, 1)), {}, "20,001 points have too many; give up to 20,000, or take fast_tsne"),
    ],
)
def test_what_cannot_be_mapped_is_said_in_a_sentence(points: np.ndarray, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        tsne(points, **options)


def test_a_method_is_chosen_by_name() -> None:
    points, _ = clusters(40)
    assert draw_map(points, "pca", dimensions=3).places.shape == (40, 3)
    assert draw_map(points, "tsne").method == "t-SNE"
