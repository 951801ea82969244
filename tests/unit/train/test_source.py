"""A DataLoader, or a list, is read epoch after epoch, shared by processes, and gone on with by skipping."""

import pytest
import torch
from torch.utils.data import DataLoader

from regard.train.source import Repeated, Source, as_source

ROWS = list(range(10))


def loader(*, shuffle: bool = True) -> DataLoader[int]:
    return DataLoader(ROWS, batch_size=4, shuffle=shuffle)


def test_it_is_a_source_and_a_source_stays_itself() -> None:
    source = as_source(loader(), 0)
    assert isinstance(source, Source)
    assert as_source(source, 1) is source


def test_each_epoch_has_every_row_in_an_order_of_its_own() -> None:
    source = Repeated(loader(), 3)
    epochs = [[row for _ in range(3) for row in next(source).tolist()] for _ in range(4)]
    assert all(sorted(epoch) == ROWS for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 4


def test_it_goes_on_where_it_stopped_whatever_else_took_random_numbers() -> None:
    whole = Repeated(loader(), 3)
    expected = [next(whole).tolist() for _ in range(9)]
    first, second = Repeated(loader(), 3), Repeated(loader(), 3)
    for _ in range(5):
        next(first)
        torch.rand(7)
    second.restore(first.state)
    assert [next(second).tolist() for _ in range(4)] == expected[5:]


def test_processes_take_turns() -> None:
    alone, parts = Repeated(loader(), 3), [Repeated(loader(), 3) for _ in range(2)]
    for rank, part in enumerate(parts):
        part.rank, part.ranks = rank, 2
    together = [next(part).tolist() for _ in range(4) for part in parts]
    assert together == [next(alone).tolist() for _ in range(8)]
    assert parts[0].state["taken"] == 8


def test_what_cannot_be_read_again_and_what_is_empty_are_refused() -> None:
    with pytest.raises(TypeError, match="a generator can be read only once"):
        Repeated(x for x in ROWS)
    with pytest.raises(ValueError, match="a list without batches teaches nothing"):
        next(Repeated([]))
    with pytest.raises(ValueError, match="taken with seed 0, and here it is 1; go on with the same data"):
        Repeated(loader(), 1).restore(Repeated(loader(), 0).state)
