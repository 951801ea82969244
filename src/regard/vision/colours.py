"""The colours of a picture, by chance: brighter, greyer, of another hue, blurred, or turned over."""

from collections.abc import Callable

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

from regard.chance import Chance


def colour_jitter(
    picture: Image.Image,
    chance: Chance,
    *,
    brightness: float = 0.0,
    contrast: float = 0.0,
    saturation: float = 0.0,
    hue: float = 0.0,
) -> Image.Image:
    """Brightness, contrast and saturation times 1 ± so much, the hue ± that part of a circle, in any order."""
    steps: list[Callable[[Image.Image], Image.Image]] = []
    for enhance, most in (
        (ImageEnhance.Brightness, brightness),
        (ImageEnhance.Contrast, contrast),
        (ImageEnhance.Color, saturation),
    ):
        if most:
            factor = chance.uniform(max(0.0, 1.0 - most), 1.0 + most)
            steps.append(lambda image, enhance=enhance, factor=factor: enhance(image).enhance(factor))  # type: ignore[misc]
    if hue:
        turn = chance.uniform(-hue, hue)
        steps.append(lambda image: turn_hue(image, turn))
    for step in chance.sample(steps, len(steps)):
        picture = step(picture)
    return picture


def turn_hue(picture: Image.Image, turn: float) -> Image.Image:
    """Every hue moved by a part of the circle."""
    hue, saturation, value = picture.convert("HSV").split()
    table = ((np.arange(256) + round(turn * 255)) % 256).tolist()
    return Image.merge("HSV", (hue.point(table), saturation, value)).convert("RGB")


def grey(picture: Image.Image) -> Image.Image:
    """A picture without colours, still of three channels."""
    return picture.convert("L").convert("RGB")


def solarize(picture: Image.Image, threshold: int = 128) -> Image.Image:
    """Light pixels turned into their opposite."""
    return ImageOps.solarize(picture, threshold)


def blur(picture: Image.Image, chance: Chance, *, radius: tuple[float, float] = (0.1, 2.0)) -> Image.Image:
    """A picture out of focus, more or less."""
    return picture.filter(ImageFilter.GaussianBlur(chance.uniform(*radius)))


def three_augment(picture: Image.Image, chance: Chance, *, jitter: float = 0.3) -> Image.Image:
    """Grey, solarized or blurred, one of the three, and then a jitter of colours (Touvron 2022, DeiT III)."""
    which = chance.below(3)
    picture = grey(picture) if which == 0 else solarize(picture) if which == 1 else blur(picture, chance)
    return colour_jitter(picture, chance, brightness=jitter, contrast=jitter, saturation=jitter)
