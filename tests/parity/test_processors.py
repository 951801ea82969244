"""Pictures as `transformers`' image processors prepare them: the same bits, from the same preprocessor_config.json."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from regard.vision import Processor, Size

IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
SIDES = [(61, 47), (47, 61), (64, 64), (33, 150), (300, 20)]  # width, height

# As processors are published: the type, and what its file says.
PROCESSORS: dict[str, dict[str, Any]] = {
    "vit": {"type": "ViT", "size": {"height": 32, "width": 32}},
    "vit, not square": {"type": "ViT", "size": {"height": 24, "width": 40}, "resample": 3},
    "swin": {"type": "ViT", "size": {"height": 32, "width": 32}, "resample": 3, **IMAGENET},
    "mae, without resizing": {"type": "ViT", "do_resize": False, **IMAGENET},
    "deit": {"type": "DeiT", "size": {"height": 37, "width": 37}, "crop_size": {"height": 32, "width": 32}, **IMAGENET},
    "convnext": {"type": "ConvNext", "size": {"shortest_edge": 32}, "crop_pct": 0.875, **IMAGENET},
    "convnext, odd": {"type": "ConvNext", "size": {"shortest_edge": 41}, "crop_pct": 0.9, "do_normalize": False},
    "convnext, warped": {"type": "ConvNext", "size": {"shortest_edge": 384}},
    "levit": {"type": "Levit", "size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}},
    "dinov2": {"type": "Bit", "size": {"shortest_edge": 37}, "crop_size": {"height": 32, "width": 32}, **IMAGENET},
    "a crop that is larger": {"type": "Bit", "size": {"shortest_edge": 31}, "crop_size": {"height": 40, "width": 36}},
    "clip": {"type": "CLIP", "size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}},
    "siglip": {"type": "Siglip", "size": {"height": 32, "width": 32}},
    "efficientnet": {"type": "EfficientNet", "size": {"height": 32, "width": 32}, **IMAGENET},
    "efficientnet, offset": {
        "type": "EfficientNet",
        "size": {"height": 32, "width": 32},
        "rescale_factor": 1 / 127.5,
        "rescale_offset": True,
        "include_top": False,
        "do_center_crop": True,
        "crop_size": 30,
    },
    "bounds": {"type": "ViT", "size": {"max_height": 30, "max_width": 50}},
    "lanczos, not normalized": {"type": "ViT", "resample": 1, "do_normalize": False},
    "other numbers": {"type": "ViT", "rescale_factor": 0.01, "image_mean": [0.1, 0.2, 0.3], "image_std": [1, 2, 3]},
}


def pictures() -> list[Image.Image]:
    made = np.random.default_rng(0)
    return [Image.fromarray(made.integers(0, 256, (height, width, 3), np.uint8)) for width, height in SIDES]


def theirs(kind: str, said: dict[str, Any]) -> Any:
    """The processor on Pillow; the one on torchvision needs torchvision, which nothing here does."""
    return getattr(transformers, f"{kind}ImageProcessorPil")(**said)


@pytest.mark.parametrize("name", PROCESSORS)
def test_a_picture_becomes_the_very_tensor_of_transformers(name: str, tmp_path: Path) -> None:
    said = dict(PROCESSORS[name])
    other = theirs(said.pop("type"), said)
    other.save_pretrained(tmp_path)
    ours = Processor.from_json(json.loads((tmp_path / "preprocessor_config.json").read_text()))
    for picture in pictures():
        wanted = other(picture, return_tensors="pt")["pixel_values"]
        assert torch.equal(ours(picture), wanted)
        assert torch.equal(ours([np.asarray(picture)]), wanted)


@pytest.mark.parametrize(
    "size", [{"shortest_edge": 40, "longest_edge": 66}, {"shortest_edge": 47, "longest_edge": 200}]
)
@pytest.mark.parametrize("pad_size", [None, {"height": 205, "width": 210}])
def test_pictures_of_several_sizes_are_padded_and_masked_as_detr_wants_them(
    size: dict[str, int], pad_size: dict[str, int] | None, tmp_path: Path
) -> None:
    some = pictures()[:4]
    other = theirs("Detr", {"size": size} | ({"pad_size": pad_size} if pad_size else {}))
    other.save_pretrained(tmp_path)
    ours = Processor.from_json(json.loads((tmp_path / "preprocessor_config.json").read_text()))
    wanted, found = other(some, return_tensors="pt"), ours.pad(some)
    assert torch.equal(found.image, wanted["pixel_values"])
    assert torch.equal(found.visible, wanted["pixel_mask"].bool())


@pytest.mark.parametrize("kind", ["ViT", "DeiT", "ConvNext", "Levit", "Bit", "CLIP", "Siglip", "EfficientNet", "Detr"])
def test_what_a_file_does_not_say_is_as_in_theirs_and_ours_is_read_by_theirs(kind: str, tmp_path: Path) -> None:
    ours = Processor.from_json({"image_processor_type": f"{kind}ImageProcessor"})
    assert ours == Processor.from_json(theirs(kind, {}).to_dict())
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(ours.to_json()))
    again = getattr(transformers, f"{kind}ImageProcessorPil").from_pretrained(tmp_path)
    assert Processor.from_json(again.to_dict()) == ours
    picture = pictures()[0]
    assert torch.equal(ours(picture), again(picture, return_tensors="pt")["pixel_values"])


# Files that are published on the hub in the form of 2021 and 2022.
OLD: dict[str, tuple[dict[str, Any], Size, tuple[int, int] | None]] = {
    "swin": ({"feature_extractor_type": "ViTFeatureExtractor", "size": 224}, Size(height=224, width=224), None),
    "deit": (
        {"feature_extractor_type": "DeiTFeatureExtractor", "size": 256, "crop_size": 224},
        Size(height=256, width=256),
        (224, 224),
    ),
    "convnext": (
        {"feature_extractor_type": "ConvNextFeatureExtractor", "size": 224, "crop_pct": 0.875},
        Size(shortest_edge=224),
        None,
    ),
    "levit": ({"feature_extractor_type": "LevitFeatureExtractor", "size": 224}, Size(shortest_edge=224), (224, 224)),
    "detr": (
        {"feature_extractor_type": "DetrFeatureExtractor", "size": 800, "max_size": 1333, "format": "coco_detection"},
        Size(shortest_edge=800, longest_edge=1333),
        None,
    ),
}


@pytest.mark.parametrize("name", OLD)
def test_older_files_mean_what_they_meant(name: str) -> None:
    said, size, crop = OLD[name]
    ours = Processor.from_json(said)
    assert ours.size == size
    assert ours.crop_size == crop
    kind = said["feature_extractor_type"].removesuffix("FeatureExtractor")
    other = theirs(kind, {field: value for field, value in said.items() if field != "feature_extractor_type"})
    picture = pictures()[0]
    assert torch.equal(ours(picture), other(picture, return_tensors="pt")["pixel_values"])
