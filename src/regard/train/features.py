"""What a frozen tower sees in pictures, computed once and kept in the cache for every training that comes after."""

import hashlib
import json
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float16, UInt8
from torch import nn

from regard.data.captioned import Batched, Captioned
from regard.data.contents import contents
from regard.data.kept import kept
from regard.decode.forcing import evaluating
from regard.layers.vision import VisionModel
from regard.vision import Processor


def tower_features(
    tower: VisionModel, known: Captioned, processor: Processor, *, name: str
) -> Float16[np.ndarray, "n i j o"]:
    """The map that a tower makes of each picture, in half precision and memory-mapped.

    They are found again by the weights of the tower, the names, captions and bytes of the pictures, and how pictures
    are prepared; whoever changes any of these gets new ones.
    """
    device = next(iter(tower.parameters())).device

    def make(rows: Sequence[int]) -> Float16[np.ndarray, "m i j o"]:
        image = processor([known.picture(row) for row in rows]).to(device)
        with evaluating(tower), torch.inference_mode():
            found = tower.features(image).clamp(-65504, 65504)
        half: np.ndarray = found.half().cpu().numpy()
        return half

    key = f"{weights_hash(tower)} {known.checksum}{_contents(known)} {json.dumps(processor.to_json(), sort_keys=True)}"
    return kept(f"features {name}", key, len(known), make)


def pixels_of(known: Captioned, processor: Processor, *, name: str) -> UInt8[np.ndarray, "n h w 3"]:
    """Every picture as a tower that learns will see it, before its pixels become numbers; kept like features."""
    size = processor.size.height
    source = known.source

    def make(rows: Sequence[int]) -> UInt8[np.ndarray, "m h w 3"]:
        if size is not None and isinstance(source, Batched):
            return source.batch(rows, size)
        return np.stack([processor.cut(known.picture(row)) for row in rows])

    key = f"{known.checksum}{_contents(known)} {json.dumps(processor.to_json(), sort_keys=True)}"
    return kept(f"pictures {name}", key, len(known), make)


def _contents(known: Captioned) -> str:
    """What the names of pictures stand for, where they lie in files of one's own."""
    return f" {found}" if (found := contents(known.source)) else ""


def weights_hash(model: nn.Module) -> str:
    """A name for the very weights that a model has, and for how it is built."""
    found = hashlib.sha256(repr(getattr(model, "config", "")).encode())
    for name, tensor in sorted(model.state_dict().items()):
        found.update(name.encode())
        found.update(tensor.detach().float().cpu().numpy().tobytes())
    return found.hexdigest()
