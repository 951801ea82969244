"""Batches: bounded, complete, the same for any number of processes, and continued exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.chance import Chance
from regard.data import Batch, Batches, Order, token_batches
from regard.data.order import Rows

rows = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=60)


def sides(lengths: list[tuple[int, int]]) -> list[list[list[int]]]:
    return [[[5 + i] * pair[side] for i, pair in enumerate(lengths)] for side in (0, 1)]


SOME = sides([(i % 11 + 1, i % 7 + 2) for i in range(200)])


def shared(rank: int, ranks: int, seed: int = 0) -> Batches[Batch]:
    batches = token_batches(*SOME, tokens=40, seed=seed)
    batches.rank, batches.ranks = rank, ranks
    return batches


def taken(batches: Batches[Batch], count: int) -> list[list[int]]:
    return [next(batches).rows.tolist() for _ in range(count)]


@given(rows, st.integers(12, 60), st.integers(0, 2**64))
def test_every_row_is_seen_once_an_epoch_and_no_batch_is_too_large(
    lengths: list[tuple[int, int]], tokens: int, seed: int
) -> None:
    source, target = sides(lengths)
    batches = token_batches(source, target, tokens=tokens, seed=seed)
    for epoch in range(2):
        seen = []
        for batch in (next(batches) for _ in range(len(batches))):
            assert all(side.size <= tokens for side in batch.sides)
            for i, row in enumerate(batch.rows.tolist()):
                for side, length, rows in zip(batch.sides, batch.lengths, (source, target), strict=True):
                    assert side[i, : length[i]].tolist() == rows[row]
                    assert not side[i, length[i] :].any()
            seen += batch.rows.tolist()
        assert sorted(seen) == list(range(len(lengths)))
        assert batches.epoch == epoch + 1


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 30))
def test_stopping_and_continuing_with_other_processes_changes_nothing(before: int, after: int, steps: int) -> None:
    whole = taken(token_batches(*SOME, tokens=40, seed=3), before * steps + after * 30)
    first = [shared(rank, before, seed=3) for rank in range(before)]
    seen = [batch for _ in range(steps) for each in first for batch in taken(each, 1)]
    second = [shared(rank, after, seed=3) for rank in range(after)]
    for each in second:
        each.restore(first[-1].state)
    seen += [batch for _ in range(30) for each in second for batch in taken(each, 1)]
    assert seen == whole


def test_the_state_is_a_few_integers() -> None:
    batches = token_batches(*SOME, tokens=40)
    next(batches)
    assert batches.state["taken"] == 1
    assert len(batches.state) == 4
    assert all(type(value) is int for value in batches.state.values())


def test_epochs_and_seeds_differ_in_order_and_in_company() -> None:
    batches = token_batches(*SOME, tokens=40)
    one, two, other = (
        taken(batches, len(batches)),
        taken(batches, len(batches)),
        taken(token_batches(*SOME, tokens=40, seed=1), len(batches)),
    )
    for left, right in ((one, two), (one, other)):
        assert left != right
        assert {frozenset(batch) for batch in left} != {frozenset(batch) for batch in right}


def test_the_order_is_the_same_on_every_machine() -> None:
    assert taken(token_batches([[1] * (1 + i % 3) for i in range(9)], tokens=6), 4) == [
        [0, 6, 3],
        [8],
        [5, 2],
        [7, 1, 4],
    ]


def test_a_measurement_sees_every_row_once_and_moves_nothing() -> None:
    parts = [shared(rank, 3) for rank in range(3)]
    seen = [row for part in parts for batch in part.once() for row in batch.rows.tolist()]
    assert sorted(seen) == list(range(200))
    assert parts[0].state["taken"] == 0


def test_batches_hold_rows_of_similar_length() -> None:
    dice = np.random.default_rng(0)
    batches = token_batches([[1] * n for n in dice.integers(1, 60, 3000).tolist()], tokens=600)
    some = [next(batches) for _ in range(len(batches))]
    assert sum(int(b.lengths[0].sum()) for b in some) / sum(b.sides[0].size for b in some) > 0.95


def test_what_makes_no_batches_is_refused() -> None:
    with pytest.raises(ValueError, match="row 1 has 50 tokens, and a batch has room for 40; give a larger batch, or"):
        token_batches([[1], [1] * 50], tokens=40)
    with pytest.raises(ValueError, match=r"sides of \[1, 2\] rows make no batches; give equally many"):
        token_batches([[1]], [[1], [2]], tokens=40)
    with pytest.raises(ValueError, match="rank 2 is not among 2"):
        next(shared(2, 2))


def test_a_state_of_other_data_is_refused() -> None:
    state = token_batches(*SOME, tokens=40).state
    for other, said in (
        (token_batches(*SOME, tokens=41), "taken with room 40, and here it is 41; continue with the same data"),
        (token_batches(SOME[1], SOME[0], tokens=40), "taken with data"),
        (token_batches(SOME[0], [[9, *row[1:]] for row in SOME[1]], tokens=40), "taken with data"),  # of equal lengths
        (token_batches(*SOME, tokens=40, seed=1), "taken with seed 0, and here it is 1"),
    ):
        with pytest.raises(ValueError, match=said):
            other.restore(state)
    with pytest.raises(ValueError, match="this state has no 'taken'"):
        token_batches(*SOME, tokens=40).restore({})


def test_pictures_have_batches_too_and_vary_by_their_place() -> None:
    pictures = np.arange(10.0)[:, None, None] * np.ones((10, 3, 3))

    def collate(rows: Rows, chance: Chance | None) -> np.ndarray:
        return pictures[rows] + (0.0 if chance is None else chance.uniform())

    def batches() -> Batches[np.ndarray]:
        return Batches(Order(np.ones(10, np.int64), room=4, seed=1), collate)

    whole = batches()
    first = [next(whole) for _ in range(8)]
    assert [len(batch) for batch in first[:3]] in ([4, 4, 2], [4, 2, 4], [2, 4, 4])
    assert sorted(np.floor(np.concatenate(first[:3])[:, 0, 0]).tolist()) == list(range(10))
    again = batches()
    again.restore({**again.state, "taken": 5})
    assert np.array_equal(next(again), first[5])
    assert np.array_equal(np.concatenate(list(again.once())), pictures)


def test_padding_may_have_any_number() -> None:
    (batch,) = token_batches([[1, 2], [3]], tokens=10, pad=7).once()
    assert batch.sides[0].tolist() == [[3, 7], [1, 2]]


def test_a_batch_may_have_so_many_rows_of_any_length() -> None:
    rows = [[1] * length for length in (9, 1, 5, 2, 7, 3, 8)]
    batches = token_batches(rows, tokens=1, rows=3, seed=0)
    sizes = [len(next(batches).rows) for _ in range(6)]
    assert sorted(sizes) == [1, 1, 3, 3, 3, 3]
    for batch in batches.once():
        assert sorted(batch.lengths[0]) == batch.lengths[0].tolist()  # equal lengths lie side by side
