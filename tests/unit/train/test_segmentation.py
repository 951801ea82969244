"""What a promptable segmenter learns by: losses of masks, and where clicks fall."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.models import build
from regard.models.sam import Segmented
from regard.train.segmentation import chosen, converse, iou, mask_loss, middle, scattered, segmentation_loss


def disc(x: int, y: int, radius: int, size: int = 32) -> np.ndarray:
    rows, columns = np.mgrid[:size, :size]
    return np.asarray((columns - x) ** 2 + (rows - y) ** 2 <= radius**2)


def test_a_mask_that_fits_costs_nothing_and_a_wrong_one_more_than_an_empty_one() -> None:
    wanted = torch.from_numpy(disc(10, 12, 5))[None, None].float()
    right, empty, wrong = (20 * (2 * mask - 1) for mask in (wanted, torch.zeros_like(wanted), 1 - wanted))
    costs = mask_loss(torch.cat((right, empty, wrong), dim=1), wanted)[0]
    assert costs[0] < 1e-3
    assert costs[0] < costs[1] < costs[2]


def test_only_the_best_of_several_masks_and_the_single_one_learn() -> None:
    target = torch.from_numpy(disc(10, 12, 5))[None]
    near = 4 * (2 * torch.nn.functional.avg_pool2d(target[:, None].float(), 2) - 1)
    masks = torch.cat((torch.zeros(1, 1, 16, 16), torch.randn(1, 1, 16, 16), near, torch.randn(1, 1, 16, 16)), dim=1)
    masks.requires_grad_()
    segmentation_loss(Segmented(masks, torch.zeros(1, 4)), target).total.backward()
    assert masks.grad is not None
    assert [bool(each.any()) for each in masks.grad[0]] == [True, False, True, False]


def test_how_sure_a_model_is_is_measured_by_what_it_draws() -> None:
    target = torch.from_numpy(disc(10, 12, 5))[None]
    exact = 9 * (2 * torch.nn.functional.max_pool2d(target[:, None].float(), 2) - 1).expand(1, 4, 16, 16)
    real = iou(exact > 0, torch.nn.functional.avg_pool2d(target[:, None].float(), 2) > 0.5)
    assert 0 < real.min() < 1
    assert segmentation_loss(Segmented(exact, real), target).iou == 0
    assert segmentation_loss(Segmented(exact, real - 0.5), target).iou == pytest.approx(0.25)
    empty = torch.zeros(1, 1, 4, 4, dtype=torch.bool)
    assert iou(empty, empty).item() == 1


def test_the_middle_is_farthest_from_the_border() -> None:
    assert middle(disc(10, 12, 5)) == (10, 12)
    line = np.zeros((8, 8), bool)
    line[3] = True
    assert middle(line) == (0, 3)  # all are as far: one step
    both = disc(8, 8, 3) | disc(22, 20, 6)
    assert middle(both) == (22, 20)
    assert middle(np.ones((5, 9), bool)) == (2, 2)  # the picture ends, too


def test_clicks_fall_evenly_on_what_is_meant_and_nowhere_else() -> None:
    mask = torch.from_numpy(disc(10, 12, 5))
    noise = torch.rand(4000, generator=torch.Generator().manual_seed(0))
    places = scattered(mask.expand(4000, -1, -1), noise)
    assert mask[places[:, 1], places[:, 0]].all()
    counts = torch.zeros(32, 32).index_put_((places[:, 1], places[:, 0]), torch.ones(4000), accumulate=True)[mask]
    assert counts.min() > 0
    assert counts.std() / counts.mean() < 0.25
    ends = scattered(mask.expand(2, -1, -1), torch.tensor([0.0, 0.999999]))
    assert mask.nonzero()[[0, -1]].flip(1).tolist() == ends.tolist()


class Stubborn:
    """Answers with what it was made with, and remembers what it was asked."""

    def __init__(self, answer: Tensor, sure: Tensor) -> None:
        self.said, self.asked = Segmented(answer, sure), list[tuple[Any, ...]]()

    def prompt(self, _: Any, *given: Any) -> Segmented:
        self.asked.append(given)
        return self.said


def test_the_next_click_is_in_the_middle_of_what_is_wrong_and_says_which() -> None:
    target = torch.from_numpy(disc(8, 8, 4) | disc(24, 24, 6))[None]
    drawn = 5 * (2 * torch.from_numpy(disc(8, 8, 4) | disc(24, 6, 4))[None, None].float() - 1)
    model: Any = Stubborn(drawn.expand(1, 4, 32, 32), torch.tensor([[0.1, 0.2, 0.9, 0.3]]))
    seen: Any = build("sam-nano").encode(torch.zeros(1, 3, 32, 32))
    list(converse(model, seen, target, rounds=3))
    (points, labels, boxes, rough), second, third = model.asked
    assert (points.tolist(), labels.tolist(), boxes, rough) == ([[[24, 24]]], [[1]], None, None)  # the larger one first
    assert second[0].tolist() == [[[24, 24], [24, 24]]]  # what was left out, of which it heard nothing
    assert torch.equal(second[3], drawn)
    assert third[1].tolist() == [[1, 1, 1]]
    model.asked.clear()
    list(converse(model, seen, target, rounds=2, boxes=torch.tensor([[1.0, 1.0, 30.0, 30.0]])))
    assert model.asked[0][0] is None
    assert model.asked[1][0].tolist() == [[[24, 24]]]


def test_a_click_where_too_much_is_drawn_says_that_it_is_not_meant() -> None:
    target = torch.from_numpy(disc(8, 8, 4))[None]
    drawn = 5 * (2 * torch.from_numpy(disc(8, 8, 4) | disc(24, 24, 6))[None, None].float() - 1)
    model: Any = Stubborn(drawn.expand(1, 4, 32, 32), torch.ones(1, 4))
    seen: Any = build("sam-nano").encode(torch.zeros(1, 3, 32, 32))
    list(converse(model, seen, target, rounds=2))
    assert model.asked[1][0].tolist() == [[[8, 8], [24, 24]]]
    assert model.asked[1][1].tolist() == [[1, 0]]
    exact: Any = Stubborn(5 * (2 * target[:, None].float() - 1).expand(1, 4, 32, 32), torch.ones(1, 4))
    list(converse(exact, seen, target, rounds=2))
    assert exact.asked[1][0].tolist() == [[[8, 8], [8, 8]]]  # nothing is wrong


def test_a_clear_prompt_takes_the_single_mask_and_another_the_surest() -> None:
    masks, sure = torch.arange(8.0).view(2, 4, 1, 1), torch.tensor([[0.9, 0.1, 0.8, 0.3], [0.0, 0.5, 0.1, 0.7]])
    assert chosen(Segmented(masks, sure), clear=True).masks.flatten().tolist() == [0, 4]
    surest = chosen(Segmented(masks, sure), clear=False)
    assert surest.masks.flatten().tolist() == [2, 7]
    assert surest.iou.flatten().tolist() == pytest.approx([0.8, 0.7])
