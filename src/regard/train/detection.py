"""The loss of a set of objects: each is given to the query that fits it best, and all others should say nothing.

The matching is that of least cost (Kuhn 1955), and the loss is DETR's (Carion 2020, §3.1): cross entropy of the
classes, in which "no object" weighs little since it is said so often, and the distance and overlap of matched boxes.
Boxes are centre x, centre y, width and height as shares of the picture.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.vision.boxes import generalised_iou, to_corners


class Objects(NamedTuple):
    """What there is on a picture."""

    classes: Int[Tensor, " n"]
    boxes: Float[Tensor, "n 4"]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part counts in the matching and in the loss; those of the paper."""

    classes: float = 1.0
    boxes: float = 5.0
    overlap: float = 2.0
    nothing: float = 0.1  # of the class "no object" beside the others, in the loss alone


class Loss(NamedTuple):
    """The parts of a loss, each summed over the blocks of a decoder, and their weighted sum."""

    total: Float[Tensor, ""]
    classes: Float[Tensor, ""]
    boxes: Float[Tensor, ""]
    overlap: Float[Tensor, ""]


Said = tuple[Float[Tensor, "b q c"], Float[Tensor, "b q 4"]]  # the last class is "no object"


def match(
    logits: Float[Tensor, "b q c"],
    boxes: Float[Tensor, "b q 4"],
    targets: Sequence[Objects],
    weights: Weights = Weights(),
) -> list[tuple[Int[Tensor, " n"], Int[Tensor, " n"]]]:
    """The queries of each picture that objects are given to, and these objects, in the order of the queries.

    Of more objects than there are queries, those that fit worst get none.
    """
    assign, found = _assignment(), list[tuple[Tensor, Tensor]]()
    classes, real = (torch.cat(part) for part in zip(*targets, strict=True))
    with torch.no_grad():
        # Every query of the batch with every object of it: more than is needed, and quicker than picture by picture.
        mine, real = boxes.flatten(0, 1).float(), real.to(boxes.device, torch.float32)
        cost = (
            weights.boxes * torch.cdist(mine, real, p=1)
            - weights.classes * logits.flatten(0, 1).float().softmax(dim=-1)[:, classes.to(boxes.device)]
            - weights.overlap * generalised_iou(to_corners(mine), to_corners(real))
        )
        # A model that has lost its mind has costs that are no numbers: the training, not this, should say so.
        cost = cost.nan_to_num(nan=1e6, posinf=1e6, neginf=-1e6).unflatten(0, boxes.shape[:2]).cpu()
    for i, each in enumerate(cost.split([len(target.classes) for target in targets], dim=-1)):
        queries, objects = assign(each[i].numpy())
        found.append((torch.as_tensor(queries, device=boxes.device), torch.as_tensor(objects, device=boxes.device)))
    return found


def detection_loss(
    said: tuple[Tensor, Tensor, Sequence[Said]],
    targets: Sequence[Objects],
    *,
    weights: Weights = Weights(),
    count: float | None = None,
) -> Loss:
    """The loss of what a detector said, and of what each earlier block of its decoder would have said.

    `said` is what `DETR` returns. Boxes are averaged over `count` objects, if not those of the batch; classes over the
    queries, each by its weight. Every block is matched anew.
    """
    logits, boxes, auxiliary = said
    if len(targets) != logits.shape[0]:
        raise ValueError(f"{len(targets)} pictures with objects do not go with a batch of {logits.shape[0]}")
    _check(targets, logits.shape[-1] - 1)
    objects = float(max(sum(len(each.classes) for each in targets), 1)) if count is None else count
    rows = [_one(*each, targets, weights, objects) for each in (*auxiliary, (logits, boxes))]
    classes, distance, overlap = (torch.stack(part).sum() for part in zip(*rows, strict=True))
    total = weights.classes * classes + weights.boxes * distance + weights.overlap * overlap
    return Loss(total, classes, distance, overlap)


def _one(
    logits: Tensor, boxes: Tensor, targets: Sequence[Objects], weights: Weights, objects: float
) -> tuple[Tensor, Tensor, Tensor]:
    matches = match(logits, boxes, targets, weights)
    nothing = logits.shape[-1] - 1
    wanted = torch.full(logits.shape[:2], nothing, device=logits.device)
    for i, ((queries, numbers), target) in enumerate(zip(matches, targets, strict=True)):
        wanted[i, queries] = target.classes[numbers].to(wanted)
    worth = logits.new_ones(nothing + 1)
    worth[nothing] = weights.nothing
    classes = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), worth)
    mine = torch.cat([boxes[i, queries] for i, (queries, _) in enumerate(matches)])
    real = torch.cat([target.boxes[numbers] for (_, numbers), target in zip(matches, targets, strict=True)]).to(mine)
    overlap = _overlap(mine, real)
    return classes, (mine - real).abs().sum() / objects, (1 - overlap).sum() / objects


def _overlap(one: Float[Tensor, "n 4"], other: Float[Tensor, "n 4"]) -> Float[Tensor, " n"]:
    """The generalised overlap of each box with that of the same number; there are few, so that all pairs are cheap."""
    return generalised_iou(to_corners(one), to_corners(other)).diagonal()


def _check(targets: Sequence[Objects], classes: int) -> None:
    for i, (named, boxes) in enumerate(targets):
        if len(named) != len(boxes):
            raise ValueError(f"picture {i} of the batch has {len(named)} classes and {len(boxes)} boxes; give as many")
        if len(named) and not 0 <= int(named.min()) <= int(named.max()) < classes:
            raise ValueError(
                f"picture {i} of the batch has classes {named.tolist()[:8]}; a model of {classes} knows 0 to "
                f"{classes - 1}"
            )


def _assignment() -> Callable[..., Any]:
    try:
        from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]
    except ImportError:
        raise ImportError(
            "matching objects to queries needs scipy; in a clone of regard, pip install '.[vision]'"
        ) from None
    found: Callable[..., Any] = linear_sum_assignment
    return found
