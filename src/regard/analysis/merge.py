"""Weights between words from weights between pieces: a word looks as its pieces do on average, and gets their sum."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

Groups = Sequence[Sequence[int]]  # the places of the pieces of each word; a piece may be in two


def merge(weights: Float[np.ndarray, "*h m n"], rows: Groups, columns: Groups) -> Float[np.ndarray, "*h r c"]:
    """The mean over the pieces of each row and the sum over those of each column.

    No matrix product: its threads would fight with those of a model that runs meanwhile.
    """
    empty = np.zeros(weights.shape[:-1], weights.dtype)
    summed = np.stack([weights[..., list(group)].sum(-1) if group else empty for group in columns], axis=-1)
    nothing = np.zeros((*summed.shape[:-2], summed.shape[-1]), weights.dtype)
    return np.stack([summed[..., list(group), :].mean(-2) if group else nothing for group in rows], axis=-2)
