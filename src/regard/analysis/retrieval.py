"""How well vectors of pictures and of texts find each other: recall among so many nearest, both ways."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from regard.analysis.scores import Score, accuracy

NEAREST = (1, 5, 10)


def recalls(
    alike: Float[np.ndarray, "n m"], owners: Int[np.ndarray, " m"], at: Sequence[int] = NEAREST
) -> dict[str, Score]:
    """R@k: the percentage of pictures with one of their texts among the k nearest, and of texts with their picture.

    `alike` is how alike each picture and each text are, and `owners` the number of the picture of each text.
    """
    if not alike.size:
        raise ValueError(f"{len(alike)} pictures and {len(owners)} texts find nothing; give 1 or more of each")
    if not 0 <= owners.min() <= owners.max() < len(alike):
        raise ValueError(f"a text belongs to picture {owners.max()}, and there are {len(alike)}; number them from 0")
    to_text, to_image = ranks(alike, owners)
    ways = {"image to text": to_text, "text to image": to_image}
    return {f"{way} R@{k}": accuracy((rank < k).tolist()) for way, rank in ways.items() for k in at}


def ranks(
    alike: Float[np.ndarray, "n m"], owners: Int[np.ndarray, " m"]
) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " m"]]:
    """How many wrong texts lie before the first right one of each picture that has any; and pictures before a text's.

    What is equally near counts as before, so that a model that says the same of everything finds nothing.
    """
    right = owners == np.arange(len(alike))[:, None]
    best = np.where(right, alike, -np.inf).max(axis=1)
    own = alike[owners, np.arange(len(owners))]
    to_text: np.ndarray = (np.where(right, -np.inf, alike) >= best[:, None]).sum(axis=1)
    to_image: np.ndarray = (alike >= own).sum(axis=0) - 1
    return to_text[right.any(axis=1)], to_image
