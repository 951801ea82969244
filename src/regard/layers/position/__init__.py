"""Position encodings: where a token stands in a sequence, a map, a graph or on a sphere.

One of sequences is called as `position(x, start=0)`, one of maps as `position(x)`; both give x with its encoding added
or concatenated. One of cells is called as `position(rows, columns)` and gives the encoding itself. Rotary ones turn
queries and keys inside an attention. Relative biases of the scores live in `regard.attention`.
"""

from regard.layers.position.cells import LearnedCells, WaveCells
from regard.layers.position.graph import Laplacian, laplacian
from regard.layers.position.rotary import Rotary, Rotary2d
from regard.layers.position.scaling import Dynamic, Linear, Llama3, LongRope, Scaling, Yarn
from regard.layers.position.sphere import Harmonics, Panorama, harmonics
from regard.layers.position.table import Learned, Learned2d, interpolate
from regard.layers.position.wave import Fourier, GroundSample, Sinusoidal, Sinusoidal2d, coordinates, sinusoid

__all__ = [
    "Dynamic",
    "Fourier",
    "GroundSample",
    "Harmonics",
    "Laplacian",
    "Learned",
    "Learned2d",
    "LearnedCells",
    "Linear",
    "Llama3",
    "LongRope",
    "Panorama",
    "Rotary",
    "Rotary2d",
    "Scaling",
    "Sinusoidal",
    "Sinusoidal2d",
    "WaveCells",
    "Yarn",
    "coordinates",
    "harmonics",
    "interpolate",
    "laplacian",
    "sinusoid",
]
