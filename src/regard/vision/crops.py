"""Parts of a picture, by chance: a crop of any size and shape, and the many crops of DINO."""

import math
from collections.abc import Callable

from PIL import Image

from regard.chance import Chance
from regard.vision.colours import blur, colour_jitter, grey, solarize

Box = tuple[int, int, int, int]  # left, top, right, bottom
BICUBIC = Image.Resampling.BICUBIC
_TRIES = 10


def crop_box(
    width: int, height: int, chance: Chance, *, scale: tuple[float, float], ratio: tuple[float, float] = (3 / 4, 4 / 3)
) -> Box:
    """A part of a picture: `scale` bounds its share of the area, `ratio` its width over its height (Szegedy 2015)."""
    for _ in range(_TRIES):
        area = width * height * chance.uniform(*scale)
        shape = math.exp(chance.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
        if 0 < w <= width and 0 < h <= height:
            left, top = chance.below(width - w + 1), chance.below(height - h + 1)
            return left, top, left + w, top + h
    # A very long picture may have no such part: the middle, in the nearest shape that is allowed.
    shape = min(max(width / height, ratio[0]), ratio[1])
    w, h = min(width, max(1, round(height * shape))), min(height, max(1, round(width / shape)))
    left, top = (width - w) // 2, (height - h) // 2
    return left, top, left + w, top + h


def random_resized_crop(
    picture: Image.Image,
    size: int,
    chance: Chance,
    *,
    scale: tuple[float, float] = (0.08, 1.0),
    ratio: tuple[float, float] = (3 / 4, 4 / 3),
    resample: Image.Resampling = BICUBIC,
) -> Image.Image:
    """A part of a picture, resized to a square."""
    box = crop_box(picture.width, picture.height, chance, scale=scale, ratio=ratio)
    return picture.resize((size, size), resample, box=box)


def horizontal_flip(picture: Image.Image, chance: Chance, probability: float = 0.5) -> Image.Image:
    """A picture, or by chance its mirror image."""
    return picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if chance.happens(probability) else picture


def multi_crop(
    picture: Image.Image,
    chance: Chance,
    *,
    size: int = 224,
    small: int = 96,
    few: int = 8,
    scale: tuple[float, float] = (0.4, 1.0),
    small_scale: tuple[float, float] = (0.05, 0.4),
) -> tuple[list[Image.Image], list[Image.Image]]:
    """Two large crops and a few small ones, each in colours of its own (Caron 2021, DINO)."""

    def one(side: int, bounds: tuple[float, float], last: Callable[[Image.Image], Image.Image]) -> Image.Image:
        part = random_resized_crop(picture, side, chance, scale=bounds)
        return last(_coloured(horizontal_flip(part, chance), chance))

    def blurred(probability: float) -> Callable[[Image.Image], Image.Image]:
        return lambda part: blur(part, chance) if chance.happens(probability) else part

    def second(part: Image.Image) -> Image.Image:
        part = blurred(0.1)(part)
        return solarize(part) if chance.happens(0.2) else part

    large = [one(size, scale, blurred(1.0)), one(size, scale, second)]
    return large, [one(small, small_scale, blurred(0.5)) for _ in range(few)]


def _coloured(picture: Image.Image, chance: Chance) -> Image.Image:
    if chance.happens(0.8):
        picture = colour_jitter(picture, chance, brightness=0.4, contrast=0.4, saturation=0.2, hue=0.1)
    return grey(picture) if chance.happens(0.2) else picture
