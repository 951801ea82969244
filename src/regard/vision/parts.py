"""Crops of a whole batch of pictures at once, as tensors, each in colours of its own: the views of DINO.

Also windows of pictures from several heights, which Scale-MAE learns from.

`crops.multi_crop` does the same for one picture of any size, more carefully where a crop has to shrink much. Here
pictures are small already, and are read between their pixels, which is faster.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from torch import Tensor

from regard.chance import Chance
from regard.vision.dice import integers, uniforms

USUAL = 224  # the side of pictures for which the paper says how far they are blurred
LIGHT = (0.299, 0.587, 0.114)  # how bright red, green and blue are
# To brightness and two axes of colour, in which a hue is an angle (NTSC's YIQ).
YIQ = ((0.299, 0.587, 0.114), (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112))


def part_crops(
    pixels: UInt8[np.ndarray, "b h w 3"],
    chance: Chance,
    *,
    size: int,
    count: int,
    scale: tuple[float, float],
    ratio: tuple[float, float] = (3 / 4, 4 / 3),
) -> Float[Tensor, "b v 3 s s"]:
    """So many parts of each picture, mirrored or not, from 0 to 1; `scale` bounds their share of the area."""
    number = len(pixels) * count
    area, shape, x, y, side = (torch.from_numpy(uniforms(chance, number)).float() for _ in range(5))
    area = scale[0] + (scale[1] - scale[0]) * area
    shape = (math.log(ratio[0]) + (math.log(ratio[1]) - math.log(ratio[0])) * shape).exp()
    width, height = ((area * each).sqrt().clamp(max=1.0) for each in (shape, 1 / shape))
    # Coordinates run from -1 to 1: where the middle of the crop lies, and how far it reaches from there.
    middle_x, middle_y = (1 - width) * (2 * x - 1), (1 - height) * (2 * y - 1)
    zero, mirror = torch.zeros(number), torch.where(side < 0.5, -1.0, 1.0)
    rows = ((width * mirror, zero, middle_x), (zero, height, middle_y))
    theta = torch.stack([torch.stack(row, dim=-1) for row in rows], dim=1)
    image = torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))).float().div_(255)
    grid = F.affine_grid(theta, [number, 3, size, size], align_corners=False)
    found = F.grid_sample(image.repeat_interleave(count, dim=0), grid, padding_mode="border", align_corners=False)
    return torch.unflatten(found, 0, (len(pixels), count))


def windows(
    pixels: UInt8[np.ndarray, "b h h 3"], chance: Chance, *, size: int, scales: Sequence[int]
) -> tuple[Float[Tensor, "b 3 s s"], Float[Tensor, " b"]]:
    """A window of each picture from one of several heights, from 0 to 1, and how much of the ground a pixel shows.

    At scale 1 it is the whole picture, at 2 a quarter of it, twice as large. Pictures are given at the largest scale.
    """
    most, number = max(scales), len(pixels)
    if pixels.shape[1] != size * most or any(most % scale for scale in scales):
        raise ValueError(
            f"pictures of {pixels.shape[1]} pixels have no windows of {size} at scales {', '.join(map(str, scales))}; "
            f"give pictures of {size * most}, and scales that divide {most}"
        )
    chosen = np.asarray(scales)[integers(chance, number, len(scales))]
    x, y = uniforms(chance, number), uniforms(chance, number)
    found = torch.empty(number, 3, size, size)
    for scale in set(scales):
        rows = np.flatnonzero(chosen == scale)
        image = torch.from_numpy(np.ascontiguousarray(pixels[rows].transpose(0, 3, 1, 2))).float().div_(255)
        image = F.avg_pool2d(image, most // scale)
        room = size * (scale - 1) + 1
        for row, one in zip(rows.tolist(), image, strict=True):
            top, left = int(y[row] * room), int(x[row] * room)
            found[row] = one[:, top : top + size, left : left + size]
    return found, torch.from_numpy(1 / chosen).float()


def recolour(
    image: Float[Tensor, "n 3 h w"], chance: Chance, strength: float, *, blurred: float = 0.5, solarized: float = 0.0
) -> Float[Tensor, "n 3 h w"]:
    """Pictures from 0 to 1, each brighter, paler or of another hue, grey, out of focus or solarized by chance.

    At strength 1 it is DINO's; at 0 nothing happens.
    """
    if not strength:
        return image
    number = len(image)

    def draw(low: float, high: float) -> Tensor:
        return low + (high - low) * torch.from_numpy(uniforms(chance, number)).float()[:, None, None]

    def some(probability: float) -> Tensor:
        return draw(0.0, 1.0) < probability

    # All that happens to colours is linear, so that it happens at once: a matrix for each picture, and what is added.
    light, same = torch.tensor(LIGHT), torch.eye(3)
    grey = light.expand(3, 3)
    bright, contrast = (draw(1 - 0.4 * strength, 1 + 0.4 * strength) for _ in range(2))
    pale = draw(1 - 0.2 * strength, 1 + 0.2 * strength)
    matrix = _turn(2 * math.pi * draw(-0.1 * strength, 0.1 * strength)) @ (pale * same + (1 - pale) * grey)
    matrix, middle = matrix * bright * contrast, bright[..., 0] * image.mean(dim=(2, 3)) @ light[:, None]
    chosen = some(0.8)
    matrix = torch.where(chosen, matrix, same)
    added = torch.where(chosen, (1 - contrast) * middle[..., None], 0.0)
    matrix = torch.where(some(0.2 * strength), grey @ matrix, matrix)
    found = torch.baddbmm(added, matrix, image.flatten(2)).clamp_(0, 1).view_as(image)
    sigma, unsharp = draw(0.1, 2.0 * strength * image.shape[-1] / USUAL).flatten(), some(blurred).flatten()
    if unsharp.any():
        found[unsharp] = _blur(found[unsharp], sigma[unsharp])
    dark = some(solarized * strength).flatten()
    found[dark] = torch.where(found[dark] < 0.5, found[dark], 1 - found[dark])
    return found


def _turn(angle: Float[Tensor, "n 1 1"]) -> Float[Tensor, "n 3 3"]:
    """What moves every hue by an angle."""
    to = torch.tensor(YIQ)
    turned = torch.zeros(len(angle), 3, 3)
    turned[:, 0, 0] = 1
    turned[:, 1, 1] = turned[:, 2, 2] = angle.cos().flatten()
    turned[:, 2, 1] = angle.sin().flatten()
    turned[:, 1, 2] = -turned[:, 2, 1]
    whole: Tensor = torch.linalg.inv(to) @ turned @ to
    return whole


def _blur(image: Float[Tensor, "n 3 h w"], sigma: Float[Tensor, " n"]) -> Float[Tensor, "n 3 h w"]:
    """Each picture out of focus by as many pixels."""
    reach = max(1, math.ceil(2 * float(sigma.max())))
    places = torch.arange(-reach, reach + 1.0)
    bell = (-0.5 * (places / sigma.clamp(min=1e-3)[:, None]).square()).softmax(dim=-1)
    kernel = bell.repeat_interleave(3, dim=0)
    number, _, height, width = image.shape
    x = F.pad(image, (reach, reach, reach, reach), mode="replicate").view(1, number * 3, height + 2 * reach, -1)
    x = F.conv2d(x, kernel[:, None, :, None], groups=3 * number)
    return F.conv2d(x, kernel[:, None, None], groups=3 * number).view(number, 3, height, width)
