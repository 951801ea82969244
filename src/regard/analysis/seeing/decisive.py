"""What in a picture decides: Grad-CAM, gradients, integrated gradients and occlusion, each a map of numbers.

All are of one class, that which the model names if none is given, and answer one picture.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.analysis.seeing.streams import outputs, read_blocks

Says = Callable[[Tensor], Tensor]  # pictures "b c h w" to logits "b classes"


def gradcam(
    model: nn.Module,
    image: Float[Tensor, "1 c h w"],
    *,
    target: int | None = None,
    block: str | None = None,
    grid: tuple[int, int] | None = None,
    leading: int = 0,
) -> Float[np.ndarray, "i j"]:
    """Where the features of a block speak for a class, from 0 to 1 (Selvaraju 2017).

    The `block` is the last whose map decides and has more than one cell, if none is named. `grid` and `leading` place
    the tokens of a model that does not say where they lie.
    """
    named = () if block is None else (block,)
    names, to_map = read_blocks(model, image, blocks=named, grid=grid, leading=leading)
    with torch.enable_grad():
        kept, logits = outputs(model, image, names)
        wanted = _class(logits, target)
        # Behind the last block a classifier may read [CLS] alone: then its map decides nothing, but an earlier one.
        for output in reversed(kept.values()):
            (slope,) = torch.autograd.grad(logits[0, wanted], output, retain_graph=True)
            cells, slopes = to_map(output.detach())[0], to_map(slope)[0]
            if slopes.any() and cells.shape[0] * cells.shape[1] > 1:
                break
    return _to_one((cells @ slopes.mean(dim=(0, 1))).relu())


def gradients(model: Says, image: Float[Tensor, "1 c h w"], *, target: int | None = None) -> Float[np.ndarray, "h w"]:
    """How much the logit of a class changes with each pixel (Simonyan 2014)."""
    return _to_one(_slope(model, image, target)[0].abs().amax(dim=0))


def integrated_gradients(
    model: Says,
    image: Float[Tensor, "1 c h w"],
    *,
    target: int | None = None,
    ground: Float[Tensor, "1 c h w"] | None = None,
    steps: int = 32,
) -> Float[Tensor, "c h w"]:
    """What each pixel adds to the logit of a class, on the way from a `ground` to the picture (Sundararajan 2017).

    The numbers add up to the difference of both logits. The ground is grey, if none is given.
    """
    if steps < 1:
        raise ValueError(f"{steps} steps lead nowhere; give 1 or more")
    ground = torch.zeros_like(image) if ground is None else ground
    with torch.no_grad():
        wanted = _class(_logits(model, image), target)
    total = torch.zeros_like(image)
    for i in range(steps):  # midpoints, which converge faster than ends
        total += _slope(model, ground + (i + 0.5) / steps * (image - ground), wanted)
    return (total / steps * (image - ground))[0]


def occlusion(
    model: Says,
    image: Float[Tensor, "1 c h w"],
    *,
    patch: int,
    stride: int | None = None,
    target: int | None = None,
    fill: float = 0.0,
    together: int = 64,
) -> Float[np.ndarray, "i j"]:
    """How much the probability of a class falls when a square of the picture is covered (Zeiler 2014)."""
    stride = patch if stride is None else stride
    height, width = image.shape[-2:]
    if not 0 < patch <= min(height, width) or stride < 1:
        raise ValueError(f"a square of {patch} pixels every {stride} does not fit a picture of {height}×{width}")
    rows = range(0, height - patch + 1, stride)
    columns = range(0, width - patch + 1, stride)
    places = [(row, column) for row in rows for column in columns]
    with torch.no_grad():
        logits = _logits(model, image)
        wanted = _class(logits, target)
        whole = logits.float().softmax(-1)[0, wanted].item()
        found = list[float]()
        for start in range(0, len(places), together):
            some = places[start : start + together]
            covered = image.repeat(len(some), 1, 1, 1)
            for each, (row, column) in zip(covered, some, strict=True):
                each[:, row : row + patch, column : column + patch] = fill
            found += (whole - _logits(model, covered).float().softmax(-1)[:, wanted]).tolist()
    return np.array(found, np.float32).reshape(len(rows), len(columns))


def resize(numbers: Float[np.ndarray, "h w"], height: int, width: int) -> Float[np.ndarray, "i j"]:
    """A map at another size, to lie over the picture or to be compared with another map."""
    given = torch.as_tensor(numbers, dtype=torch.float32)[None, None]
    if height <= numbers.shape[0] and width <= numbers.shape[1]:
        found = F.adaptive_avg_pool2d(given, (height, width))
    else:
        found = F.interpolate(given, size=(height, width), mode="bilinear", align_corners=False)
    resized: np.ndarray = found[0, 0].numpy()
    return resized


def _logits(model: Says, image: Tensor) -> Tensor:
    said: Any = model(image)
    logits: Tensor = getattr(said, "logits", said)
    return logits


def _class(logits: Float[Tensor, "b k"], target: int | None) -> int:
    if target is None:
        return int(logits[0].argmax())
    if not 0 <= target < logits.shape[-1]:
        raise ValueError(f"there is no class {target}; they are numbered 0 to {logits.shape[-1] - 1}")
    return target


def _slope(model: Says, image: Tensor, target: int | None) -> Tensor:
    with torch.enable_grad():
        given = image.detach().clone().requires_grad_(True)
        logits = _logits(model, given)
        (slope,) = torch.autograd.grad(logits[0, _class(logits, target)], given)
    return slope


def _to_one(numbers: Float[Tensor, "h w"]) -> Float[np.ndarray, "h w"]:
    most = numbers.max()
    scaled: np.ndarray = (numbers / most if most > 0 else torch.zeros_like(numbers)).float().cpu().numpy()
    return scaled
