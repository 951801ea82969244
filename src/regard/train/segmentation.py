"""What a promptable segmenter learns by: clicks where it errs, and the loss of the masks that it may mean.

The loss is SAM's (Kirillov 2023, §3): focal and dice of a mask, of several masks only that of the best, and how far the
expected intersection over union is from the real one. Deviation: the single mask learns from every prompt, where SAM's
learns from clear ones alone, so that one can see what an ambiguous click does to it.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.models.sam import Seen, Segmented

FOCAL, DICE, IOU = 20.0, 1.0, 1.0  # how much each part counts
GAMMA = 2.0  # of the focal loss (Lin 2017)


class Loss(NamedTuple):
    """The mean over prompts of each part, and their weighted sum."""

    total: Float[Tensor, ""]
    single: Float[Tensor, ""]
    best: Float[Tensor, ""]
    iou: Float[Tensor, ""]


def segmentation_loss(said: Segmented, targets: Bool[Tensor, "p y x"]) -> Loss:
    """The loss of an answer; of the several masks, the one that fits best alone gets a gradient."""
    height, width = said.masks.shape[-2:]
    soft = F.adaptive_avg_pool2d(targets[:, None].to(said.masks), (height, width))
    each = mask_loss(said.masks, soft)
    with torch.no_grad():
        real = iou(said.masks > 0, soft > 0.5)
    single, best = each[:, 0].mean(), each[:, 1:].min(dim=1).values.mean()
    guessed = F.mse_loss(said.iou, real)
    return Loss(single + best + IOU * guessed, single, best, guessed)


def mask_loss(logits: Float[Tensor, "p m h w"], soft: Float[Tensor, "p 1 h w"]) -> Float[Tensor, "p m"]:
    """Focal loss and dice loss of masks against the share of each of their cells that is meant."""
    chance, soft = logits.sigmoid(), soft.expand_as(logits)
    wrong = chance + soft - 2 * chance * soft  # the chance of saying the other thing
    entropy = F.binary_cross_entropy_with_logits(logits, soft, reduction="none")
    focal = (wrong**GAMMA * entropy).mean(dim=(2, 3))
    both, all_of = (chance * soft).sum(dim=(2, 3)), (chance + soft).sum(dim=(2, 3))
    return FOCAL * focal + DICE * (1 - (2 * both + 1) / (all_of + 1))


def iou(drawn: Bool[Tensor, "p m h w"], targets: Bool[Tensor, "p 1 h w"]) -> Float[Tensor, "p m"]:
    """Intersection over union of masks; 1 where both are empty."""
    both, either = (drawn & targets).sum(dim=(-2, -1)), (drawn | targets).sum(dim=(-2, -1))
    return torch.where(either == 0, 1.0, both / either.clamp(min=1))


def enlarge(masks: Float[Tensor, "p m h w"], like: Bool[Tensor, "p y x"]) -> Float[Tensor, "p m y x"]:
    """Logits of masks in the size of others."""
    return F.interpolate(masks, size=like.shape[-2:], mode="bilinear", align_corners=False)


def converse(
    model: Any,
    seen: Seen,
    targets: Bool[Tensor, "p y x"],
    *,
    rounds: int,
    noise: Float[Tensor, "p r"] | None = None,
    boxes: Float[Tensor, "p 4"] | None = None,
) -> Iterator[Segmented]:
    """Ask for masks by a click, and again by a click where the answer is wrong, along with the answer itself.

    With `boxes` the first prompt is the box. Clicks fall where `noise` says, evenly within what is meant or wrong;
    without it, in the middle: where the border is farthest.
    """
    points, labels, rough, wrong = list[Tensor](), list[Tensor](), None, targets
    for i in range(rounds):
        if boxes is None or i:
            place = middles(wrong) if noise is None else scattered(wrong, noise[:, i])
            points.append(place)
            labels.append(targets[torch.arange(len(targets)), place[:, 1], place[:, 0]].long())
        given = (torch.stack(points, 1).to(seen.cells), torch.stack(labels, 1)) if points else (None, None)
        said = model.prompt(seen, *given, boxes, rough)
        yield said
        rough = chosen(said, clear=boxes is not None or i > 0).masks.detach()
        erring = (enlarge(rough, targets)[:, 0] > 0) != targets
        # Where nothing is wrong, what is meant is pointed at once more.
        wrong = torch.where(erring.any(dim=(1, 2))[:, None, None], erring, targets)


def chosen(said: Segmented, *, clear: bool) -> Segmented:
    """One mask of each answer: where a prompt is clear the single one, else the one that the model is surest of."""
    place = torch.zeros_like(said.iou[:, 0], dtype=torch.long) if clear else said.iou[:, 1:].argmax(dim=1) + 1
    rows = torch.arange(len(place), device=place.device)
    return Segmented(said.masks[rows, place][:, None], said.iou[rows, place][:, None])


def scattered(where: Bool[Tensor, "p y x"], noise: Float[Tensor, " p"]) -> Int[Tensor, "p 2"]:
    """The x and y of a pixel of each mask, evenly drawn by numbers from 0 to below 1."""
    ranks = where.flatten(1).cumsum(dim=1)
    wanted = (noise.to(torch.float64) * ranks[:, -1]).long().clamp(max=ranks[:, -1] - 1) + 1
    place = torch.searchsorted(ranks, wanted[:, None])[:, 0].clamp(min=0, max=ranks.shape[1] - 1)
    return torch.stack((place % where.shape[2], place // where.shape[2]), dim=1)


def middles(where: Bool[Tensor, "p y x"]) -> Int[Tensor, "p 2"]:
    """The x and y of the pixel of each mask that is farthest from all that is not in it."""
    found = [middle(mask) for mask in where.cpu().numpy()]
    return torch.tensor(found, device=where.device).view(-1, 2)


def middle(mask: Bool[np.ndarray, "h w"]) -> tuple[int, int]:
    """The x and y of the pixel that takes most steps, down or across, to leave a mask; its first pixel if several."""
    far = np.where(np.pad(mask, 1), sum(mask.shape), 0)
    for steps in (far, far[::-1], far.T, far.T[::-1]):  # views: down, up, right and left
        for before, now in pairwise(steps):
            np.minimum(now, before + 1, out=now)
    row, column = np.unravel_index(int(far[1:-1, 1:-1].argmax()), mask.shape)
    return int(column), int(row)
