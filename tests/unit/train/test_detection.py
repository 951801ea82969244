"""Objects are given to the queries that fit them best, and all other queries learn to say nothing."""

import sys

import pytest
import torch
import torch.nn.functional as F

from regard.train.detection import Objects, Weights, detection_loss, match

BOXES = torch.tensor([[0.2, 0.2, 0.1, 0.1], [0.7, 0.6, 0.2, 0.3], [0.5, 0.5, 0.4, 0.4]])


def said(classes: list[int], boxes: torch.Tensor, sure: float = 10.0) -> tuple[torch.Tensor, torch.Tensor]:
    """A picture of which each query says a class of four, or the last one for none, and a box."""
    return F.one_hot(torch.tensor([classes]), 5).float() * sure, boxes[None].clone()


def test_each_object_is_given_to_the_query_that_fits_it() -> None:
    logits, boxes = said([4, 1, 0], BOXES[[2, 1, 0]])
    ((queries, objects),) = match(logits, boxes, [Objects(torch.tensor([0, 1]), BOXES[:2])])
    assert (queries.tolist(), objects.tolist()) == ([1, 2], [1, 0])


def test_no_query_gets_two_objects_even_if_it_fits_both() -> None:
    logits, boxes = said([0, 4, 4], BOXES)
    two = Objects(torch.tensor([0, 0]), BOXES[[0, 0]])
    ((queries, objects),) = match(logits, boxes, [two])
    assert len(set(queries.tolist())) == 2
    assert sorted(objects.tolist()) == [0, 1]


def test_more_objects_than_queries_leave_some_without_one() -> None:
    logits, boxes = said([0], BOXES[:1])
    ((queries, objects),) = match(logits, boxes, [Objects(torch.tensor([1, 0, 2]), BOXES[[1, 0, 2]])])
    assert (queries.tolist(), objects.tolist()) == ([0], [1])


def test_who_says_it_all_right_has_no_loss() -> None:
    logits, boxes = said([4, 1, 0], BOXES[[2, 1, 0]], sure=100.0)
    loss = detection_loss((logits, boxes, ()), [Objects(torch.tensor([0, 1]), BOXES[:2])])
    assert all(float(part) == pytest.approx(0.0, abs=1e-5) for part in loss)


def test_to_miss_an_object_costs_more_than_to_see_one_too_many() -> None:
    """No object is said so often that it weighs a tenth."""
    target = [Objects(torch.tensor([0]), BOXES[:1])]
    missed = detection_loss((*said([4, 4, 4], BOXES), ()), target)
    invented = detection_loss((*said([0, 1, 4], BOXES), ()), target)
    assert missed.classes > 5 * invented.classes
    evenly = detection_loss((*said([0, 1, 4], BOXES), ()), target, weights=Weights(nothing=1.0))
    assert evenly.classes > 2 * invented.classes


def test_a_picture_without_objects_teaches_to_say_nothing_and_no_box() -> None:
    logits, boxes = said([0, 1, 4], BOXES)
    boxes.requires_grad_()
    loss = detection_loss((logits, boxes, ()), [Objects(torch.zeros(0, dtype=torch.long), torch.zeros(0, 4))])
    assert loss.classes > 1
    assert loss.boxes == loss.overlap == 0
    loss.total.backward()
    assert boxes.grad is not None
    assert boxes.grad.abs().sum() == 0


def test_every_block_is_matched_by_itself() -> None:
    target = [Objects(torch.tensor([0]), BOXES[:1])]
    last, early = said([0, 4, 4], BOXES, sure=100.0), said([4, 4, 0], BOXES[[2, 1, 0]], sure=100.0)
    assert detection_loss((*last, (early,)), target).total == pytest.approx(0.0, abs=1e-5)


def test_boxes_are_averaged_over_the_objects_of_all_processes_where_their_count_is_given() -> None:
    target = [Objects(torch.tensor([0]), BOXES[1:2])]
    whole = detection_loss((*said([0, 4, 4], BOXES[[0, 0, 2]]), ()), target)
    half = detection_loss((*said([0, 4, 4], BOXES[[0, 0, 2]]), ()), target, count=2.0)
    assert half.boxes == pytest.approx(float(whole.boxes) / 2)


def test_costs_that_are_no_numbers_end_no_training_here() -> None:
    logits, boxes = said([0, 1, 4], BOXES)
    ((queries, _),) = match(logits * float("nan"), boxes, [Objects(torch.tensor([0]), BOXES[:1])])
    assert len(queries) == 1


def test_targets_that_do_not_fit_are_refused() -> None:
    spoken = (*said([0, 1, 4], BOXES), ())
    with pytest.raises(ValueError, match="2 pictures with objects do not go with a batch of 1"):
        detection_loss(spoken, [Objects(torch.tensor([0]), BOXES[:1])] * 2)
    with pytest.raises(ValueError, match=r"picture 0 of the batch has classes \[4\]; a model of 4 knows 0 to 3"):
        detection_loss(spoken, [Objects(torch.tensor([4]), BOXES[:1])])
    with pytest.raises(ValueError, match="picture 0 of the batch has 1 classes and 2 boxes; give as many"):
        detection_loss(spoken, [Objects(torch.tensor([1]), BOXES[:2])])


def test_without_scipy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError, match=r"needs scipy; in a clone of regard, pip install '\.\[vision\]'"):
        match(*said([0], BOXES[:1]), [Objects(torch.tensor([0]), BOXES[:1])])
