"""Points of many numbers on a map of two or three: PCA, t-SNE and UMAP, and how far each can be trusted.

found = tsne(vectors, perplexity=30)
found.places, found.facts["kl"], quality(vectors, found.places).trustworthiness
"""

from regard.analysis.maps.choose import draw_map
from regard.analysis.maps.fast import fast_tsne
from regard.analysis.maps.map import Map
from regard.analysis.maps.pca import pca
from regard.analysis.maps.quality import Quality, agreement, quality
from regard.analysis.maps.tsne import Frame, tsne
from regard.analysis.maps.umap import umap

__all__ = ["Frame", "Map", "Quality", "agreement", "draw_map", "fast_tsne", "pca", "quality", "tsne", "umap"]
