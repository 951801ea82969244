"""How well pixels are given to classes: the intersection over union of each class, and their mean (mIoU)."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float, Int

from regard.analysis.scores import RESAMPLES, Score


def mean_iou(pairs: Iterable[tuple[Int[np.ndarray, "h w"], Int[np.ndarray, "h w"]]], classes: int) -> dict[str, Score]:
    """mIoU of said and right classes of pixels, in percent; -1 is what belongs to no class, and counts as one more.

    Classes that occur nowhere, neither said nor right, are left out of the mean. The interval is from pictures drawn
    anew, with return. `things` leaves the ground out.
    """
    counts = np.stack([_counts(said, right, classes) for said, right in pairs])
    if not len(counts):
        raise ValueError("no pictures tell nothing; give 1 or more")
    dice = np.random.default_rng(0)
    found = {}
    for name, some in (("miou", slice(None)), ("things", slice(0, classes))):
        part = counts[:, :, some]
        again = [_miou(part[dice.integers(len(part), size=len(part))]) for _ in range(RESAMPLES)]
        low, high = np.percentile(again, (2.5, 97.5)).tolist()
        found[name] = Score(_miou(part), interval=(low, high), count=len(part))
    return found


def _counts(said: Int[np.ndarray, "h w"], right: Int[np.ndarray, "h w"], classes: int) -> Float[np.ndarray, "2 k"]:
    """Pixels of each class that both have, and that either has; the last are those of no class."""
    kinds = [*range(classes), -1]
    shared = [((said == k) & (right == k)).sum() for k in kinds]
    either = [((said == k) | (right == k)).sum() for k in kinds]
    return np.array([shared, either], float)


def _miou(counts: Float[np.ndarray, "n 2 k"]) -> float:
    shared, either = counts.sum(axis=0)
    met = either > 0
    return float(100 * (shared[met] / either[met]).mean()) if met.any() else 0.0
