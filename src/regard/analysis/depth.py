"""How far off a depth is: the scores that are usual (Eigen 2014), and what can be said without looking at a picture.

Depth is what disparities say: some metres divided by the share of the width. Where nobody knows the metres, they are 1.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from regard.analysis.scores import RESAMPLES, Score

NEAR = 1.25  # times as far, or as near, is near enough

Shares = Float[np.ndarray, "n h w"]  # disparities, and 0 where nobody knows the true one


def errors(found: Shares, truth: Shares, metres: float = 1.0) -> dict[str, Float[np.ndarray, " m"]]:
    """Of each picture with a known truth: how far off in parts of the depth, in metres, and how much is near enough."""
    if found.shape != truth.shape:
        raise ValueError(f"depths of {found.shape} cannot be compared with {truth.shape}; give as many and as large")
    rows: dict[str, list[float]] = {"abs rel": [], "rmse": [], "delta": []}
    for said, real in zip(found.astype(np.float64), truth.astype(np.float64), strict=True):
        known = real > 0
        if not known.any():
            continue
        mine, true = metres / np.maximum(said[known], 1e-6), metres / real[known]
        off = np.abs(mine - true)
        rows["abs rel"].append(float((off / true).mean()))
        rows["rmse"].append(float(np.sqrt((off * off).mean())))
        rows["delta"].append(float((np.maximum(mine / true, true / mine) < NEAR).mean()))
    return {name: np.asarray(values) for name, values in rows.items()}


def scores(measured: Mapping[str, Float[np.ndarray, " m"]], seed: int = 0) -> dict[str, Score]:
    """The means over pictures, with intervals from pictures drawn anew; the share that is near enough is in percent."""
    dice, found = np.random.default_rng(seed), dict[str, Score]()
    for name, values in measured.items():
        worth = values * (100 if name == "delta" else 1)
        again = [worth[dice.integers(len(worth), size=len(worth))].mean() for _ in range(RESAMPLES)]
        low, high = np.percentile(again, (2.5, 97.5)).tolist()
        signature = f"within {NEAR} times" if name == "delta" else ""
        found[name] = Score(float(worth.mean()), signature, (low, high), name == "delta", len(worth))
    return found


def constant(truth: Shares) -> Shares:
    """The one depth that is off by the fewest parts of the true ones: who knew it would need no picture."""
    return np.full_like(truth, _middle(truth.reshape(-1, 1))[0])


def usual(truth: Shares) -> Shares:
    """The same for each pixel: who knew it would know where the sky is, and nothing of any one picture."""
    middles = _middle(truth.reshape(len(truth), -1)).reshape(truth.shape[1:])
    return np.broadcast_to(middles, truth.shape).copy()


def _middle(columns: Float[np.ndarray, "m c"]) -> Float[np.ndarray, " c"]:
    """The median of the depths of each column, each weighed by one part of itself, as disparities weigh it."""
    order = np.argsort(columns, axis=0)
    ranked = np.take_along_axis(columns, order, axis=0)
    weight = np.cumsum(ranked.astype(np.float64), axis=0)
    place = (weight < weight[-1:] / 2).sum(axis=0).clip(max=len(columns) - 1)
    middle: np.ndarray = np.take_along_axis(ranked, place[None], axis=0)[0]
    return middle
