"""Masks as run lengths of COCO: known values, and there and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from regard.vision import rle


def disc() -> np.ndarray:
    y, x = np.mgrid[:40, :60]
    found: np.ndarray = (y - 20) ** 2 + (x - 30) ** 2 < 200
    return found


def test_the_string_of_a_mask_is_that_of_cocos_own_tools() -> None:
    """The values are from pycocotools 2.0.11."""
    assert rle.pack(rle.encode(disc())) == "cd03Q18J4M2N2N2N2N2O0O2O00000O2O0001N1000001N101N2N2N2N2N3L6HYb0"
    assert rle.pack(rle.encode(np.zeros((5, 5), bool))) == "i0"
    assert rle.pack(rle.encode(np.ones((5, 5), bool))) == "0i0"
    holed = np.zeros((6, 9), bool)
    holed[2:5, 1:7] = True
    holed[3, 3] = False
    assert rle.encode(holed) == [8, 3, 3, 3, 3, 1, 1, 1, 3, 3, 3, 3, 3, 3, 13]
    assert rle.pack(rle.encode(holed)) == "83300NN0220000:"


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=40)))
def test_a_mask_survives_being_written(mask: np.ndarray) -> None:
    counts = rle.encode(mask)
    assert sum(counts) == mask.size
    assert sum(counts[1::2]) == mask.sum()
    assert np.array_equal(rle.decode(counts, *mask.shape), mask)
    assert rle.unpack(rle.pack(counts)) == counts
    assert np.array_equal(rle.decode(rle.pack(counts), *mask.shape), mask)


@given(st.lists(st.integers(0, 10**7), max_size=20))
def test_any_counts_survive_being_packed(counts: list[int]) -> None:
    assert rle.unpack(rle.pack(counts)) == counts


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([3, 3], r"do not fill 2 × 5 pixels"),
        ([-1, 11], r"do not fill"),
        ("i", r"it ends within a count"),
        ("\x00", r"'\\x00' has no place there"),
        ("o" * 50, r"has no place there"),
    ],
)
def test_what_is_no_mask_is_refused(counts: list[int] | str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        rle.decode(counts, 2, 5)
    with pytest.raises(ValueError, match=r"give 1 to 64,000,000 pixels"):
        rle.decode([10**12], 10**6, 10**6)


def test_a_polygon_has_the_pixels_whose_middle_is_inside() -> None:
    assert np.array_equal(rle.fill([[1, 2, 4, 2, 4, 5, 1, 5]], 6, 7), np.pad(np.ones((3, 3), bool), ((2, 1), (1, 3))))
    assert rle.fill([[10.2, 10.1, 30.7, 12.0, 20.0, 30.9]], 40, 40).sum() == 203  # as pycocotools
    assert rle.fill([[0, 0, 2, 0, 2, 2, 0, 2], [1, 1, 3, 1, 3, 3, 1, 3]], 4, 4).sum() == 7  # two that overlap
    assert rle.fill([[-9, -9, 99, -9, 99, 99, -9, 99]], 4, 4).all()
    with pytest.raises(ValueError, match="a polygon of 4 numbers is none"):
        rle.fill([[1, 2, 3, 4]], 6, 6)
