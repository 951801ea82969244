"""One map of points, by whichever method is asked for."""

from importlib.util import find_spec
from typing import Literal

from regard.analysis.maps.fast import fast_tsne
from regard.analysis.maps.map import Map, Points
from regard.analysis.maps.pca import pca
from regard.analysis.maps.tsne import MOST, tsne
from regard.analysis.maps.umap import umap
from regard.progress import Progress

Method = Literal["pca", "tsne", "umap"]

EXACT = 5000  # points; with more of them openTSNE is several times as fast, where it is installed


def draw_map(
    points: Points,
    how: Method = "tsne",
    *,
    dimensions: int = 2,
    perplexity: float | int = 30,
    neighbours: int = 15,
    seed: int = 0,
    progress: Progress | None = None,
) -> Map:
    """A map by PCA, t-SNE or UMAP; t-SNE is exact up to 5,000 points, and of more by openTSNE where it is installed."""
    if how == "pca":
        return pca(points, dimensions, seed=seed, progress=progress)
    if how == "umap":
        return umap(points, neighbours, dimensions, seed=seed)
    exact = len(points) <= EXACT or (len(points) <= MOST and find_spec("openTSNE") is None)
    return (tsne if exact else fast_tsne)(points, perplexity, dimensions, seed=seed, progress=progress)
