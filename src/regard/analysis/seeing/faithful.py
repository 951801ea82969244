"""Whether a map that is said to show what matters does so: against the true mask of a thing, and by taking pixels away.

The pointing game asks whether the highest place lies on the thing (Zhang 2018); deletion and insertion ask how quickly
a class is lost or won as the pixels that matter most are taken away or put back (Petsiuk 2018).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.analysis.seeing.decisive import resize


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The probability of a class as more and more pixels are taken away, or put back."""

    shares: Float[np.ndarray, " n"]  # of the pixels
    chances: Float[np.ndarray, " n"]

    @property
    def area(self) -> float:
        """Under the curve: little is good where pixels are taken away, much where they are put back."""
        return float(np.trapezoid(self.chances, self.shares))


def points_at(
    numbers: Float[np.ndarray, "i j"],
    mask: Bool[np.ndarray, "h w"],
    unsure: Bool[np.ndarray, "h w"] | None = None,
) -> bool:
    """Whether the highest place of a map lies on the thing; one in the middle of which pixels are unsure is skipped."""
    rows, columns = (
        ((np.arange(count) + 0.5) / count * side).astype(np.int64)
        for count, side in zip(numbers.shape, mask.shape, strict=True)
    )
    if unsure is not None:
        numbers = np.where(unsure[rows[:, None], columns], -np.inf, numbers)
    row, column = np.unravel_index(int(numbers.argmax()), numbers.shape)
    return bool(mask[rows[row], columns[column]])


def covers(
    numbers: Float[np.ndarray, "i j"],
    mask: Bool[np.ndarray, "h w"],
    unsure: Bool[np.ndarray, "h w"] | None = None,
) -> float:
    """Intersection over union of the thing with as many of the highest places as it has pixels, of those not unsure."""
    if not mask.any():
        raise ValueError("the mask is empty, so that nothing can be covered; choose a thing that is seen")
    whole, right = resize(numbers, *mask.shape).flatten(), mask.flatten()
    if unsure is not None:
        whole, right = (each[~unsure.flatten()] for each in (whole, right))
    highest = np.zeros(right.size, bool)
    highest[np.argsort(-whole, kind="stable")[: int(right.sum())]] = True
    return float((highest & right).sum() / (highest | right).sum())


def deletion(
    model: Callable[[Tensor], Tensor],
    image: Float[Tensor, "1 c h w"],
    numbers: Float[np.ndarray, "i j"],
    *,
    target: int,
    steps: int = 20,
    fill: float = 0.0,
) -> Curve:
    """The class while the pixels that matter most are taken away, those first that matter most."""
    return _curve(model, image, torch.full_like(image, fill), numbers, target, steps)


def insertion(
    model: Callable[[Tensor], Tensor],
    image: Float[Tensor, "1 c h w"],
    numbers: Float[np.ndarray, "i j"],
    *,
    target: int,
    steps: int = 20,
    fill: float = 0.0,
) -> Curve:
    """The class while the pixels that matter most are put onto an empty picture, those first that matter most."""
    return _curve(model, torch.full_like(image, fill), image, numbers, target, steps)


def _curve(
    model: Callable[[Tensor], Tensor],
    before: Float[Tensor, "1 c h w"],
    after: Float[Tensor, "1 c h w"],
    numbers: Float[np.ndarray, "i j"],
    target: int,
    steps: int,
) -> Curve:
    if steps < 1:
        raise ValueError(f"{steps} steps make no curve; give 1 or more")
    height, width = before.shape[-2:]
    order = torch.from_numpy(np.argsort(-resize(numbers, height, width).flatten(), kind="stable").copy())
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order))
    shares = np.linspace(0, 1, steps + 1)
    changed = torch.stack([rank.view(height, width) < round(share * len(order)) for share in shares.tolist()])
    with torch.no_grad():
        logits = model(torch.where(changed[:, None], after, before))
    return Curve(shares, logits.float().softmax(-1)[:, target].cpu().numpy())
