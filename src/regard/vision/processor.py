"""How pictures become the tensors that a model was trained on, as Hugging Face's preprocessor_config.json says it.

Pixels stay uint8 until the last step, which looks each up in a table of 256 numbers: so the result is the very one of
`transformers`' processors on Pillow, and it is quick.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, UInt8
from PIL import Image
from torch import Tensor

from regard.names import nearest
from regard.vision.centre import crop_centre
from regard.vision.picture import PIXELS, PictureError, from_array, to_array
from regard.vision.sizing import LARGEST, Size, shortest

HALF = (0.5, 0.5, 0.5)
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
BILINEAR, BICUBIC = int(Image.Resampling.BILINEAR), int(Image.Resampling.BICUBIC)

Colours = tuple[float, float, float]
Shown = Image.Image | UInt8[np.ndarray, "_ _ 3"]


_SQUARE = Size(height=224, width=224)
_WARPED = 384  # ConvNeXt, from this size on, distorts a picture instead of cropping it


class Padded(NamedTuple):
    """Pictures of several sizes in one tensor, and where there is a picture and not padding."""

    image: Float[Tensor, "b 3 h w"]
    visible: Bool[Tensor, "b h w"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor:
    """What is done to a picture before a model sees it; the names are those of preprocessor_config.json.

    Three channels come out, so that every picture is made RGB, whatever `do_convert_rgb` says.
    """

    image_processor_type: str = "ViTImageProcessor"  # some resize in a way of their own
    do_convert_rgb: bool = True
    do_resize: bool = True
    size: Size = _SQUARE
    resample: int = BILINEAR  # a filter, by Pillow's number
    crop_pct: float | None = None  # of ConvNeXt: below 384 pixels, this share of what was resized is kept
    do_center_crop: bool = False
    crop_size: tuple[int, int] | None = None  # height and width
    do_rescale: bool = True
    rescale_factor: float = 1 / 255
    rescale_offset: bool = False  # from -1 on instead of 0
    do_normalize: bool = True
    image_mean: Colours = HALF
    image_std: Colours = HALF
    include_top: bool = False  # of EfficientNet: divided by image_std once more
    do_pad: bool = False
    pad_size: tuple[int, int] | None = None  # of the batch; else what its largest picture needs

    def __post_init__(self) -> None:
        _check(self)

    @staticmethod
    def from_json(config: Mapping[str, Any]) -> "Processor":
        """Read what a preprocessor_config.json says, in its present form or an older one; a ValueError for the rest."""
        return _read(config)

    def to_json(self) -> dict[str, Any]:
        """The same as an object for preprocessor_config.json."""
        said: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        said |= {"size": self.size.to_json(), "image_mean": list(self.image_mean), "image_std": list(self.image_std)}
        for name in ("crop_size", "pad_size"):
            if said[name] is not None:
                said[name] = dict(zip(("height", "width"), said[name], strict=True))
        for name in ("rescale_offset", "include_top"):  # which EfficientNet's alone knows
            if not (said[name] or self._is("EfficientNet")):
                del said[name]
        return {name: value for name, value in said.items() if value is not None}

    def __call__(self, pictures: Sequence[Shown] | Shown) -> Float[Tensor, "b 3 h w"]:
        """A batch of pictures as the model wants them."""
        return self.pad(pictures).image

    def pad(self, pictures: Sequence[Shown] | Shown) -> Padded:
        """The same, and which places of each picture are not padding."""
        some = [pictures] if isinstance(pictures, Image.Image | np.ndarray) else list(pictures)
        if not some:
            raise ValueError("no pictures make no batch; give 1 or more")
        cut = [self.cut(each) for each in some]
        height, width = self._common(cut)
        table = torch.from_numpy(self._table())
        image = torch.zeros(len(cut), 3, height, width)
        visible = torch.zeros(len(cut), height, width, dtype=torch.bool)
        for i, pixels in enumerate(cut):
            rows, columns = pixels.shape[:2]
            places = torch.from_numpy(pixels.transpose(2, 0, 1).astype(np.int32))
            for channel in range(3):
                image[i, channel, :rows, :columns] = (
                    table[channel].index_select(0, places[channel].flatten()).view(rows, columns)
                )
            visible[i, :rows, :columns] = True
        return Padded(image, visible)

    def numbers(self, pixels: UInt8[np.ndarray, "b h w 3"]) -> Float[Tensor, "b 3 h w"]:
        """The same of pictures that were cut before, faster: in each channel, all values lie on a line."""
        first, last = (torch.from_numpy(self._table()[:, i]).view(3, 1, 1) for i in (0, 255))
        image = torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))).float()
        return image.mul_((last - first) / 255).add_(first)

    def cut(self, picture: Shown) -> UInt8[np.ndarray, "h w 3"]:
        """One picture resized and cropped, before its pixels become numbers."""
        image = picture if isinstance(picture, Image.Image) else from_array(picture)
        if image.mode != "RGB":
            image = from_array(to_array(image))
        if not self.do_resize:
            pixels = to_array(image)
        else:
            height, width = self.resized(image.height, image.width)
            if height * width > PIXELS:
                raise PictureError(
                    f"a picture of {image.height:,} × {image.width:,} would be resized to {height:,} × {width:,}, "
                    f"which is more than {PIXELS:,} pixels; cut out a part that is less narrow"
                )
            pixels = to_array(image.resize((width, height), resample=self.resample))
            if self._is("ConvNext") and (edge := self.size.shortest_edge or 0) < _WARPED:
                pixels = crop_centre(pixels, edge, edge)
        if self.do_center_crop and self.crop_size is not None:
            pixels = crop_centre(pixels, *self.crop_size)
        return pixels

    def resized(self, height: int, width: int) -> tuple[int, int]:
        """The sides to which a picture of such sides is resized, before it is cropped."""
        edge = self.size.shortest_edge
        if edge is None or self.size.longest_edge is not None:
            return self.size.of(height, width)
        if self._is("ConvNext"):
            if edge >= _WARPED:
                return edge, edge
            return shortest(height, width, int(edge / (self.crop_pct or 1.0)))
        if self._is("Levit"):
            return shortest(height, width, int((256 / 224) * edge))
        return self.size.of(height, width)

    def _is(self, family: str) -> bool:
        return self.image_processor_type.startswith(family)

    def _common(self, cut: list[np.ndarray]) -> tuple[int, int]:
        """The sides of the batch."""
        height, width = max(each.shape[0] for each in cut), max(each.shape[1] for each in cut)
        if self.do_pad:
            if self.pad_size is None:
                return height, width
            if height > self.pad_size[0] or width > self.pad_size[1]:
                raise ValueError(
                    f"a picture of {height} × {width} does not fit pad_size {self.pad_size[0]} × {self.pad_size[1]}; "
                    "give a larger one, or a smaller size"
                )
            return self.pad_size
        if any(each.shape[:2] != (height, width) for each in cut):
            sides = sorted({f"{each.shape[0]} × {each.shape[1]}" for each in cut})
            raise ValueError(
                f"pictures of {', '.join(sides[:3])} are no batch; give them one by one, or a processor with do_pad"
            )
        return height, width

    def _table(self) -> Float32[np.ndarray, "3 256"]:
        """What each of 256 values becomes in each channel, in the steps and roundings of `transformers`."""
        values = np.arange(256, dtype=np.float64)
        if self.do_rescale:
            values = values * self.rescale_factor
        table = np.tile(values.astype(np.float32), (3, 1))
        if self.do_rescale and self.rescale_offset:
            table -= 1
        mean, std = (np.asarray(each, np.float32)[:, None] for each in (self.image_mean, self.image_std))
        if self.do_normalize:
            table = (table - mean) / std
        if self.include_top:
            table = table / std
        return table


def _check(processor: Processor) -> None:
    if processor.resample not in {int(each) for each in Image.Resampling}:
        raise ValueError(f"resample {processor.resample} is no filter of Pillow; give 0 to 5, say 3 for bicubic")
    if processor.do_center_crop and processor.crop_size is None:
        raise ValueError("do_center_crop needs a crop_size; give height and width")
    if processor.crop_pct is not None and not 0.01 <= processor.crop_pct <= 1.0:
        raise ValueError(f"crop_pct {processor.crop_pct} is no share of a picture; give 0.01 to 1, say 0.875")
    if processor.image_processor_type.startswith("ConvNext") and processor.size.shortest_edge is None:
        raise ValueError(f"ConvNext needs a size with shortest_edge, not {processor.size.to_json()}; give one")
    for name in ("image_mean", "image_std"):
        value = getattr(processor, name)
        if len(value) != 3 or not all(np.isfinite(each) for each in value):
            raise ValueError(f"{name} {value} is not clear; give three numbers: red, green and blue")
    if 0.0 in processor.image_std:
        raise ValueError(f"image_std {processor.image_std} would divide by 0; give numbers above 0")
    if not np.isfinite(processor.rescale_factor):
        raise ValueError(f"rescale_factor {processor.rescale_factor} is no number; give one, say 1/255")


_CLIP = Processor(
    size=Size(shortest_edge=224),
    resample=BICUBIC,
    do_center_crop=True,
    crop_size=(224, 224),
    image_mean=CLIP_MEAN,
    image_std=CLIP_STD,
)
# What each processor of theirs does where its file says nothing.
_KINDS: dict[str, Processor] = {
    "ViT": Processor(),
    "Siglip": Processor(resample=BICUBIC),
    "DeiT": Processor(size=Size(height=256, width=256), resample=BICUBIC, do_center_crop=True, crop_size=(224, 224)),
    "ConvNext": Processor(size=Size(shortest_edge=384), resample=BICUBIC, crop_pct=224 / 256),
    "Levit": replace(_CLIP, image_mean=IMAGENET_MEAN, image_std=IMAGENET_STD),
    "CLIP": _CLIP,
    "Bit": _CLIP,
    "EfficientNet": Processor(
        size=Size(height=346, width=346), resample=BICUBIC, crop_size=(289, 289), include_top=True
    ),
    "Detr": Processor(
        size=Size(shortest_edge=800, longest_edge=1333), do_pad=True, image_mean=IMAGENET_MEAN, image_std=IMAGENET_STD
    ),
    "Sam": Processor(
        size=Size(longest_edge=1024),
        do_pad=True,
        pad_size=(1024, 1024),
        image_mean=IMAGENET_MEAN,
        image_std=IMAGENET_STD,
    ),
}
_SQUARES = ("ViT", "Siglip", "DeiT", "EfficientNet")  # to them, a size that is one number means both sides

# What says how a file was written, or how targets or a call are treated: no pixel depends on it.
_ASIDE = (
    *("processor_class", "_processor_class", "_valid_processor_keys", "_valid_kwargs_names", "model_input_names"),
    *("device", "disable_grouping", "return_tensors", "format", "do_convert_annotations", "mask_size", "mask_pad_size"),
    "default_to_square",  # a size that is one number is read by what the processor is, as theirs do
)
_ONLY = {"data_format": "channels_first", "reduce_labels": False, "do_reduce_labels": False}
_ENDS = ("ImageProcessorFast", "ImageProcessorPil", "ImageProcessor", "FeatureExtractor")


def _read(config: Mapping[str, Any]) -> Processor:
    kind = _kind(config)
    said = {name: value for name, value in config.items() if value is not None}
    for name in ("image_processor_type", "feature_extractor_type"):
        said.pop(name, None)
    longest = said.pop("max_size", 1333 if kind == "Detr" else None)  # of older files
    if "pad_and_return_pixel_mask" in said:
        said.setdefault("do_pad", said.pop("pad_and_return_pixel_mask"))
    changes: dict[str, Any] = {"image_processor_type": f"{kind}ImageProcessor"}
    for name, value in said.items():
        if name in _ASIDE:
            continue
        if name in _ONLY:
            if value != _ONLY[name]:
                raise ValueError(f"{name} is {value!r}, and only {_ONLY[name]!r} can be had; leave it out")
        elif name == "size":
            changes[name] = Size.read(value, square=kind in _SQUARES, longest=longest)
        elif name in ("crop_size", "pad_size"):
            sides = Size.read(value)
            if sides.height is None or sides.width is None:
                raise ValueError(f"{name} {value!r} is not clear; give height and width")
            changes[name] = sides.height, sides.width
        elif name in ("image_mean", "image_std"):
            changes[name] = _colours(name, value)
        elif name in ("rescale_factor", "crop_pct", "resample"):
            changes[name] = _number(name, value)
        elif name in Processor.__slots__:
            if not isinstance(value, bool):
                raise ValueError(f"{name} is {value!r}; give true or false")
            changes[name] = value
        else:
            raise ValueError(f"a processor has no {name!r}; try {nearest(name, Processor.__slots__)}")
    return replace(_KINDS[kind], **changes)


def _kind(config: Mapping[str, Any]) -> str:
    name = config.get("image_processor_type") or config.get("feature_extractor_type") or ""
    for end in _ENDS:
        if isinstance(name, str) and name.removesuffix(end) in _KINDS:
            return name.removesuffix(end)
    known = ", ".join(f"{each}ImageProcessor" for each in _KINDS)
    raise ValueError(f"image_processor_type {str(name)[:100]!r} is not known; choose {known}")


def _colours(name: str, value: Any) -> Colours:
    values = [value] * 3 if isinstance(value, int | float) else value
    if not isinstance(values, list | tuple) or len(values) != 3:
        raise ValueError(f"{name} {value!r} is not clear; give three numbers: red, green and blue")
    red, green, blue = (float(_number(name, each)) for each in values)
    return red, green, blue


def _number(name: str, value: Any) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise ValueError(f"{name} has {value!r}; give a number")
    return value
