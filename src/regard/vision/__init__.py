"""Pictures: opened safely, prepared for models, varied for training; boxes and masks.

What is offered is imported when somebody asks for it: who only opens a picture does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.vision import boxes as boxes
    from regard.vision import rle as rle
    from regard.vision.boxes import area as area
    from regard.vision.boxes import generalised_iou as generalised_iou
    from regard.vision.boxes import iou as iou
    from regard.vision.boxes import nms as nms
    from regard.vision.boxes import to_centres as to_centres
    from regard.vision.boxes import to_corners as to_corners
    from regard.vision.colours import colour_jitter as colour_jitter
    from regard.vision.colours import three_augment as three_augment
    from regard.vision.crops import multi_crop as multi_crop
    from regard.vision.crops import random_resized_crop as random_resized_crop
    from regard.vision.mixing import cutmix as cutmix
    from regard.vision.mixing import mix as mix
    from regard.vision.mixing import mixup as mixup
    from regard.vision.mixing import one_hot as one_hot
    from regard.vision.picture import PictureError as PictureError
    from regard.vision.picture import from_array as from_array
    from regard.vision.picture import open_picture as open_picture
    from regard.vision.picture import to_array as to_array
    from regard.vision.processor import Padded as Padded
    from regard.vision.processor import Processor as Processor
    from regard.vision.randaugment import rand_augment as rand_augment
    from regard.vision.sizing import Size as Size
    from regard.vision.whole import erase as erase
    from regard.vision.whole import flip as flip
    from regard.vision.whole import pad_and_crop as pad_and_crop
    from regard.vision.whole import repeated as repeated

_HOMES = {
    "boxes": ("area", "generalised_iou", "iou", "nms", "to_centres", "to_corners"),
    "colours": ("colour_jitter", "three_augment"),
    "crops": ("multi_crop", "random_resized_crop"),
    "mixing": ("cutmix", "mix", "mixup", "one_hot"),
    "picture": ("PictureError", "from_array", "open_picture", "to_array"),
    "processor": ("Padded", "Processor"),
    "randaugment": ("rand_augment",),
    "sizing": ("Size",),
    "whole": ("erase", "flip", "pad_and_crop", "repeated"),
}
_MODULES = ("boxes", "rle")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"regard.vision.{name}")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"regard.vision.{home}"), name)
    raise AttributeError(f"regard.vision has no {name!r}; it has {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return sorted((*_MODULES, *(name for names in _HOMES.values() for name in names)))
