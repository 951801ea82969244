"""COCO's average precision, on pictures whose answer is known."""

import numpy as np
import pytest

from regard.analysis.detection import Marked, average_precision

pytest.importorskip("pycocotools")

BOXES = np.array([[0, 0, 10, 10], [20, 20, 40, 50]], np.float32)
KINDS = np.array([0, 1])
TRUTH = [Marked(BOXES, KINDS), Marked(BOXES[:1], KINDS[:1])]


def test_what_is_found_exactly_is_perfect_and_nothing_is_nothing() -> None:
    found = [Marked(each.boxes, each.classes, np.ones(len(each.classes), np.float32)) for each in TRUTH]
    perfect = average_precision(found, TRUTH, 2)
    assert (perfect.ap, perfect.ap50, perfect.ap75) == pytest.approx((100, 100, 100))
    assert perfect.signature.startswith("pycocotools 2.")
    none = [Marked(np.zeros((0, 4), np.float32), np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in TRUTH]
    assert average_precision(none, TRUTH, 2).ap == 0


def test_a_box_that_overlaps_by_six_tenths_counts_at_a_half_alone() -> None:
    # 10 × 10 against 10 × 6 of it: the overlap is 0.6.
    near = BOXES[:1] * np.array([1, 1, 1, 0.6], np.float32)
    found = [Marked(near, KINDS[:1], np.ones(1, np.float32))]
    scored = average_precision(found, [Marked(BOXES[:1], KINDS[:1])], 1)
    assert (scored.ap50, scored.ap75) == pytest.approx((100, 0))
    assert scored.ap == pytest.approx(30)  # right at 0.5, 0.55 and 0.6 of ten


def test_a_wrong_class_is_no_find_and_a_crowd_is_not_asked_for() -> None:
    wrong = [Marked(BOXES, KINDS[::-1].copy(), np.ones(2, np.float32))]
    assert average_precision(wrong, TRUTH[:1], 2).ap50 == 0
    crowd = [Marked(BOXES, KINDS, crowd=np.array([False, True]))]
    found = [Marked(BOXES[:1], KINDS[:1], np.ones(1, np.float32))]
    assert average_precision(found, crowd, 2).ap50 == pytest.approx(100)
    with pytest.raises(ValueError, match="things in 1 pictures do not go with the truth of 2"):
        average_precision(found, TRUTH, 2)
