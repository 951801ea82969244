"""The best words of many, by blocks."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.decode.top import BLOCK, log_probs, top


@given(st.integers(0, 2**31), st.integers(1, 40), st.integers(1, 60 * BLOCK), st.integers(1, 10))
def test_the_best_are_those_that_sorting_everything_finds(seed: int, rows: int, vocab: int, count: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.rand(rows, vocab, generator=generator)
    logits[torch.rand(rows, vocab, generator=generator) < 0.2] = -torch.inf
    found = top(logits, count)
    assert logits.gather(-1, found).equal(logits.sort(dim=-1, descending=True).values[:, :count])
    assert all(len(set(row)) == len(row) for row in found.tolist())


def test_the_best_may_stand_behind_the_last_block() -> None:
    logits = torch.zeros(1, 20 * BLOCK + 3)
    logits[0, -1], logits[0, 7], logits[0, -2] = 3.0, 2.0, 1.0
    assert top(logits, 3).tolist() == [[20 * BLOCK + 2, 7, 20 * BLOCK + 1]]


@given(st.integers(0, 2**31), st.integers(1, 40))
def test_log_probabilities_are_those_of_the_whole(seed: int, rows: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, 9, generator=generator)
    words = torch.randint(0, 9, (rows, 2), generator=generator)
    assert log_probs(logits, words).equal(logits.log_softmax(dim=-1).gather(-1, words))
