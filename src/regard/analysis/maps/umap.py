"""UMAP (McInnes 2018) by umap-learn: a graph of neighbours, laid out so that its edges are short."""

import math
import warnings
from typing import Any

from regard.analysis.maps.map import Map, Points, as_points


def umap(
    points: Points, neighbours: int = 15, dimensions: int = 2, *, min_dist: float | int = 0.1, seed: int = 0
) -> Map:
    """A map of points by umap-learn; more neighbours than there are others are lowered, and `facts["lowered"]` says so.

    How far the work is cannot be told, since umap-learn does not say.
    """
    library = _library()
    table = as_points(points)
    if neighbours < 2 or dimensions < 1 or not (math.isfinite(min_dist) and 0 <= min_dist <= 1):
        raise ValueError(
            f"{neighbours} neighbours, {dimensions} dimensions and a min_dist of {min_dist:g} make no map; give 2 or "
            f"more, 2 or 3, and 0 to 1"
        )
    if len(table) < dimensions + 2:
        raise ValueError(f"UMAP cannot lay {len(table)} points out in {dimensions} dimensions; give {dimensions + 2}")
    used = min(neighbours, len(table) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a seed means one thread, and what its own dependencies will change
        made = library.UMAP(
            n_neighbors=used,
            n_components=dimensions,
            min_dist=min_dist,
            random_state=seed,
            n_jobs=1,
            # Eigenvectors of a graph this small cannot be found by its solver.
            init="spectral" if len(table) > 4 * (dimensions + 2) else "random",
        ).fit_transform(table)
    facts: dict[str, Any] = {"neighbours": used, "min_dist": min_dist}
    if used < neighbours:
        facts["lowered"] = f"{neighbours} neighbours are too many for {len(table)} points and were lowered to {used}"
    return Map(made.astype("float32"), "UMAP", facts)


def _library() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import umap  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ImportError(
            "UMAP is made by umap-learn, which is not here; in a clone of regard, pip install '.[maps]', or pip "
            "install umap-learn"
        ) from None
    return umap
