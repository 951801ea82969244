"""Two pictures in one, and their classes in the same shares: mixup and CutMix. A picture is mixed with its opposite in
the batch, the first with the last, as timm does it; all pictures of a batch in the same share."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.chance import Chance
from regard.vision.dice import beta


def one_hot(targets: Int[Tensor, " b"], classes: int, smoothing: float = 0.0) -> Float[Tensor, "b c"]:
    """Each class as shares of all: 1 - `smoothing` for it, and the rest for all alike."""
    shares = torch.full((len(targets), classes), smoothing / classes, device=targets.device)
    return shares.scatter(1, targets[:, None].long(), 1.0 - smoothing + smoothing / classes)


def mixup(
    images: Float[Tensor, "b c h w"], targets: Float[Tensor, "b k"], chance: Chance, alpha: float = 0.8
) -> tuple[Float[Tensor, "b c h w"], Float[Tensor, "b k"]]:
    """Pictures and targets, each a mean of two whose weight comes from a beta law (Zhang 2018)."""
    share = beta(chance, alpha)
    return images.lerp(images.flip(0), 1.0 - share), targets.lerp(targets.flip(0), 1.0 - share)


def cutmix(
    images: Float[Tensor, "b c h w"], targets: Float[Tensor, "b k"], chance: Chance, alpha: float = 1.0
) -> tuple[Float[Tensor, "b c h w"], Float[Tensor, "b k"]]:
    """Pictures with a rectangle of another one in them, and targets by what is seen of each (Yun 2019)."""
    height, width = images.shape[-2:]
    side = math.sqrt(1.0 - beta(chance, alpha))
    middle_y, middle_x = chance.below(height), chance.below(width)
    half_h, half_w = int(height * side) // 2, int(width * side) // 2
    rows = slice(max(middle_y - half_h, 0), min(middle_y + half_h, height))
    columns = slice(max(middle_x - half_w, 0), min(middle_x + half_w, width))
    mixed = images.clone()
    mixed[..., rows, columns] = images.flip(0)[..., rows, columns]
    other = (rows.stop - rows.start) * (columns.stop - columns.start) / (height * width)
    return mixed, targets.lerp(targets.flip(0), other)


def mix(
    images: Float[Tensor, "b c h w"],
    targets: Float[Tensor, "b k"],
    chance: Chance,
    *,
    mixup_alpha: float = 0.8,
    cutmix_alpha: float = 1.0,
    probability: float = 1.0,
    switch: float = 0.5,
) -> tuple[Float[Tensor, "b c h w"], Float[Tensor, "b k"]]:
    """A batch by mixup, by CutMix, or as it is, as chance has it; an alpha of 0 is never used (Touvron 2021, DeiT)."""
    if not chance.happens(probability) or not (mixup_alpha or cutmix_alpha):
        return images, targets
    cut = chance.happens(switch) if mixup_alpha and cutmix_alpha else bool(cutmix_alpha)
    if cut:
        return cutmix(images, targets, chance, cutmix_alpha)
    return mixup(images, targets, chance, mixup_alpha)
