"""Where a token stands, told to a model that would not know: codes of places in sequences, maps, spheres and graphs.

A code of sequences is called as `code(x, start=0)`, a code of maps as `code(x)`; both give x with the code worked in.
Rotations turn queries and keys inside an attention. Biases of the scores by distance live in `regard.attention`.
"""

from regard.layers.position.graph import Laplacian, laplacian
from regard.layers.position.rotary import Rotary, Rotary2d
from regard.layers.position.sphere import Harmonics, Panorama, harmonics
from regard.layers.position.table import Learned, Learned2d, interpolated
from regard.layers.position.wave import Fourier, GroundSample, Sinusoidal, Sinusoidal2d, coordinates, sinusoid

__all__ = [
    "Fourier",
    "GroundSample",
    "Harmonics",
    "Laplacian",
    "Learned",
    "Learned2d",
    "Panorama",
    "Rotary",
    "Rotary2d",
    "Sinusoidal",
    "Sinusoidal2d",
    "coordinates",
    "harmonics",
    "interpolated",
    "laplacian",
    "sinusoid",
]
