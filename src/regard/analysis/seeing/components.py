"""Principal components that can be seen: of patch features as colours, and of the filters that embed patches."""

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor


def feature_colours(features: Float[Tensor, "b h w c"]) -> UInt8[np.ndarray, "b h w 3"]:
    """The first three components of the features of all cells as red, green and blue (as DINOv2's figure 1).

    The components are those of all pictures given together, so that equal colours mean equal features.
    """
    b, h, w, c = features.shape
    if min(b * h * w, c) < 3:
        raise ValueError(f"{b * h * w} cells of {c} features have no three components; give more")
    cells = features.detach().reshape(-1, c).double()
    first = _components(cells - cells.mean(dim=0), 3)
    shown = (cells - cells.mean(dim=0)) @ first.T
    least, most = shown.quantile(0.01, dim=0), shown.quantile(0.99, dim=0)
    scaled = ((shown - least) / (most - least).clamp(min=1e-12)).clamp(0, 1)
    pixels: np.ndarray = (255 * scaled).round().to(torch.uint8).view(b, h, w, 3).cpu().numpy()
    return pixels


def filter_components(filters: Float[Tensor, "o c p q"], count: int = 28) -> Float[np.ndarray, "n c p q"]:
    """The first components of the filters that embed patches, each from -1 to 1 (Dosovitskiy 2021, figure 7)."""
    rows = filters.detach().flatten(1).double()
    count = min(count, *rows.shape)
    found = _components(rows - rows.mean(dim=0), count)
    found = found / found.abs().amax(dim=1, keepdim=True).clamp(min=1e-12)
    shown: np.ndarray = found.view(count, *filters.shape[1:]).float().cpu().numpy()
    return shown


def position_similarity(
    encoding: Float[Tensor, "n w"], rows: int, columns: int
) -> Float[np.ndarray, "{rows} {columns} {rows} {columns}"]:
    """The cosine of the position of each cell with that of every cell (Dosovitskiy 2021, figure 7).

    The encoding has a vector for each cell in reading order, and may have some more in front, which have no place.
    """
    leading = len(encoding) - rows * columns
    if leading < 0:
        raise ValueError(f"{len(encoding)} positions are too few for {rows}×{columns} cells; give the grid they are of")
    cells = torch.nn.functional.normalize(encoding.detach()[leading:].double(), dim=-1)
    alike: np.ndarray = (cells @ cells.T).view(rows, columns, rows, columns).float().cpu().numpy()
    return alike


def _components(rows: Float[Tensor, "n d"], count: int) -> Float[Tensor, "k d"]:
    """The directions of most variance, each with the sign that makes its largest entry positive."""
    _, _, found = torch.linalg.svd(rows, full_matrices=False)
    found = found[:count]
    largest = found.gather(1, found.abs().argmax(dim=1, keepdim=True))
    signed: Tensor = found * largest.sign()
    return signed
