"""Make the maps of all words that the explorer shows: `python docs/wordmaps.py`, which takes about half an hour.

Words are compared by the angle between them, so each vector has length 1 before it is put on a map. Places are kept as
whole numbers of 16 bits, beside the model that they are of.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

import regard.zoo
from regard.analysis.maps import Map, fast_tsne, pca, quality
from regard.words import read_vectors

MODEL = "words-en"
LARGEST = 32767
PERPLEXITY = 30


def measured(points: np.ndarray, found: Map) -> dict[str, Any]:
    """What the page says of a map: how it was made, and how many of ten nearest neighbours it keeps."""
    told = quality(points, found.places)
    facts = {name: np.round(value, 4).tolist() if name != "init" else value for name, value in found.facts.items()}
    return facts | {
        "preservation": round(told.preservation, 4),
        "trustworthiness": round(told.trustworthiness, 4),
        "neighbours": told.neighbours,
        "asked": told.asked,
    }


def packed(places: np.ndarray) -> np.ndarray:
    """Places around zero, the farthest at the largest number."""
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    centred = places - middle
    return np.rint(centred / np.abs(centred).max() * LARGEST).astype(np.int16)


def main(folder: Path) -> None:
    points = read_vectors(folder).unit
    maps, facts = dict[str, np.ndarray](), dict[str, Any]()
    for dimensions in (2, 3):
        facts[f"pca-{dimensions}"] = measured(points, pca(points, dimensions))
        found = fast_tsne(points, PERPLEXITY, dimensions)
        facts[f"tsne-{dimensions}"] = measured(points, found)
        maps[f"tsne-{dimensions}"] = packed(found.places)
        save_file(maps, folder / "maps.safetensors", {"facts": json.dumps(facts)})


if __name__ == "__main__":
    main(regard.zoo.find(MODEL))
