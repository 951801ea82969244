"""Boxes in two notations, how far they overlap, and which of them stay."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.vision.boxes import area, generalised_iou, iou, nms, to_centres, to_corners


def some(count: int, seed: int = 0) -> Tensor:
    made = torch.rand(count, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.cat((made[:, :2], made[:, :2] + made[:, 2:] + 0.01), 1)


def test_two_notations_say_the_same() -> None:
    boxes = some(50)
    assert torch.allclose(to_corners(to_centres(boxes)), boxes)
    assert to_centres(torch.tensor([1.0, 2.0, 5.0, 4.0])).tolist() == [3.0, 3.0, 4.0, 2.0]
    assert torch.allclose(area(boxes), to_centres(boxes)[:, 2:].prod(-1))


def test_the_overlap_of_known_boxes() -> None:
    first = torch.tensor([[0.0, 0.0, 2.0, 2.0]])
    second = torch.tensor([[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 3.0], [2.0, 0.0, 4.0, 2.0], [4.0, 0.0, 6.0, 2.0]])
    assert iou(first, second)[0].tolist() == pytest.approx([1.0, 1 / 7, 0.0, 0.0])
    # Around the second pair lie 9 and 7 are covered; the last two are in a strip of which a third is bare.
    assert generalised_iou(first, second)[0].tolist() == pytest.approx([1.0, 1 / 7 - 2 / 9, 0.0, -1 / 3])


def test_empty_boxes_have_no_overlap_and_finite_gradients() -> None:
    points = torch.zeros(2, 4, requires_grad=True)
    assert iou(points, points).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    generalised_iou(points, some(3).float()).sum().backward()
    assert points.grad is not None
    assert points.grad.isfinite().all()


@given(st.integers(0, 1000))
def test_the_generalised_overlap_is_smaller_and_bounded(seed: int) -> None:
    first, second = some(6, seed), some(7, seed + 1)
    plain, general = iou(first, second), generalised_iou(first, second)
    assert (general <= plain + 1e-12).all()
    assert (general >= -1).all()
    assert torch.allclose(plain, iou(second, first).T)


def greedy(boxes: Tensor, scores: Tensor, threshold: float) -> list[int]:
    """Suppression as it is told: take the best, drop what lies over it, and so on."""
    left, stays, shared = scores.argsort(descending=True, stable=True).tolist(), [], iou(boxes, boxes).tolist()
    while left:
        stays.append(left[0])
        left = [i for i in left[1:] if shared[stays[-1]][i] <= threshold]
    return stays


@given(st.integers(0, 1000), st.sampled_from([0.1, 0.3, 0.5, 0.7]))
def test_suppression_is_what_is_told_of_it(seed: int, threshold: float) -> None:
    boxes = some(40, seed)
    scores = torch.rand(40, generator=torch.Generator().manual_seed(seed))
    assert nms(boxes, scores, threshold).tolist() == greedy(boxes, scores, threshold)


def test_boxes_of_other_classes_stay() -> None:
    boxes = torch.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [0.0, 0.0, 2.0, 1.8]])
    scores, classes = torch.tensor([0.5, 0.9, 0.7]), torch.tensor([0, 0, 1])
    assert nms(boxes, scores).tolist() == [1]
    assert nms(boxes, scores, classes=classes).tolist() == [1, 2]
    assert nms(boxes[:0], scores[:0]).tolist() == []
