"""Recall over a distance: what is asked can be answered from the words alone, and the dial moves nothing else."""

import pickle
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.world.recall import FARTHEST, PADDING, Recall, recalls, vocabulary


def answered(item: Recall) -> int:
    """What somebody with a perfect memory says."""
    told = item.ids[: 2 * item.pairs]
    return dict(zip(told[::2], told[1::2], strict=True))[item.question]


@given(
    seed=st.integers(0, 2**40),
    index=st.integers(0, 10**6),
    distance=st.integers(1, FARTHEST),
    pairs=st.integers(1, 6),
    spare=st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9)),
)
def test_a_perfect_memory_answers_at_any_distance(
    seed: int, index: int, distance: int, pairs: int, spare: tuple[int, int, int]
) -> None:
    keys, values, noise = pairs + spare[0], pairs + spare[1], spare[2]
    item = recalls(seed=seed, distance=distance, pairs=pairs, keys=keys, values=values, noise=noise)[index]
    assert item.answer == answered(item) == item.ids[item.place]
    assert item.distance == distance == len(item.ids) - 1 - (2 * pairs - 1)
    assert set(item.ids[: 2 * pairs : 2]) <= set(range(1, keys + 1))
    assert set(item.ids[1 : 2 * pairs : 2]) <= set(range(keys + 1, keys + values + 1))
    assert set(item.ids[2 * pairs : -1]) <= set(range(keys + values + 1, vocabulary(keys, values, noise)))
    assert PADDING not in item.ids


def test_the_dial_moves_nothing_but_the_noise() -> None:
    near, far = recalls(seed=3, distance=1), recalls(seed=3, distance=FARTHEST)
    for index in range(20):
        assert near[index].ids[:-1] == far[index].ids[:8]
        assert (near[index].question, near[index].answer) == (far[index].question, far[index].answer)


def test_a_story_has_the_same_words_as_the_sequence() -> None:
    item = recalls(distance=5, pairs=3)[0]
    assert [len(sentence) for sentence in item.story] == [2, 2, 2, 1, 1, 1, 1]
    assert (*(word for sentence in item.story for word in sentence), item.question) == item.ids
    assert item.story[item.place // 2] == (item.question, item.answer)


def test_neither_the_place_nor_the_value_gives_the_answer_away() -> None:
    many = list(recalls(distance=(1, 9), pairs=4, keys=6, values=6)[:2000])
    for counts in (
        Counter(item.place for item in many),
        Counter(item.answer for item in many),
        Counter(item.question for item in many),
        Counter(item.distance for item in many),
    ):
        expected = len(many) / len(counts)
        # Five standard deviations of a fair die.
        assert all(abs(count - expected) < 5 * expected**0.5 for count in counts.values()), counts


def test_item_seven_is_item_seven_whoever_asks_first() -> None:
    view = recalls(seed=4)
    assert list(islice(view, 8))[7] == view[7] == view[5:][2] == pickle.loads(pickle.dumps(view))[7]


def test_another_process_asks_the_same() -> None:
    code = "from regard.world.recall import recalls; print([recalls(seed=9)[i] for i in (0, 5, 1000)])"
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert there == str([recalls(seed=9)[i] for i in (0, 5, 1000)])


def test_training_and_test_share_nothing_at_the_usual_sizes() -> None:
    train, test = (set(recalls(split=split)[:600]) for split in ("train", "test"))
    assert len(train) == len(test) == 600
    assert not train & test
    assert recalls(seed=0)[0] != recalls(seed=1)[0]


def test_the_card_says_what_was_asked_and_what_guessing_gives() -> None:
    card = recalls(seed=2, split="test", distance=(1, 100), pairs=4, keys=5, values=6, noise=7, count=10).card()
    assert card["name"] == "regard.world recalls"
    assert (card["seed"], card["split"], card["distance"], card["count"]) == (2, "test", [1, 100], 10)
    assert (card["keys"], card["values"], card["noise"]) == ([1, 5], [6, 11], [12, 18])
    assert card["vocabulary"] == vocabulary(5, 6, 7) == 19
    assert card["guessing among the values shown"] == 0.25


@pytest.mark.parametrize(
    ("dials", "message"),
    [
        ({"split": "valid"}, "no split is called 'valid'; choose train or test"),
        ({"distance": 0}, "distance 0 cannot be kept; give 1 to 1000 steps, or a range"),
        ({"distance": 1001}, "distance 1001 cannot be kept"),
        ({"distance": (5, 2)}, r"distance \(5, 2\) cannot be kept"),
        ({"pairs": 0}, "0 pairs cannot be made of 16 keys and 16 values .*; ask for 1 pair or more"),
        ({"pairs": 5, "values": 4}, "5 pairs cannot be made of 16 keys and 4 values without using one twice"),
        ({"noise": 0}, "0 noise words leave nothing to say .*; give 1 or more"),
    ],
)
def test_a_dial_out_of_range_says_how_far_it_goes(dials: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recalls(**dials)
