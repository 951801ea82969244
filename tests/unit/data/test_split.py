"""Pieces taken apart again: the same text, in as many more pieces as were asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.chance import Chance
from regard.data import Batch, Batches, split, token_batches
from regard.text import Tokenizer

LINES = ["Ein Hund läuft über die Wiese.", "Zwei Hunde laufen über zwei Wiesen.", "Eine Wiese ohne Hund."]
TOKENIZER = Tokenizer.train(LINES, vocab=400)
HALVES = TOKENIZER.halves()
ROWS = TOKENIZER.encode(LINES, start=True, stop=True)


@given(st.floats(0, 1), st.integers(0, 2**32))
def test_the_text_stays_the_same(share: float, seed: int) -> None:
    for line, row in zip(LINES, split(ROWS, HALVES, share, Chance(seed, "test")), strict=True):
        assert TOKENIZER.decode(row) == line


def test_a_piece_of_one_byte_and_a_special_stay_whole() -> None:
    assert HALVES[:4] == [(-1, -1)] * 4
    assert sum(left >= 0 for left, _ in HALVES) == TOKENIZER.vocab - 4 - 256
    letters = [[each for piece in row for each in _bytes(piece)] for row in ROWS]
    assert split(letters, HALVES, 1.0, Chance(0, "test")) == letters


def test_rows_grow_by_their_share_and_equally_long_ones_equally() -> None:
    rows = [ROWS[1]] * 400
    grown = split(rows, HALVES, 0.25, Chance(3, "test"))
    assert len({len(row) for row in grown}) == 1
    assert len({tuple(row) for row in grown}) > 10
    many = [len(split(rows[:1], HALVES, 0.25, Chance(seed, "test"))[0]) for seed in range(400)]
    assert sum(many) / len(many) / len(rows[0]) == pytest.approx(1.25, abs=0.02)


def test_each_meeting_is_another_and_a_stopped_run_meets_the_same() -> None:
    def batches() -> Batches[Batch]:
        return token_batches(ROWS, ROWS, tokens=200, seed=1, vary=lambda rows, chance: split(rows, HALVES, 0.5, chance))

    one, other = batches(), batches()
    met = [next(one) for _ in range(6)]
    assert len({batch.sides[0].tobytes() for batch in met}) == 6
    assert met[0].sides[0].tobytes() != met[0].sides[1].tobytes()
    next(other)
    third = batches()
    third.restore(other.state)
    assert next(third).sides[1].tolist() == met[1].sides[1].tolist()
    assert [row.tolist() for batch in one.once() for row in batch.lengths] == [
        row.tolist() for batch in token_batches(ROWS, ROWS, tokens=200).once() for row in batch.lengths
    ]


def test_no_more_than_all_pieces_can_be_asked_for() -> None:
    with pytest.raises(ValueError, match=r"split is 1\.5; give a share from 0 to 1"):
        split(ROWS, HALVES, 1.5, Chance(0, "test"))


def _bytes(piece: int) -> list[int]:
    left, right = HALVES[piece]
    return [piece] if left < 0 else _bytes(left) + _bytes(right)
