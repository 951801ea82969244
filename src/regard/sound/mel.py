"""Sounds as pictures: how loud each band of frequencies is at each time, both as people hear them.

Bands are wider the higher they are, by the mel scale (Stevens 1937, in O'Shaughnessy's formula), and loudness is a
logarithm of power.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float32, Float64

LEAST = 1e-10  # power that counts as none
RANGE = 8.0  # powers of ten between the loudest and what is taken for silence, as in Whisper


def log_mel(
    samples: Float32[np.ndarray, " n"], rate: int, *, window: int, hop: int, mels: int
) -> Float32[np.ndarray, "t {mels}"]:
    """The decimal logarithm of the power in each mel band, a row for each `hop` of samples.

    A row looks at `window` samples under a Hann window; a sound that is shorter is followed by silence.
    """
    if len(samples) < window:
        samples = np.pad(samples, (0, window - len(samples)))
    frames = np.lib.stride_tricks.sliding_window_view(samples, window)[::hop]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    power = np.abs(np.fft.rfft(frames * hann, axis=1)) ** 2
    loud: np.ndarray = np.log10(np.maximum(power @ filters(rate, window, mels), LEAST))
    return loud.astype(np.float32)


@lru_cache(maxsize=8)
def filters(rate: int, window: int, mels: int) -> Float64[np.ndarray, "bins {mels}"]:
    """Triangles over the frequencies of a Fourier transform: each begins and ends at the peaks of its neighbours."""
    frequencies = np.fft.rfftfreq(window, 1 / rate)
    edges = _hertz(np.linspace(0, _mel(rate / 2), mels + 2))
    rising = (frequencies[:, None] - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - frequencies[:, None]) / np.diff(edges)[1:]
    found: np.ndarray = np.maximum(0, np.minimum(rising, falling))
    if empty := int((found.max(axis=0) == 0).sum()):
        raise ValueError(
            f"{empty} of {mels} mel bands are narrower than {rate / window:.0f} Hz, which a window of {window} samples "
            "tells apart; take fewer bands, or a longer window"
        )
    return found


@dataclass(frozen=True, slots=True)
class Spectrogram:
    """How a sound becomes what a model sees: `frames` × `mels` numbers from -1, for silence, to 1, for the loudest.

    However loud a recording is as a whole makes no difference.
    """

    rate: int = 8_000
    window: int = 256  # samples that a frame looks at
    hop: int = 80  # samples from a frame to the next
    mels: int = 40
    frames: int = 96

    def __call__(self, samples: Float32[np.ndarray, " n"]) -> Float32[np.ndarray, "t m"]:
        """All frames of a sound of this rate."""
        loud = log_mel(samples, self.rate, window=self.window, hop=self.hop, mels=self.mels)
        found: np.ndarray = np.maximum(loud - loud.max(), -RANGE) * (2 / RANGE) + 1
        return found.astype(np.float32)

    def fit(self, picture: Float32[np.ndarray, "t m"]) -> Float32[np.ndarray, "{self.frames} m"]:
        """As many frames as the model sees: of a longer sound the loudest stretch, a shorter one between silence."""
        count = len(picture)
        if count > self.frames:
            loud = np.concatenate([[0.0], np.cumsum(picture.mean(axis=1, dtype=np.float64))])
            start = int(np.argmax(loud[self.frames :] - loud[: -self.frames]))
            return picture[start : start + self.frames]
        before = (self.frames - count) // 2
        return np.pad(picture, ((before, self.frames - count - before), (0, 0)), constant_values=-1)


def _mel(hertz: float) -> float:
    return 2595 * float(np.log10(1 + hertz / 700))


def _hertz(mel: Float64[np.ndarray, " n"]) -> Float64[np.ndarray, " n"]:
    found: np.ndarray = 700 * (10 ** (mel / 2595) - 1)
    return found
