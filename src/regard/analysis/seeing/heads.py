"""Where each head looks in the last layer, and how well the mask of it outlines the thing (Caron 2021, figure 4).

The mask of a head has the cells that together hold 60 % of what it looks at. It is scored by IoU with the true one, for
the head that is best, and worth something where it beats a disc in the middle, which knows nothing of the picture::

    from regard.analysis.seeing import best_head, head_overlaps, marked

    found = head_overlaps(model, pictures := marked(count=100, size=32, named=False))
    print(best_head(found).mean())
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.analysis.pictures import maps_over
from regard.analysis.reading import Reading
from regard.analysis.view import Grid
from regard.attention import record
from regard.progress import Progress

if TYPE_CHECKING:
    from regard.analysis.seeing.pointing import Marked

MASS = 0.6  # of the attention, which a mask of it holds, as in the paper


def read_looks(model: Any, image: Float[Tensor, "1 c h w"]) -> Reading:
    """All attentions of a model of pictures on one of them."""
    with torch.no_grad(), record(model) as trace:
        model(image)
    axes, maps = maps_over(trace, model.grid(*image.shape[-2:]), leading=model.leading)
    return Reading(type(model).__name__, axes, maps, trace)


def last_looks(reading: Reading) -> Float[np.ndarray, "h i j"]:
    """Where [CLS] looks in the last layer, each head; without one, where all places look on average."""
    for one in reversed(reading.maps):
        rows, columns = reading.axes[one.rows], reading.axes[one.columns]
        if isinstance(rows, Grid) and isinstance(columns, Grid):
            weights = reading.weights(one.name)
            row = weights[:, 0] if rows.leading else weights.mean(axis=1)
            cells = row[:, len(columns.leading) :].reshape(-1, columns.height, columns.width)
            found: np.ndarray = cells.astype(np.float32)
            return found
    raise ValueError(f"{reading.model} has no attention over a picture; choose a model that has, such as a ViT")


def head_overlaps(
    model: nn.Module, pictures: "Marked", *, progress: Progress | None = None
) -> Float[np.ndarray, "n h"]:
    """The IoU of the mask of each head in the last layer with the thing, picture by picture."""
    found, count = list[np.ndarray](), len(pictures)
    for i in range(count):
        looked = last_looks(read_looks(model, pictures.image[i : i + 1]))
        unsure = None if pictures.unsure is None else pictures.unsure[i : i + 1]
        mask = pictures.masks[i : i + 1]
        found.append(overlap(enlarge(mask_of(looked), *mask.shape[1:])[None], mask, unsure)[0])
        if progress is not None:
            progress((i + 1) / count)
    return np.stack(found)


def best_head(overlaps: Float[np.ndarray, "n h"]) -> Float[np.ndarray, " n"]:
    """What each picture has by the head that is best on the others: of every second picture, that of those between."""
    if len(overlaps) < 2:
        raise ValueError(f"{len(overlaps)} pictures do not tell which head is best on others; give 2 or more")
    found = np.empty(len(overlaps))
    for mine in (0, 1):
        found[mine::2] = overlaps[mine::2, int(overlaps[1 - mine :: 2].mean(axis=0).argmax())]
    return found


def mask_of(looked: Float[np.ndarray, "h i j"]) -> Bool[np.ndarray, "h i j"]:
    """The cells that hold most of what each head looks at."""
    weights = torch.from_numpy(looked).flatten(1)
    kept: np.ndarray = most(weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-12)).view(looked.shape).numpy()
    return kept


def most(weights: Float[Tensor, "*b n"]) -> Bool[Tensor, "*b n"]:
    """The largest weights that together hold the mass; the one that reaches it belongs to them."""
    values, order = weights.sort(dim=-1, descending=True)
    kept = values.cumsum(dim=-1) - values < MASS
    return torch.zeros_like(kept).scatter(-1, order, kept)


def overlap(
    said: Bool[np.ndarray, "n h i j"],
    right: Bool[np.ndarray, "n i j"],
    unsure: Bool[np.ndarray, "n i j"] | None = None,
) -> Float[np.ndarray, "n h"]:
    """Intersection over union of each head's mask with the thing; unsure pixels belong to neither."""
    if unsure is not None:
        said, right = said & ~unsure[:, None], right & ~unsure
    shared = (said & right[:, None]).sum(axis=(2, 3))
    either = (said | right[:, None]).sum(axis=(2, 3))
    found: np.ndarray = shared / np.maximum(either, 1)
    return found


def middle_disc(masks: Bool[np.ndarray, "n i j"]) -> Bool[np.ndarray, "i j"]:
    """A disc in the middle, of the area that things have on average."""
    down, right = ((np.arange(side) + 0.5) / side - 0.5 for side in masks.shape[1:])
    found: np.ndarray = down[:, None] ** 2 + right**2 <= float(masks.mean()) / math.pi
    return found


def enlarge(cells: Bool[np.ndarray, "h i j"], height: int, width: int) -> Bool[np.ndarray, "h k l"]:
    """Cells as pixels, each as what covers its middle."""
    rows, columns = (
        ((np.arange(side) + 0.5) * count / side).astype(np.int64)
        for side, count in zip((height, width), cells.shape[1:], strict=True)
    )
    found: np.ndarray = cells[:, rows[:, None], columns]
    return found
