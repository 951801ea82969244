"""Spectrograms as they are met in training: earlier or later, faster or slower, tilted, and with parts left out."""

import numpy as np
from jaxtyping import Float32

from regard.chance import Chance

Picture = Float32[np.ndarray, "t m"]  # from -1, for silence, to 1


def vary(
    picture: Picture,
    frames: int,
    chance: Chance,
    *,
    shift: float = 0.1,
    speed: float = 0.15,
    gain: float = 0.2,
    masks: int = 1,
    share: float = 0.15,
) -> Float32[np.ndarray, "{frames} m"]:
    """A spectrogram of so many frames, with the sound around its middle, or as much of it as fits.

    `shift` is how far from the middle it may be, as a share of the frames; `speed` the largest change of tempo; `gain`
    that of the loudness of the lowest and the highest band, with a line between; each of `masks` hides up to a `share`
    of the frames and of the bands (SpecAugment, Park 2019).
    """
    picture = stretch(picture, 1 + chance.uniform(-speed, speed))
    low, high = (chance.uniform(-gain, gain) for _ in range(2))
    picture = np.clip(picture + np.linspace(low, high, picture.shape[1], dtype=np.float32), -1, 1)
    found = place(picture, frames, round(chance.uniform(-shift, shift) * frames))
    for axis in (0, 1) * masks:
        size = found.shape[axis]
        width = chance.below(int(share * size) + 1)
        start = chance.below(size - width + 1)
        hidden = (slice(start, start + width), slice(None))
        found[hidden if axis == 0 else hidden[::-1]] = -1
    return found


def stretch(picture: Picture, tempo: float) -> Float32[np.ndarray, "u m"]:
    """The same frames in less time, for a tempo beyond 1, or in more; straight between two of them."""
    count = max(2, round(len(picture) / tempo))
    where = np.linspace(0, len(picture) - 1, count)
    below = np.minimum(where.astype(np.int64), max(len(picture) - 2, 0))
    share = (where - below)[:, None].astype(np.float32)
    above = np.minimum(below + 1, len(picture) - 1)
    found: np.ndarray = picture[below] * (1 - share) + picture[above] * share
    return found


def place(picture: Picture, frames: int, shift: int = 0) -> Float32[np.ndarray, "{frames} m"]:
    """A spectrogram between silence, so many frames behind the middle; what lies beyond the edges is cut off."""
    start = (frames - len(picture)) // 2 + shift
    found = np.full((frames, picture.shape[1]), -1, np.float32)
    first, last = max(0, start), min(frames, start + len(picture))
    found[first:last] = picture[first - start : last - start]
    return found
