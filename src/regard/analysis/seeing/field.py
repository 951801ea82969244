"""The effective receptive field: which pixels a place of a map really depends on (Luo 2016)."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.analysis.seeing.streams import read_blocks, streams


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """How much each pixel moves the middle cell behind one block, and within which radius the shares lie."""

    block: str
    pixels: Float[np.ndarray, "h w"]  # they add up to 1

    def radius(self, share: float = 0.5) -> float:
        """The distance from the middle within which this share of all lies, in sides of the picture."""
        height, width = self.pixels.shape
        down, right = np.indices((height, width))
        far = np.hypot(down - (height - 1) / 2, right - (width - 1) / 2)
        order = np.argsort(far, axis=None)
        reached = np.cumsum(self.pixels.flatten()[order])
        return float(far.flatten()[order][min(np.searchsorted(reached, share), len(order) - 1)] / max(height, width))


def receptive_field(
    model: nn.Module,
    images: Float[Tensor, "b c h w"],
    *,
    blocks: tuple[str, ...] = (),
    grid: tuple[int, int] | None = None,
    leading: int = 0,
) -> list[Field]:
    """The field behind each block, as the mean over some pictures of the gradient's size at each pixel."""
    names, _ = read_blocks(model, images, blocks=blocks, grid=grid, leading=leading)
    found = []
    with torch.enable_grad():
        given = images.detach().clone().requires_grad_(True)
        kept, _ = streams(model, given, blocks=names, grid=grid, leading=leading)
        for name in names:
            cells = kept[name]
            rows, columns = cells.shape[1:3]
            middle = cells[:, (rows - 1) // 2 : rows // 2 + 1, (columns - 1) // 2 : columns // 2 + 1]
            (slope,) = torch.autograd.grad(middle.sum(), given, retain_graph=True)
            sizes = slope.abs().sum(dim=1).mean(dim=0).double()
            found.append(Field(name, (sizes / sizes.sum().clamp(min=1e-30)).float().cpu().numpy()))
    return found
