"""Films as a model sees them: so many frames of one size, from -1 to 1."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, UInt8

from regard.vision.picture import from_array, to_array

Frames = UInt8[np.ndarray, "f h w 3"]


class FilmError(ValueError):
    """A film that cannot be shown, with the reason and the way out in one sentence."""


@dataclass(frozen=True, slots=True)
class Film:
    """How a film becomes what a model sees: `frames` of it, evenly spread from the first to the last, as squares."""

    frames: int = 8
    size: int = 32

    def fit(self, film: Frames) -> Float32[np.ndarray, "{self.frames} {self.size} {self.size} 3"]:
        """As many frames as the model sees: some of a longer film, those of a shorter one more than once."""
        if film.ndim != 4 or film.shape[-1] != 3 or film.dtype != np.uint8 or 0 in film.shape:
            raise FilmError(
                f"the film has {film.dtype} of shape {film.shape}; give bytes of (frames, height, width, 3)"
            )
        some = film[np.linspace(0, len(film) - 1, self.frames).round().astype(np.int64)]
        if some.shape[1:3] != (self.size, self.size):
            some = np.stack([to_array(from_array(each).resize((self.size, self.size))) for each in some])
        found: np.ndarray = some.astype(np.float32) / 127.5 - 1
        return found.astype(np.float32)
