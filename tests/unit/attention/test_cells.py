"""Biases between two maps: LeViT's distances and MViT's steps, against their definitions."""

import pytest
import torch
from torch import Tensor

from regard.attention import Decomposed2d, Distances2d


def places(height: int, width: int) -> list[tuple[int, int]]:
    return [(row, column) for row in range(height) for column in range(width)]


def heads(count: int, cells: int, width: int = 4) -> Tensor:
    return torch.randn(2, count, cells, width)


@pytest.mark.parametrize(("height", "width", "stride"), [(3, 4, 1), (4, 4, 2), (5, 3, 2), (1, 1, 2)])
def test_every_distance_has_a_number_whichever_way_it_goes(height: int, width: int, stride: int) -> None:
    bias = Distances2d((height, width), 2, stride=stride)
    torch.nn.init.normal_(bias.table)
    asking = [(row, column) for row, column in places(height, width) if row % stride == column % stride == 0]
    found = bias(heads(2, len(asking)), heads(2, height * width))
    assert found.shape == (1, 2, len(asking), height * width)
    for i, (row, column) in enumerate(asking):
        for j, (y, x) in enumerate(places(height, width)):
            assert found[0, :, i, j].equal(bias.table[:, abs(row - y) * width + abs(column - x)])


@pytest.mark.parametrize(("queries", "keys"), [((4, 4), (4, 4)), ((4, 4), (2, 2)), ((2, 3), (4, 6)), ((3, 3), (2, 2))])
def test_a_query_is_scored_by_its_steps_down_and_across_to_each_key(
    queries: tuple[int, int], keys: tuple[int, int]
) -> None:
    bias = Decomposed2d(4, queries, keys)
    q = heads(2, queries[0] * queries[1])
    found = bias(q, heads(2, keys[0] * keys[1]))

    def step(place: int, key: int, side: int) -> int:
        """In cells of the finer map, counted from the farthest that lies behind."""
        finer = max(queries[side], keys[side])
        at, there = place * finer / queries[side], key * finer / keys[side]
        return int(at - there + (keys[side] - 1) * finer / keys[side])

    for i, (row, column) in enumerate(places(*queries)):
        for j, (y, x) in enumerate(places(*keys)):
            learned = bias.rows[step(row, y, 0)] + bias.columns[step(column, x, 1)]
            torch.testing.assert_close(found[:, :, i, j], q[:, :, i] @ learned, atol=1e-5, rtol=1e-5)


def test_maps_of_another_size_are_refused() -> None:
    words = "queries on a map of 2×2 and keys on one of 4×4 got 4 and 9; give pictures of the size"
    with pytest.raises(ValueError, match=words):
        Distances2d(4, 2, stride=2)(heads(2, 4), heads(2, 9))
    with pytest.raises(ValueError, match="keys on one of 2×2 got 16 and 5"):
        Decomposed2d(4, (4, 4), (2, 2))(heads(2, 16), heads(2, 5))
