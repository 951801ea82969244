"""RandAugment (Cubuk 2020): a few of fourteen operations by chance, all of one strength.

Strength runs from 0 to 10 and grows for every operation; the ranges are those of timm's "increasing" set, except that
posterizing keeps 8 to 4 bits as in the paper, where timm goes down to 0.
"""

from collections.abc import Callable

from PIL import Image, ImageEnhance, ImageOps

from regard.chance import Chance
from regard.vision.dice import normal

GROUND = (124, 116, 104)  # ImageNet's mean colour, where there is no picture
BILINEAR = Image.Resampling.BILINEAR

Step = Callable[[Image.Image, float], Image.Image]


def _enhanced(kind: Callable[[Image.Image], ImageEnhance._Enhance]) -> Step:
    return lambda image, share: kind(image).enhance(1.0 + 0.9 * share)


def _moved(image: Image.Image, *matrix: float) -> Image.Image:
    return image.transform(image.size, Image.Transform.AFFINE, matrix, resample=BILINEAR, fillcolor=GROUND)


# Each is given a share of the most that it may do, from -1 to 1; some are the same either way.
STEPS: dict[str, Step] = {
    "identity": lambda image, _: image,
    "autocontrast": lambda image, _: ImageOps.autocontrast(image),
    "equalize": lambda image, _: ImageOps.equalize(image),
    "rotate": lambda image, share: image.rotate(30.0 * share, resample=BILINEAR, fillcolor=GROUND),
    "solarize": lambda image, share: ImageOps.solarize(image, 256 - int(256 * abs(share))),
    "posterize": lambda image, share: ImageOps.posterize(image, 8 - int(4 * abs(share))),
    "colour": _enhanced(ImageEnhance.Color),
    "contrast": _enhanced(ImageEnhance.Contrast),
    "brightness": _enhanced(ImageEnhance.Brightness),
    "sharpness": _enhanced(ImageEnhance.Sharpness),
    "shear x": lambda image, share: _moved(image, 1.0, 0.3 * share, 0.0, 0.0, 1.0, 0.0),
    "shear y": lambda image, share: _moved(image, 1.0, 0.0, 0.0, 0.3 * share, 1.0, 0.0),
    "translate x": lambda image, share: _moved(image, 1.0, 0.0, 0.45 * share * image.width, 0.0, 1.0, 0.0),
    "translate y": lambda image, share: _moved(image, 1.0, 0.0, 0.0, 0.0, 1.0, 0.45 * share * image.height),
}
_NAMES = tuple(STEPS)


def rand_augment(
    picture: Image.Image,
    chance: Chance,
    *,
    count: int = 2,
    magnitude: float = 9.0,
    spread: float = 0.5,
    probability: float = 1.0,
) -> Image.Image:
    """Some operations of one strength, which varies by `spread`; each is done with a `probability` (timm's is 0.5)."""
    if not 0.0 <= magnitude <= 10.0:
        raise ValueError(f"magnitude {magnitude} is out of bounds; give 0 to 10, say 9")
    for _ in range(count):
        step = STEPS[chance.choose(_NAMES)]
        if chance.happens(probability):
            strength = magnitude + spread * normal(chance) if spread else magnitude
            share = min(max(strength, 0.0), 10.0) / 10.0
            picture = step(picture, -share if chance.happens(0.5) else share)
    return picture
