"""The compiled loop over words does what the readable one does, and one thread always does the same."""

import sys
from itertools import pairwise

import numpy as np
import pytest

from regard.chance import Chance
from regard.train.hogwild import PIECE, Hogwild, Settings
from regard.words.chances import keep, tree, urn

pytest.importorskip("numba")

WAYS = [
    {},
    {"shared": False},
    {"skipgram": False},
    {"negative": 0},
    {"negative": 0, "skipgram": False},
]


def text(words: int = 40, length: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Lines of some words each, in which a word and the next one often stand together."""
    chance, ids = Chance(0, "words"), list[int]()
    while len(ids) < length:
        first = min(chance.below(words), chance.below(words)) // 2 * 2
        ids += [first, first + 1, chance.below(words), -1][: 4 if chance.happens(0.3) else 3]
    found = np.asarray(ids, np.int32)
    counts = np.bincount(found[found >= 0], minlength=words) + 1
    order = np.argsort(-counts, kind="stable")
    place = np.empty(words, np.int32)
    place[order] = np.arange(words)
    return np.where(found < 0, -1, place[found]).astype(np.int32), counts[order].astype(np.int64)


def trained(settings: Settings, **how: object) -> tuple[Hogwild, list[float]]:
    ids, counts = text()
    found = Hogwild(ids, counts, settings, **how)
    return found, [found.advance().loss for _ in range(found.steps)]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_compiled_loop_and_torch_have_the_same_loss_and_the_same_vectors(way: dict[str, object]) -> None:
    settings = Settings(width=12, window=3, epochs=2, lr=0.1, sample=0.02, **way)
    (fast, losses), (slow, others) = trained(settings), trained(settings, engine="torch")
    np.testing.assert_allclose(losses, others, rtol=2e-3)
    assert losses[1] < losses[0]
    np.testing.assert_allclose(fast.vectors, slow.vectors, atol=5e-3)
    np.testing.assert_allclose(fast.outputs, slow.outputs, atol=5e-3)
    assert abs(fast.vectors).max() > 0.1  # it has learnt something, or the comparison would be empty


def test_one_thread_gives_the_same_bits_again_and_another_seed_does_not() -> None:
    settings = Settings(width=12, epochs=2)
    (one, _), (two, _), (other, _) = trained(settings), trained(settings), trained(Settings(width=12, epochs=2, seed=1))
    assert np.array_equal(one.inputs, two.inputs)
    assert not np.array_equal(one.inputs, other.inputs)


def test_a_training_goes_on_bit_by_bit_where_it_stopped() -> None:
    ids, counts = text()
    ids = np.tile(ids, 3 * PIECE // len(ids) + 1)
    settings = Settings(width=8, epochs=2)
    whole, before, after = (Hogwild(ids, counts, settings, block=PIECE) for _ in range(3))
    assert whole.steps == 2 * whole.blocks >= 6
    for _ in range(whole.steps):
        whole.advance()
    for _ in range(4):
        before.advance()
    after.restore(before.tensors(), before.step)
    while after.step < after.steps:
        after.advance()
    assert np.array_equal(after.inputs, whole.inputs)
    assert np.array_equal(after.outputs, whole.outputs)


def test_two_threads_learn_as_one_does() -> None:
    ids, counts = text()
    ids = np.tile(ids, 8 * PIECE // len(ids) + 1)
    losses = []
    for threads in (1, 2):
        found = Hogwild(ids, counts, Settings(width=8, epochs=1), threads=threads)
        losses.append(found.advance().loss)
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def test_words_that_stand_together_become_alike() -> None:
    found, _ = trained(Settings(width=16, window=1, epochs=60, lr=0.1, sample=0.0))
    ids, counts = text()
    pairs = np.zeros((len(counts), len(counts)))
    for left, right in pairwise(ids):
        if left >= 0 and right >= 0:
            pairs[left, right] += 1
    likely = pairs.argmax(axis=1)
    scores = found.inputs @ found.outputs.T
    chosen = [scores[word, likely[word]] > np.median(scores[word]) for word in range(len(counts))]
    assert np.mean(chosen) > 0.9


def test_a_line_ends_what_a_word_sees() -> None:
    ids = np.asarray([0, 1, -1, 2, 3, -1] * 200, np.int32)
    found = Hogwild(
        ids, np.asarray([200, 200, 200, 200]), Settings(width=4, window=5, sample=0.0, epochs=1, negative=0)
    )
    assert found.advance().words == 800
    alone = Hogwild(np.asarray([0, -1, 1, -1, 2, -1, 3, -1], np.int32), np.ones(4, np.int64), Settings(width=4))
    before = alone.inputs.copy()
    assert alone.advance().loss == 0.0
    assert np.array_equal(before, alone.inputs)


def test_rows_are_filled_with_zeros_that_stay_zeros() -> None:
    found, _ = trained(Settings(width=5))
    assert found.inputs.shape[1] == 8
    assert not found.inputs[:, 5:].any()
    assert not found.outputs[:, 5:].any()


def test_the_rate_falls_along_a_line() -> None:
    ids, counts = text()
    found = Hogwild(ids, counts, Settings(epochs=2, lr=0.1, width=4))
    assert [round(found.lr(epoch, 0), 6) for epoch in (0, 1, 2)] == [0.1, 0.05, 0.00001]


def test_without_numba_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regard.train.hogwild_loops", None)
    ids, counts = text()
    with pytest.raises(ValueError, match=r"needs numba .*pip install '.\[fast\]', or take --engine torch"):
        Hogwild(ids, counts, Settings())


def test_words_are_drawn_by_a_power_of_their_counts() -> None:
    counts = np.asarray([1000, 100, 10, 1], np.int64)
    found = urn(counts)
    chance = np.minimum(found.chances, 1) / 4
    for place, other in enumerate(found.others):
        chance[other] += (1 - min(float(found.chances[place]), 1)) / 4
    np.testing.assert_allclose(chance, counts**0.75 / (counts**0.75).sum(), rtol=1e-5)


def test_frequent_words_are_thinned_and_rare_ones_are_certain() -> None:
    found = keep(np.asarray([900_000, 99_900, 100], np.int64), 1e-3)
    assert found[0] == pytest.approx((900**0.5 + 1) / 900, rel=1e-4)
    assert found[2] > 1
    assert (keep(np.asarray([5, 5], np.int64), 0.0) > 1).all()


def test_the_tree_has_each_word_once_and_frequent_ones_near() -> None:
    counts = np.asarray([40, 20, 20, 10, 5, 5], np.int64)
    found = tree(counts)
    depth = np.diff(found.starts)
    assert list(depth) == sorted(depth)
    assert (2.0**-depth).sum() == 1.0  # Kraft: every way is taken
    assert (depth * counts).sum() == 230  # the least that any tree has, by hand
    ways = {tuple(found.turns[a:b]) for a, b in zip(found.starts[:-1], found.starts[1:], strict=True)}
    assert len(ways) == 6
    assert {found.forks[start] for start in found.starts[:-1]} == {4}  # all begin at the root
    assert sorted(set(found.forks.tolist())) == [0, 1, 2, 3, 4]
