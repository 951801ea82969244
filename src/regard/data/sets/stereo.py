"""Middlebury's rooms and still lifes for two eyes, with true disparities (Scharstein 2002, 2003; Hirschmüller 2007).

And its motorcycle of 2014, where scikit-image is installed, which brings that pair.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.eyes import EyePairs, Eyes
from regard.data.fetch import get
from regard.data.tarred import Tarred
from regard.files import read_json
from regard.vision.picture import from_array, to_array

# fmt: off
DATASET = Dataset(
    name="stereo",
    kind="stereo",
    about="rooms and still lifes for two eyes with true disparities, and scikit-image's motorcycle (Middlebury)",
    terms="research; cite the authors",
    home="https://vision.middlebury.edu/stereo/data",
    splits={"train": 5, "val": 2, "test": 2, "motorcycle": 1},  # so few are held out that val and test are the same
    files=(
        File("images.tar", 5_621_760, "b6b58725c754635f65192f5395a5ddbeea5ce003f6ddf7fd6160898d898aecc8"),
        File("scenes.json", 2_352, "d3d9943c68a04346d676dfe3e1f611533c77694b75123c8190397ee403cea61f"),
    ),
)
# fmt: on
HELD = ("venus", "reindeer")  # an old scene and a newer one


def eyes(split: str) -> EyePairs:
    """The scenes of a split."""
    if split == "motorcycle":
        return EyePairs(("motorcycle",), _motorcycle)
    images, about = get(DATASET)
    chosen = [each for each in read_json(about)["scenes"] if (each["name"] in HELD) == (split != "train")]
    parts = ("left", "right", "disparity", "disparity_right")
    members = tuple(each[part] for each in chosen for part in parts if each[part])
    packed = Tarred.of(images, members)
    return EyePairs(tuple(each["name"] for each in chosen), _Scenes(packed, tuple(chosen)))


@dataclass(frozen=True, slots=True, eq=False)
class _Scenes:
    packed: Tarred
    about: tuple[dict[str, Any], ...]

    def __call__(self, index: int) -> Eyes:
        about = self.about[index]
        left, right = (self._open(about[part]) for part in ("left", "right"))
        truths = (about["disparity"], about["disparity_right"])
        # A grey value is a disparity times the scale of its scene, and 0 is unknown.
        return Eyes(
            left,
            right,
            *(to_array(self._open(name))[:, :, 0] / np.float32(about["scale"]) if name else None for name in truths),
        )

    def _open(self, name: str) -> Image.Image:
        return self.packed(self.packed.names.index(name))


def _motorcycle(_: int) -> Eyes:
    try:
        from skimage.data import stereo_motorcycle  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise DataError(
            "the motorcycle comes with scikit-image, which is not installed; pip install scikit-image pooch"
        ) from None
    left, right, disparity = stereo_motorcycle()
    known = np.where(np.isfinite(disparity), disparity, 0).astype(np.float32)
    return Eyes(from_array(left), from_array(right), known)
