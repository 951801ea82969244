"""Boxes as corners (left, top, right, bottom) or as a centre with its sides; how far they overlap; suppression."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def to_corners(boxes: Float[Tensor, "*n 4"]) -> Float[Tensor, "*n 4"]:
    """From centre x, centre y, width, height to left, top, right, bottom."""
    x, y, width, height = boxes.unbind(-1)
    return torch.stack((x - width / 2, y - height / 2, x + width / 2, y + height / 2), -1)


def to_centres(boxes: Float[Tensor, "*n 4"]) -> Float[Tensor, "*n 4"]:
    """From left, top, right, bottom to centre x, centre y, width, height."""
    left, top, right, bottom = boxes.unbind(-1)
    return torch.stack(((left + right) / 2, (top + bottom) / 2, right - left, bottom - top), -1)


def area(boxes: Float[Tensor, "*n 4"]) -> Float[Tensor, "*n"]:
    """Width times height of corners."""
    left, top, right, bottom = boxes.unbind(-1)
    return (right - left) * (bottom - top)


def iou(first: Float[Tensor, "n 4"], second: Float[Tensor, "m 4"]) -> Float[Tensor, "n m"]:
    """What each two boxes share, as a share of what they cover together; 0 where both are empty."""
    shared, together = _overlap(first, second)
    return shared / together.clamp(min=_TINY)


def generalised_iou(first: Float[Tensor, "n 4"], second: Float[Tensor, "m 4"]) -> Float[Tensor, "n m"]:
    """The same less the share of the box around both that neither covers, so that far boxes differ (Rezatofighi 2019).

    From -1 for points far from each other to 1 for equal boxes.
    """
    shared, together = _overlap(first, second)
    start = torch.minimum(first[:, None, :2], second[None, :, :2])
    end = torch.maximum(first[:, None, 2:], second[None, :, 2:])
    around = (end - start).prod(-1)
    return shared / together.clamp(min=_TINY) - (around - together) / around.clamp(min=_TINY)


def nms(
    boxes: Float[Tensor, "n 4"],
    scores: Float[Tensor, " n"],
    threshold: float = 0.5,
    *,
    classes: Int[Tensor, " n"] | None = None,
) -> Int[Tensor, " k"]:
    """The numbers of the boxes that stay, the best first: none overlaps a better one by more than the threshold.

    With `classes`, boxes of different classes do not disturb each other.
    """
    order = scores.argsort(descending=True, stable=True)
    ranked = boxes[order]
    over = (iou(ranked, ranked) > threshold).triu(diagonal=1)
    if classes is not None:
        over &= classes[order][:, None] == classes[order][None, :]
    # A box stays if no better one that stays lies over it. The best is decided at once, and each round decides more.
    stays = torch.ones(len(order), dtype=torch.bool, device=boxes.device)
    while True:
        after = ~(over & stays[:, None]).any(0)
        if torch.equal(after, stays):
            return order[stays]
        stays = after


_TINY = 1e-9


def _overlap(
    first: Float[Tensor, "n 4"], second: Float[Tensor, "m 4"]
) -> tuple[Float[Tensor, "n m"], Float[Tensor, "n m"]]:
    """The area that each two boxes share, and that of both together."""
    start = torch.maximum(first[:, None, :2], second[None, :, :2])
    end = torch.minimum(first[:, None, 2:], second[None, :, 2:])
    shared = (end - start).clamp(min=0).prod(-1)
    return shared, area(first)[:, None] + area(second)[None, :] - shared
