"""The mathematics of attention: one equation, one module, five independent choices.

Who asks (q) · who answers (k, v) · how they are scored · who may see whom · which tokens are grouped.
"""

from regard.attention.attention import Attention, Latent, Partitioned, additive, bilinear, latent, location, multihead
from regard.attention.bias import (
    Alibi,
    Buckets,
    Continuous2d,
    Decomposed2d,
    Distances2d,
    Quadratic2d,
    Relative2d,
    Shaw,
)
from regard.attention.core import Additive, Dot, Edit, Location, Look, Score, mix, weigh
from regard.attention.disentangled import Disentangled, Distances, disentangled
from regard.attention.edits import off, only, then, uniform
from regard.attention.hard import Picked, pick
from regard.attention.masks import (
    Causal,
    Packed,
    both,
    causal,
    either,
    local,
    media,
    packed,
    padding,
    prefix,
    read_visible,
    strided,
)
from regard.attention.memory import Memory
from regard.attention.partition import Atrous, Axis, Dilated, Grid, Layout, Partition, Shifted, Window, grid
from regard.attention.recorder import record
from regard.attention.trace import Trace

__all__ = [
    "Additive",
    "Alibi",
    "Atrous",
    "Attention",
    "Axis",
    "Buckets",
    "Causal",
    "Continuous2d",
    "Decomposed2d",
    "Dilated",
    "Disentangled",
    "Distances",
    "Distances2d",
    "Dot",
    "Edit",
    "Grid",
    "Latent",
    "Layout",
    "Location",
    "Look",
    "Memory",
    "Packed",
    "Partition",
    "Partitioned",
    "Picked",
    "Quadratic2d",
    "Relative2d",
    "Score",
    "Shaw",
    "Shifted",
    "Trace",
    "Window",
    "additive",
    "bilinear",
    "both",
    "causal",
    "disentangled",
    "either",
    "grid",
    "latent",
    "local",
    "location",
    "media",
    "mix",
    "multihead",
    "off",
    "only",
    "packed",
    "padding",
    "pick",
    "prefix",
    "read_visible",
    "record",
    "strided",
    "then",
    "uniform",
    "weigh",
]
