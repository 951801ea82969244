"""Nearest neighbours: which class is said by the known vectors that are most alike (Wu 2018), with nothing learned."""

import numpy as np
from jaxtyping import Float, Int

COUNT = 10
WARMTH = 0.07  # how much faster a vote fades than likeness does
TOGETHER = 500  # vectors that are compared at once, so that those of a whole set take little memory


def nearest_classes(
    known: Float[np.ndarray, "n w"],
    classes: Int[np.ndarray, " n"],
    asked: Float[np.ndarray, "m w"],
    *,
    count: int = COUNT,
) -> Int[np.ndarray, " m"]:
    """The class that the nearest of the known vectors vote for; a vote counts as much as it is alike."""
    if not len(known) or len(known) != len(classes):
        raise ValueError(f"{len(known)} vectors with {len(classes)} classes say nothing; give one class for each")
    near, far = _unit(known).T, _unit(asked)
    votes = np.zeros((len(asked), int(classes.max()) + 1))
    for start in range(0, len(asked), TOGETHER):
        alike = far[start : start + TOGETHER] @ near
        nearest = np.argpartition(-alike, min(count, len(known)) - 1, axis=1)[:, :count]
        weights = np.exp(np.take_along_axis(alike, nearest, axis=1) / WARMTH)
        np.add.at(votes, (start + np.arange(len(alike))[:, None], classes[nearest]), weights)
    said: np.ndarray = votes.argmax(axis=1)
    return said


def _unit(vectors: Float[np.ndarray, "n w"]) -> Float[np.ndarray, "n w"]:
    scaled: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return scaled
