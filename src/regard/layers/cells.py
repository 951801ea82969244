"""How inputs of any kind become cells and their places: sounds, pictures and films by patches, clouds by points.

What has narrower cells or fewer axes than a model reads is filled up with zeros, so that one config serves all of them.
"""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from regard.layers.position import coordinates

AXES, NUMBERS = "axes of a place", "numbers of a cell"  # what an input may have too many of


def cells(x: Float[Tensor, "b c *n"], patch: int = 1) -> tuple[Float[Tensor, "b m f"], Float[Tensor, "m a"]]:
    """The cells of a sound "b c t", a picture "b c h w" or a film "b c t h w" in reading order, and their places."""
    batch, channels, *sides = x.shape
    if uneven := [side for side in sides if side % patch]:
        raise ValueError(f"a side of {uneven[0]} does not split into patches of {patch}; crop it, or choose others")
    grid, axes = [side // patch for side in sides], len(sides)
    apart = x.reshape(batch, channels, *(part for side in grid for part in (side, patch)))
    order = [0, *range(2, 2 + 2 * axes, 2), *range(3, 3 + 2 * axes, 2), 1]
    return apart.permute(order).flatten(1 + axes).flatten(1, axes), coordinates(*grid).to(x)


def points(places: Float[Tensor, "b m a"]) -> tuple[Float[Tensor, "b m 0"], Float[Tensor, "b m a"]]:
    """A cloud as a model of places alone reads it: cells that hold nothing, and where they are."""
    return places.new_zeros(*places.shape[:2], 0), places


def filled_up(x: Float[Tensor, "*b m n"], width: int, *, front: bool, what: str) -> Float[Tensor, "*b m {width}"]:
    """Zeros beside the numbers of an input that has fewer of them than the model reads."""
    missing = width - x.shape[-1]
    if missing < 0:
        raise ValueError(f"{x.shape[-1]} {what} are more than the {width} of this model; set channels, patch or axes")
    return F.pad(x, (missing, 0) if front else (0, missing)) if missing else x
