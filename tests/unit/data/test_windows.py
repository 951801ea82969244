"""Windows of one stream: in a measurement every token is predicted once, in training borders move."""

import numpy as np
import pytest

from regard.data import windows


def test_a_measurement_predicts_every_token_but_the_first_once() -> None:
    ids = np.arange(103, dtype=np.int32)
    wanted = [
        token
        for batch in windows(ids, context=10, rows=3).once()
        for row, length in zip(batch.sides[0], batch.lengths[0], strict=True)
        for token in row[1:length]
    ]
    assert sorted(wanted) == list(range(1, 103))


def test_in_training_windows_are_whole_and_begin_elsewhere_in_each_epoch() -> None:
    batches = windows(np.arange(1001, dtype=np.int32), context=10, rows=5)
    epochs = [np.concatenate([next(batches).sides[0] for _ in range(len(batches))]) for _ in range(2)]
    for epoch in epochs:
        assert epoch.shape == (100, 11)
        assert (np.diff(epoch, axis=1) == 1).all()
    assert set(epochs[0][:, 0]) != set(epochs[1][:, 0])


def test_a_stopped_run_meets_the_same_windows() -> None:
    ids = np.arange(500, dtype=np.int32)
    whole, again = windows(ids, context=8, rows=4, seed=3), windows(ids, context=8, rows=4, seed=3)
    seen = [next(whole).sides[0] for _ in range(25)]
    for _ in range(10):
        next(again)
    resumed = windows(ids, context=8, rows=4, seed=3)
    resumed.restore(again.state)
    assert all((next(resumed).sides[0] == each).all() for each in seen[10:])
    with pytest.raises(ValueError, match="data"):
        windows(ids[::-1].copy(), context=8, rows=4, seed=3).restore(again.state)


def test_a_stream_shorter_than_the_context_is_one_window_and_a_single_token_none() -> None:
    (batch,) = windows(np.arange(5), context=64, rows=2).once()
    assert batch.sides[0].tolist() == [[0, 1, 2, 3, 4]]
    with pytest.raises(ValueError, match="nothing to predict"):
        windows(np.arange(1), context=4, rows=1)
