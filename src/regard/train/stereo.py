"""What two eyes teach a model that sees with one: the other's picture, warped by disparities, is the own (Godard 2017).

Three terms for each eye and at each size (equation 1 of the paper): how far the warped picture is from the true one, by
structure and by colour; how rough disparities are where the picture is smooth; and how far the disparities of one eye
are from those of the other. Disparities are shares of the width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

Pair = tuple[Float[Tensor, "b c h w"], Float[Tensor, "b c h w"]]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each term counts; those of the paper."""

    structure: float = 0.85  # of the appearance, beside colours
    smooth: float = 0.1  # at the finest size, and half as much at each coarser one
    agree: float = 1.0


class Loss(NamedTuple):
    """The terms, each the mean over pixels, summed over eyes and sizes, and their weighted sum; one for each pair."""

    total: Float[Tensor, " b"]
    appearance: Float[Tensor, " b"]
    rough: Float[Tensor, " b"]
    apart: Float[Tensor, " b"]


def warp(image: Float[Tensor, "b c h w"], shift: Float[Tensor, "b h w"]) -> Float[Tensor, "b c h w"]:
    """Each pixel from `shift` of the width further right, blended from the two there; beyond the border, the border.

    With the disparity of the left eye turned round, the right picture becomes the left one.
    """
    width = image.shape[-1]
    place = (torch.arange(width, device=shift.device) + shift * width).clamp(0, width - 1)
    first = place.detach().floor().clamp(max=max(width - 2, 0))
    part = (place - first)[:, None]
    column = first.long()[:, None].expand(-1, image.shape[1], -1, -1)
    start, end = (image.gather(-1, (column + i).clamp(max=width - 1)) for i in (0, 1))
    return start + (end - start) * part


def dissimilarity(one: Float[Tensor, "b c h w"], other: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c i j"]:
    """Half of what is missing to a structural similarity of 1, over blocks of 3×3 pixels (Wang 2004), from 0 to 1.

    Pictures run from 0 to 1.
    """
    a, b = (F.avg_pool2d(x, 3, 1) for x in (one, other))
    aa, bb, ab = (F.avg_pool2d(x, 3, 1) for x in (one * one, other * other, one * other))
    alike = (2 * a * b + 0.01**2) * (2 * (ab - a * b) + 0.03**2)
    most = (a * a + b * b + 0.01**2) * (aa - a * a + bb - b * b + 0.03**2)
    return ((1 - alike / most) / 2).clamp(0, 1)


def appearance(
    one: Float[Tensor, "b c h w"], other: Float[Tensor, "b c h w"], structure: float = 0.85
) -> Float[Tensor, " b"]:
    """How different two pictures are, by structure and by colour (equation 2)."""
    colour = (one - other).abs().mean(dim=(1, 2, 3))
    if not structure:
        return colour
    return structure * dissimilarity(one, other).mean(dim=(1, 2, 3)) + (1 - structure) * colour


def roughness(disparity: Float[Tensor, "b h w"], image: Float[Tensor, "b c h w"]) -> Float[Tensor, " b"]:
    """How much disparities change from pixel to pixel, less where the picture changes too (equation 3)."""
    found = disparity.new_zeros(len(disparity))
    for dim in (-1, -2):
        edges = image.diff(dim=dim).abs().mean(dim=1)
        found = found + (disparity.diff(dim=dim).abs() * (-edges).exp()).mean(dim=(1, 2))
    return found


def stereo_loss(scales: Sequence[Float[Tensor, "b 2 _ _"]], pair: Pair, weights: Weights = Weights()) -> Loss:
    """The loss of disparities of both eyes at several sizes, the finest first; pictures run from 0 to 1."""
    left, right = pair
    if left.shape != right.shape:
        raise ValueError(f"pictures of {_sides(left)} and {_sides(right)} are no pair; give two of one size")
    found = []
    for level, both in enumerate(scales):
        size = (both.shape[-2], both.shape[-1])
        here, there = (
            image if size == image.shape[-2:] else F.interpolate(image, size=size, mode="area") for image in pair
        )
        of_left, of_right = both.unbind(dim=1)
        seen = appearance(warp(there, -of_left), here, weights.structure) + appearance(
            warp(here, of_right), there, weights.structure
        )
        rough = roughness(of_left, here) + roughness(of_right, there)
        apart = _apart(of_left, of_right, -1) + _apart(of_right, of_left, 1)
        found.append((seen, rough / 2**level, apart))
    seen, rough, apart = (torch.stack(term).sum(dim=0) for term in zip(*found, strict=True))
    return Loss(seen + weights.smooth * rough + weights.agree * apart, seen, rough, apart)


def supervised_loss(scales: Sequence[Float[Tensor, "b 2 _ _"]], truth: Float[Tensor, "b 2 h w"]) -> Float[Tensor, " b"]:
    """How far disparities are from true ones, the mean over what is known of them, summed over sizes.

    True ones are shares of the width, and 0 where nobody knows.
    """
    lost = truth.new_zeros(len(truth))
    for both in scales:
        # Each coarse pixel takes the truth of one fine pixel, since the mean of two depths is neither.
        real = F.interpolate(truth, size=both.shape[-2:])
        known = real > 0
        off = ((both - real).abs() * known).sum(dim=(1, 2, 3))
        lost = lost + off / known.sum(dim=(1, 2, 3)).clamp(min=1)
    return lost


def _apart(own: Float[Tensor, "b h w"], other: Float[Tensor, "b h w"], way: int) -> Float[Tensor, " b"]:
    """How far disparities of one eye are from those of the other at the place that they name (equation 4)."""
    return (own - warp(other[:, None], way * own)[:, 0]).abs().mean(dim=(1, 2))


def _sides(image: Tensor) -> str:
    return f"{image.shape[-2]}×{image.shape[-1]}"
