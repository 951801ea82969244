"""Weights go out and come back the same, and fit what they stand between."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.analysis.view import Latents, View, pack, shrink, unpack
from regard.text import Words


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(["u8", "f16", "f32"]), st.integers(0, 99))
def test_packed_weights_come_back(rows: int, columns: int, encoding: Any, seed: int) -> None:
    weights = np.random.default_rng(seed).random((rows, columns), np.float32)
    found = unpack(pack(weights, encoding), weights.shape, encoding)
    np.testing.assert_allclose(found, weights, atol={"u8": 0.5 / 255 + 1e-6, "f16": 5e-4, "f32": 0}[encoding])


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 12))
def test_a_smaller_picture_has_the_same_mean(rows: int, columns: int, size: int) -> None:
    weights = np.random.default_rng(rows).random((2, rows, columns), np.float32)
    small = shrink(weights, size, size)
    assert small.shape == (2, size, size)
    np.testing.assert_allclose(small.mean(axis=(1, 2)), weights.mean(axis=(1, 2)), rtol=1e-4)
    assert small.max() <= weights.max() + 1e-5


def test_weights_that_do_not_fit_their_axes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 2\) do not fit 2 rows and 3 columns of 'attn'"):
        View("attn", Words.whole(("a", "b")), Latents(3), np.zeros((2, 2), np.float32))
