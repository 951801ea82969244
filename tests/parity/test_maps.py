"""Maps as scikit-learn, openTSNE and umap-learn make them, and quality as scikit-learn measures it."""

import warnings

import numpy as np
import pytest
import torch

from regard.analysis.maps import draw_map, fast_tsne, pca, quality, tsne, umap
from regard.analysis.maps.affinity import joint_probabilities
from regard.analysis.maps.tsne import _Descent

manifold = pytest.importorskip("sklearn.manifold")
decomposition = pytest.importorskip("sklearn.decomposition")


@pytest.fixture(scope="module")
def digits() -> np.ndarray:
    """Handwritten digits, 8 × 8 pixels."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped]

    return load_digits().data[:400].astype(np.float32)


def test_pca_is_scikit_learns(digits: np.ndarray) -> None:
    theirs = decomposition.PCA(3, svd_solver="full").fit(digits)
    ours = pca(digits, 3, how="exact")
    np.testing.assert_allclose(ours.places, theirs.transform(digits), atol=1e-3)
    assert ours.facts["variance"] == pytest.approx(theirs.explained_variance_ratio_.tolist(), rel=1e-5)


def test_randomised_pca_is_as_near_as_scikit_learns(digits: np.ndarray) -> None:
    ours = pca(digits, 3, how="randomised")
    exact = decomposition.PCA(3, svd_solver="full").fit(digits)
    assert ours.facts["variance"] == pytest.approx(exact.explained_variance_ratio_.tolist(), rel=1e-3)


@pytest.mark.parametrize("perplexity", [5, 30, 100])
def test_probabilities_are_scikit_learns(digits: np.ndarray, perplexity: int) -> None:
    from scipy.spatial.distance import squareform  # type: ignore[import-untyped]
    from sklearn.manifold._t_sne import _joint_probabilities  # type: ignore[import-untyped]
    from sklearn.metrics import pairwise_distances  # type: ignore[import-untyped]

    distances = pairwise_distances(digits.astype(np.float64), squared=True).astype(np.float32)
    theirs = squareform(_joint_probabilities(distances, perplexity, 0))
    np.testing.assert_allclose(joint_probabilities(digits, perplexity).numpy(), theirs, rtol=2e-3, atol=1e-9)


def test_gradient_and_kl_are_scikit_learns(digits: np.ndarray) -> None:
    from scipy.spatial.distance import squareform
    from sklearn.manifold._t_sne import _kl_divergence

    p = joint_probabilities(digits, 30)
    places = torch.randn(len(digits), 2) * 5
    ours = _Descent(p, places.T, lr=1.0)
    kl, gradient = _kl_divergence(
        places.double().numpy().ravel(), squareform(p.double().numpy(), checks=False), 1, len(digits), 2
    )
    assert ours.kl() == pytest.approx(kl, rel=1e-4)
    np.testing.assert_allclose(ours.gradient().T.numpy(), gradient.reshape(-1, 2), atol=1e-6)


def test_maps_are_as_good_as_scikit_learns_exact_ones(digits: np.ndarray) -> None:
    theirs = manifold.TSNE(method="exact", random_state=0, max_iter=500, init="pca").fit(digits)
    ours = tsne(digits, steps=500, init="pca")
    assert ours.facts["kl"] == pytest.approx(theirs.kl_divergence_, rel=0.05)
    assert tsne(digits, steps=500).facts["kl"] < 1.1 * theirs.kl_divergence_


def test_trustworthiness_is_scikit_learns(digits: np.ndarray) -> None:
    places = pca(digits).places
    for neighbours in (5, 10, 50):
        theirs = manifold.trustworthiness(digits.astype(np.float64), places, n_neighbors=neighbours)
        # Pixels are whole numbers, so that some distances are equal; who of them comes first is nobody's rule.
        assert quality(digits, places, neighbours).trustworthiness == pytest.approx(theirs, abs=1e-4)


def test_the_fast_way_is_open_tsne(digits: np.ndarray) -> None:
    opened = pytest.importorskip("openTSNE")
    told: list[float] = []
    ours = fast_tsne(digits, seed=3, progress=told.append)
    theirs = opened.TSNE(random_state=3, n_jobs=1).fit(digits)
    np.testing.assert_allclose(ours.places, np.asarray(theirs), rtol=1e-4, atol=1e-4)
    assert ours.facts["kl"] == pytest.approx(theirs.kl_divergence, rel=1e-3)
    assert told == sorted(told)
    assert told[-1] == 1
    exact = tsne(digits, steps=750, init="pca")
    assert abs(quality(digits, ours.places).trustworthiness - quality(digits, exact.places).trustworthiness) < 0.02


def test_the_fast_way_lowers_a_perplexity_and_knows_three_dimensions(digits: np.ndarray) -> None:
    pytest.importorskip("openTSNE")
    found = fast_tsne(digits[:50], dimensions=3)
    assert found.places.shape == (50, 3)
    assert found.facts["lowered"] == "perplexity 30 is too large for 50 points and was lowered to 16.3"
    with pytest.raises(ValueError, match="a map of 4 dimensions cannot be shown"):
        fast_tsne(digits, dimensions=4)


def test_umap_is_umap_learns(digits: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = pytest.importorskip("umap")
        theirs = library.UMAP(random_state=0, n_jobs=1).fit_transform(digits[:150])
    ours = umap(digits[:150])
    np.testing.assert_allclose(ours.places, theirs, atol=1e-4)
    assert quality(digits[:150], ours.places).trustworthiness > 0.9
    few = draw_map(digits[:10], "umap", dimensions=2)
    assert few.facts["lowered"] == "15 neighbours are too many for 10 points and were lowered to 9"
    with pytest.raises(ValueError, match="UMAP cannot lay 3 points out in 2 dimensions; give 4"):
        umap(digits[:3])
