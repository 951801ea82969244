"""Test-time augmentation: several views of a picture, what is said of which is averaged.

A classifier that was taught with mirrored and moved pictures errs less often about all of them than about one.
"""

from typing import Literal

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

# Nothing; the picture and its mirror image; both also moved by a pixel, up and left or down and right (Jordan 2024).
Tta = Literal["none", "mirror", "moved"]


def views(image: Float[Tensor, "b c h w"], tta: Tta) -> list[tuple[float, Float[Tensor, "b c h w"]]]:
    """The views of some pictures, each with its weight; the weights add up to 1."""
    if tta == "none":
        return [(1.0, image)]
    if tta == "mirror":
        return [(0.5, image), (0.5, image.flip(-1))]
    height, width = image.shape[-2:]
    around = F.pad(image, (1, 1, 1, 1), mode="reflect")
    moved = [around[..., shift : shift + height, shift : shift + width] for shift in (0, 2)]
    return [(0.25, image), (0.25, image.flip(-1)), *((0.125, view) for each in moved for view in (each, each.flip(-1)))]
