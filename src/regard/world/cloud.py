"""Point clouds: places on the visible surfaces, with their colour and the thing they belong to."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int8, UInt8

from regard.chance import Chance
from regard.world import noise
from regard.world.picture import Picture
from regard.world.scene import FOCAL


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Points in metres: x to the right, y downwards, z away from the eye, which is the origin."""

    xyz: Float32[np.ndarray, "n 3"]
    rgb: UInt8[np.ndarray, "n 3"]
    instance: Int8[np.ndarray, " n"]  # the thing, or -1 for the backdrop


def points(picture: Picture, count: int = 1024, seed: int = 0) -> Cloud:
    """So many points of what is seen, no pixel twice, in random order."""
    pixels = picture.size**2
    if not 1 <= count <= pixels:
        raise ValueError(
            f"{count} points cannot be taken from {pixels} pixels; ask for 1 to {pixels}, or render a larger picture"
        )
    order = np.argsort(noise.uniform(Chance(seed, "cloud"), pixels), kind="stable")[:count]
    down, across = np.divmod(order, picture.size)
    z = picture.depth[down, across]
    x, y = (((place + 0.5) / picture.size - 0.5).astype(np.float32) * z / np.float32(FOCAL) for place in (across, down))
    return Cloud(np.stack([x, y, z], axis=1), picture.rgb[down, across], picture.instance[down, across])
