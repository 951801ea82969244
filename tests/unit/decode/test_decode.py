"""Searches over a model small enough to know every sequence it could write."""

import itertools
import math
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Memory, multihead, record
from regard.decode import Hypothesis, beam, generate, greedy, looks, sampler

STOP, WORDS = 1, 5


@dataclass(frozen=True)
class History:
    """All that was written so far, row by row."""

    words: Tensor
    sentence: Tensor  # which sentence a row belongs to

    def select(self, rows: Tensor) -> "History":
        return History(self.words[rows], self.sentence[rows])


class Toy:
    """The next word depends on the sentence and on the last two words, by a table of random numbers."""

    def __init__(self, seed: int, sentences: int = 3) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.table = 2 * torch.randn(sentences, WORDS, WORDS, WORDS, generator=generator)

    def start(self) -> History:
        count = len(self.table)
        return History(torch.zeros(count, 1, dtype=torch.long), torch.arange(count))

    def step(self, words: Tensor, state: History) -> tuple[Tensor, History]:
        assert words.shape == (len(state.words), 1)
        after = History(torch.cat((state.words, words), dim=1), state.sentence)
        return self.table[state.sentence, after.words[:, -2], after.words[:, -1]][:, None], after

    def log_prob(self, sentence: int, words: tuple[int, ...]) -> float:
        before, last, total = 0, 0, 0.0
        for word in words:
            total += float(self.table[sentence, before, last].log_softmax(dim=-1)[word])
            before, last = last, word
        return total


def first(toy: Toy) -> Tensor:
    return torch.zeros(len(toy.table), dtype=torch.long)


def every(toy: Toy, sentence: int, limit: int) -> list[float]:
    """The log probabilities of all sequences: those that stop in time, and those that the limit cuts off."""
    others = [word for word in range(WORDS) if word != STOP]
    stopped = [(*words, STOP) for length in range(limit) for words in itertools.product(others, repeat=length)]
    cut = itertools.product(others, repeat=limit)
    return sorted((toy.log_prob(sentence, words) for words in (*stopped, *cut)), reverse=True)


seeds = st.integers(0, 2**31)


@given(seeds)
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    toy = Toy(seed)
    one = greedy(toy.step, toy.start(), first(toy), stop=STOP, limit=8)
    other = [
        best for (best,) in beam(toy.step, toy.start(), first(toy), stop=STOP, limit=8, size=1, length_penalty=0.0)
    ]
    for a, b in zip(one, other, strict=True):
        assert (a.words, a.finished) == (b.words, b.finished)
        assert a.log_prob == pytest.approx(b.log_prob, abs=1e-4)


@given(seeds)
@settings(max_examples=10)
def test_a_beam_as_wide_as_the_language_finds_the_likeliest_sequences_there_are(seed: int) -> None:
    toy, limit = Toy(seed, sentences=2), 3
    found = beam(
        toy.step, toy.start(), first(toy), stop=STOP, limit=limit, size=WORDS**limit, length_penalty=0.0, count=3
    )
    for sentence, three in enumerate(found):
        assert [each.log_prob for each in three] == pytest.approx(every(toy, sentence, limit)[:3], abs=1e-4)


@given(seeds, st.integers(1, 6), st.sampled_from([0.0, 0.6, 1.0]))
def test_log_probabilities_are_those_of_the_words(seed: int, size: int, length_penalty: float) -> None:
    toy = Toy(seed)
    for sentence, some in enumerate(
        beam(
            toy.step, toy.start(), first(toy), stop=STOP, limit=6, size=size, length_penalty=length_penalty, count=size
        )
    ):
        assert [each.score for each in some] == sorted((each.score for each in some), reverse=True)
        assert len({(each.words, each.finished) for each in some}) == len(some)
        for each in some:
            words = (*each.words, STOP) if each.finished else each.words
            assert each.log_prob == pytest.approx(toy.log_prob(sentence, words), abs=1e-4)
            assert each.score == pytest.approx(each.log_prob / ((5 + len(words)) / 6) ** length_penalty, abs=1e-4)
            assert len(each.rows) == len(words)


@given(seeds, st.integers(1, 5))
def test_a_sentence_in_a_batch_is_written_as_alone(seed: int, size: int) -> None:
    toy = Toy(seed)
    together = beam(toy.step, toy.start(), first(toy), stop=STOP, limit=7, size=size)
    walked = greedy(toy.step, toy.start(), first(toy), stop=STOP, limit=7)
    for i in range(3):
        only = torch.tensor([i])
        (alone,) = beam(toy.step, toy.start().select(only), first(toy)[only], stop=STOP, limit=7, size=size)
        assert [each.words for each in alone] == [each.words for each in together[i]]
        (alone_walked,) = greedy(toy.step, toy.start().select(only), first(toy)[only], stop=STOP, limit=7)
        assert alone_walked.words == walked[i].words


def test_without_a_stop_it_ends_at_the_limit() -> None:
    toy = Toy(0)
    toy.table[..., STOP] = -100.0
    for written in (
        greedy(toy.step, toy.start(), first(toy), stop=STOP, limit=5),
        [best for (best,) in beam(toy.step, toy.start(), first(toy), stop=STOP, limit=5, size=3)],
    ):
        assert [len(each.words) for each in written] == [5, 5, 5]
        assert not any(each.finished for each in written)


@given(seeds, st.integers(1, 4))
def test_each_row_may_have_a_limit_of_its_own_and_is_written_as_alone(seed: int, size: int) -> None:
    toy, limit = Toy(seed), [2, 6, 1]
    walked = greedy(toy.step, toy.start(), first(toy), stop=STOP, limit=limit)
    searched = beam(toy.step, toy.start(), first(toy), stop=STOP, limit=limit, size=size)
    for i, most in enumerate(limit):
        only = torch.tensor([i])
        (one,) = greedy(toy.step, toy.start().select(only), first(toy)[only], stop=STOP, limit=most)
        ((best,),) = beam(toy.step, toy.start().select(only), first(toy)[only], stop=STOP, limit=most, size=size)
        assert len(walked[i].rows) <= most
        assert (walked[i].words, walked[i].finished) == (one.words, one.finished)
        assert (searched[i][0].words, searched[i][0].finished) == (best.words, best.finished)


def test_pasts_that_were_selected_from_one_grow_apart() -> None:
    parts = [Memory(*torch.randn(2, 3, 2, n, 4)) for n in (2, 1, 1, 1, 1)]
    with torch.no_grad():
        past = parts[0].extend(parts[1])
        orders = [torch.tensor(rows) for rows in ([2, 0, 0], [1, 1, 2], [0, 1, 2])]
        selected = [past.select(rows) for rows in orders]
        grown = [each.extend(newer) for each, newer in zip(selected, parts[2:], strict=True)]
        again = [each.extend(newer) for each, newer in zip(grown, parts[2:], strict=True)]
    for rows, each, newer in zip(orders, again, parts[2:], strict=True):
        for name in ("k", "v"):
            before = torch.cat([getattr(part, name) for part in parts[:2]], dim=-2)[rows]
            expected = torch.cat((before, getattr(newer, name), getattr(newer, name)), dim=-2)
            assert getattr(each, name).equal(expected)


def test_a_finished_row_costs_nothing_more() -> None:
    toy, sizes = Toy(0), []
    toy.table[0, ..., STOP] = 100.0  # the first sentence stops at once
    toy.table[1:, ..., STOP] = -100.0

    def step(words: Tensor, state: History) -> tuple[Tensor, History]:
        sizes.append(len(words))
        return toy.step(words, state)

    written = greedy(step, toy.start(), first(toy), stop=STOP, limit=3)
    assert sizes == [3, 2, 2]
    assert written[0].words == ()
    assert written[2].rows == (2, 1, 1)


def test_chances_are_those_of_the_model() -> None:
    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0]]).expand(40_000, -1)
    for temperature in (0.5, 1.0, 2.0):
        drawn = sampler(temperature=temperature, generator=torch.Generator().manual_seed(0))(logits)
        expected = (logits[0] / temperature).softmax(dim=-1)
        torch.testing.assert_close(drawn.bincount(minlength=4) / 40_000, expected, atol=0.01, rtol=0)


def test_only_the_top_or_the_share_is_drawn() -> None:
    logits = torch.tensor([[0.0, 3.0, 1.0, 2.0]]).expand(2000, -1)
    assert set(sampler(top_k=2)(logits).tolist()) == {1, 3}
    # Chances 0.64, 0.24, 0.09, 0.03: half is held by the first, three quarters by two.
    assert set(sampler(top_p=0.5)(logits).tolist()) == {1}
    assert set(sampler(top_p=0.75)(logits).tolist()) == {1, 3}
    assert set(sampler(top_k=1, top_p=1.0)(logits).tolist()) == {1}
    assert sampler(temperature=0.0)(logits).eq(1).all()


def test_the_same_generator_writes_the_same() -> None:
    toy = Toy(3)

    def written(seed: int) -> list[Hypothesis]:
        choose = sampler(generator=torch.Generator().manual_seed(seed))
        return generate(toy.step, toy.start(), first(toy), stop=STOP, limit=8, choose=choose)

    assert written(1) == written(1) != written(2)


@dataclass(frozen=True)
class Pasts:
    memory: Memory | None
    context: Memory
    rows: int

    def select(self, rows: Tensor) -> "Pasts":
        def some(memory: Memory) -> Memory:
            return Memory(memory.k[rows], memory.v[rows])

        return Pasts(None if self.memory is None else some(self.memory), some(self.context), len(rows))


def test_the_looks_of_a_sequence_follow_it_through_the_beam() -> None:
    """What a beam says a sequence looked at is what it looks at when it is read alone."""
    embed, own, cross = torch.nn.Embedding(WORDS, 8), multihead(8, 2), multihead(8, 2)
    to_vocab = torch.nn.Linear(8, WORDS)

    def step(words: Tensor, state: Pasts) -> tuple[Tensor, Pasts]:
        x = embed(words)
        memory = own.remember(x, state.memory)
        x = x + own(x, memory)
        x = x + cross(x, state.context)
        return 3 * to_vocab(x), Pasts(memory, state.context, state.rows)

    source = torch.randn(2, 6, 8)
    start = Pasts(None, cross.remember(source), 2)
    model = torch.nn.ModuleDict({"own": own, "cross": cross})
    with record(model) as trace:
        found = beam(step, start, torch.zeros(2, dtype=torch.long), stop=STOP, limit=6, size=3, count=3)
    for i, some in enumerate(found):
        for each in some:
            state = start.select(torch.tensor([i]))
            with torch.no_grad(), record(model) as alone:
                for word in (0, *each.words)[: len(each.rows)]:
                    _, state = step(torch.tensor([[word]]), state)
            for name in ("own", "cross"):
                torch.testing.assert_close(looks(trace, name, each), alone.weights(name)[0], atol=1e-5, rtol=1e-4)


def test_mistakes_are_named_with_the_way_out() -> None:
    toy = Toy(0)
    with pytest.raises(ValueError, match="a limit of 0 words leaves nothing to write"):
        greedy(toy.step, toy.start(), first(toy), stop=STOP, limit=0)
    with pytest.raises(ValueError, match="2 limits do not go with 3 rows; give one for all, or one for each"):
        greedy(toy.step, toy.start(), first(toy), stop=STOP, limit=[4, 4])
    with pytest.raises(ValueError, match="the stop 9 is not among the 5 words of the model, 0 to 4"):
        greedy(toy.step, toy.start(), first(toy), stop=9, limit=3)
    with pytest.raises(ValueError, match="a beam of 2 cannot give 3 sequences; ask for 1 to 2"):
        beam(toy.step, toy.start(), first(toy), stop=STOP, limit=3, size=2, count=3)
    with pytest.raises(ValueError, match=r"top_p is 0\.0; give a probability above 0"):
        sampler(top_p=0.0)
    with pytest.raises(ValueError, match="top_k is 0; give 1 word or more"):
        sampler(top_k=0)
    with pytest.raises(ValueError, match=r"temperature -1.0 is below 0"):
        sampler(temperature=-1.0)
    assert math.isfinite(greedy(toy.step, toy.start(), first(toy), stop=STOP, limit=1)[0].log_prob)
