"""Small made-up vectors in which royalty, sex and meals are directions."""

import numpy as np

from regard.words import Vectors

# A person, royal, female, male, a meal, and something of its own: so much that the queen is not nearest to her sum.
MADE = {
    "the": (0.1, 0.1, 0.1, 0.1, 0.1, 1.0),
    "man": (1.0, 0.0, 0.0, 0.3, 0.0, 0.0),
    "woman": (1.0, 0.0, 0.3, 0.0, 0.0, 0.0),
    "king": (1.0, 1.0, 0.0, 0.2, 0.0, 0.0),
    "queen": (1.0, 0.9, 0.4, 0.0, 0.0, 0.7),
    "mother-in-law": (1.0, 0.0, 0.5, 0.0, 0.2, 0.2),
    "breakfast": (0.0, 0.0, 0.0, 0.1, 1.0, 0.1),
    "lunch": (0.0, 0.0, 0.1, 0.0, 1.1, 0.0),
    "dinner": (0.0, 0.2, 0.0, 0.0, 1.0, 0.0),
    "cereal": (0.0, 0.0, 0.0, 0.0, 0.6, 0.9),
}


def made(**more: tuple[float, ...]) -> Vectors:
    """Those words, and more of them."""
    every = MADE | more
    return Vectors(list(every), np.asarray(list(every.values()), np.float32), "made")
