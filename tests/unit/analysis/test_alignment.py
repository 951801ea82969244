"""Attention between pieces becomes attention between words, and is compared with the truth at the right places."""

import random
from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from regard.analysis.alignment import best, error, errors, floor, links, spans
from regard.analysis.merge import merge
from regard.attention import Look, record
from regard.decode import force
from regard.models import build
from regard.models.seq2seq import Config as Recurrent
from regard.models.seq2seq import Seq2Seq
from regard.models.transformer import Config as Attentive
from regard.models.transformer import Transformer
from regard.text import Tokenizer
from regard.world.language import Pair, pairs, text

PAD, START, STOP, UNKNOWN = range(4)

WORLD = pairs("it", "en", split="test")
LINES = [text(side) for pair in WORLD[:200] for side in (pair.source, pair.target)]
ANIMALS = ["ash", "bay", "cod", "doe", "elk", "fox", "gnu", "hen", "ibis", "jay", "kid", "lark"]


def tokenizer(kind: str = "bytes", vocab: int = 420, lower: bool = False) -> Tokenizer:
    return Tokenizer.train(LINES, kind=kind, vocab=vocab, lower=lower)


def test_a_column_is_the_sum_of_its_pieces_and_a_row_their_mean() -> None:
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3], [1.0, 0.0, 0.0, 0.0]])
    words = merge(weights, rows=[[0, 1], [2]], columns=[[0], [1, 2]])  # the last piece is nobody's
    np.testing.assert_allclose(words, [[0.3, 0.35], [1.0, 0.0]])


def test_a_word_without_pieces_looks_at_nothing_and_gets_nothing() -> None:
    words = merge(np.ones((2, 3), np.float32), rows=[[0], []], columns=[[], [0, 1, 2]])
    np.testing.assert_allclose(words, [[0, 3], [0, 0]])


def test_a_word_is_linked_to_what_it_looks_at_most_or_to_all_above_a_threshold() -> None:
    weights = np.array([[0.2, 0.5, 0.3], [0.9, 0.05, 0.05]])
    assert links(weights) == {(1, 0), (0, 1)}
    assert links(weights, 0.3) == {(1, 0), (2, 0), (0, 1)}
    assert links(weights, 0.95) == frozenset()


def test_the_error_rate_is_that_of_och_and_ney() -> None:
    gold = [frozenset({(0, 0), (1, 1)}), frozenset({(0, 1)})]
    assert error(gold, gold) == 0.0
    assert error([frozenset({(1, 0)}), frozenset()], gold) == 1.0
    # Two of the three that were found are right, and the gold has three: 1 - (2 + 2) / (3 + 3).
    assert error([frozenset({(0, 0), (1, 1)}), frozenset({(0, 0)})], gold) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="1 alignments cannot be compared with 2 gold ones"):
        error(gold[:1], gold)
    with pytest.raises(ValueError, match="there are no links"):
        error([frozenset()], [frozenset()])


@given(st.integers(0, 500), st.sampled_from(["bytes", "pieces", "words", "characters"]), st.booleans(), st.booleans())
def test_the_pieces_of_the_worlds_words_are_those_that_spell_them(
    index: int, kind: str, multilingual: bool, lower: bool
) -> None:
    one, tag = KNOWN[kind, lower], "[en] " if multilingual else ""
    for words in WORLD[index][:2]:
        (ids,) = one.encode([tag + text(words)])
        places = spans(one, words, tag=tag)
        assert [i for each in places for i in each] == list(range(len(ids) - sum(map(len, places)), len(ids)))
        shown = [text(words[i : i + 1]) if i == 0 else word for i, word in enumerate(words)]
        for word, each in zip(shown, places, strict=True):
            found = [ids[i] for i in each]
            if UNKNOWN not in found:
                assert one.decode(found).replace(" ", "") == (word.lower() if lower else word)


KNOWN = {
    (k, lower): tokenizer(k, 400, lower) for k in ("bytes", "pieces", "words", "characters") for lower in (False, True)
}


def test_a_piece_across_two_words_belongs_to_both() -> None:
    one = Tokenizer.train(["The dog's tail"] * 9, kind="bytes", vocab=300)
    (ids,) = one.encode([text(("x'", "sah"))])
    assert one.words(ids).pieces == ("X", "'s", "a", "h")  # the tokenizer takes it for English
    assert spans(one, ("x'", "sah")) == [[0, 1], [1, 2, 3]]


def sentences(count: int) -> list[Pair]:
    """Sentences that are their own translation: every word comes from the one at its own place."""
    dice, meaning = random.Random(1), WORLD[0].meaning
    some = [tuple(dice.sample(ANIMALS, dice.randint(3, 6))) for _ in range(count)]
    return [Pair(words, words, frozenset((i, i) for i in range(len(words))), meaning) for words in some]


def copying(model: nn.Module, one: Tokenizer, steps: int = 300) -> nn.Module:
    """A model that has learnt to say what it reads."""
    dice, learning = random.Random(0), torch.optim.Adam(model.parameters())
    for step in range(steps):
        learning.param_groups[0]["lr"] = 0.004 * min(1, (step + 1) / 50) * (1 - step / steps)
        length = dice.randint(3, 6)
        said = one.encode([" ".join(dice.sample(ANIMALS, length)) for _ in range(32)], start=True, stop=True)
        words = torch.tensor(said)
        loss = F.cross_entropy(model(words[:, 1:], words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        learning.zero_grad()
        loss.backward()
        learning.step()
    return model.eval()


MODELS: dict[str, Callable[[int], nn.Module]] = {
    "additive": lambda vocab: Seq2Seq(Recurrent(vocab, None, 32, 32)),
    "bilinear": lambda vocab: Seq2Seq(Recurrent(vocab, None, 32, 32, attention="bilinear")),
    "fed": lambda vocab: Seq2Seq(Recurrent(vocab, None, 32, 32, attention="bilinear", input_feeding=True)),
    "transformer": lambda vocab: Transformer(Attentive(vocab, 32, 1, 1, 64, 0.0, norm_first=True)),
}


@pytest.mark.usefixtures("as_users_meet_it")  # training is slow with every shape checked
@pytest.mark.parametrize("name", ["additive", "transformer"])
def test_who_copies_looks_at_the_word_that_comes_next(name: str) -> None:
    one = Tokenizer.train(ANIMALS, kind="words", vocab=40, lower=True)
    model, some = copying(MODELS[name](one.vocab), one), sentences(40)
    found = errors(model, one, some)
    assert found[best(found)] < 0.05
    # The places are exact: against a truth that is off by one, nearly all is wrong.
    for off in (-1, 1):
        moved = [pair._replace(alignment=frozenset((i, i + off) for i, _ in pair.alignment)) for pair in some]
        assert min(errors(model, one, moved).values()) > 0.9


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("row", [0, 2, 4])
@torch.no_grad()
def test_the_look_of_a_row_matters_first_for_the_word_it_predicts(name: str, row: int) -> None:
    model, source, target = MODELS[name](40).eval(), torch.randint(4, 40, (1, 6)), torch.randint(4, 40, (1, 5))
    (cross,), looks = tuple(model.cross_attentions), 0

    def blind(look: Look) -> Tensor:
        """Nothing is seen in one row, counted over all looks."""
        nonlocal looks
        weights = look.weights().clone()
        if looks <= row < looks + weights.shape[-2]:
            weights[..., row - looks, :] = 0
        looks += weights.shape[-2]
        return weights

    before = model(source, target)
    with record(model, edits={cross: blind}):
        after = model(source, target)
    changed = (before - after).abs().amax(dim=-1)[0] > 1e-4  # an edited look is computed on another path
    assert changed.tolist().index(True) == row


@pytest.mark.parametrize("name", ["transformer-nano", "seq2seq-nano"])
def test_what_is_forced_in_a_batch_is_what_is_forced_alone(name: str) -> None:
    model = build(name).eval()
    sources = [[5, 6, 7, STOP], [9, STOP], [11, 12, STOP]]
    targets = [[8, STOP], [9, 10, 11, STOP], [7, STOP]]
    with record(model) as together:
        gained = force(model, sources, targets, start=START)
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        with record(model) as alone:
            (own,) = force(model, [source], [target], start=START)
        torch.testing.assert_close(own, gained[row], atol=1e-4, rtol=1e-4)
        for cross in model.cross_attentions:
            looked = together.weights(cross)[row, :, : len(target), : len(source)]
            torch.testing.assert_close(looked, alone.weights(cross)[0], atol=1e-5, rtol=1e-4)


def test_a_model_that_is_learning_is_not_measured() -> None:
    one = tokenizer("bytes")
    with pytest.raises(ValueError, match=r"call model.eval\(\) first"):
        errors(Transformer(Attentive(one.vocab, 16, 2, 2, 16)), one, list(WORLD[:2]))


def test_the_worlds_own_links_leave_the_floor_and_no_less() -> None:
    some = list(WORLD[:50])

    def look(pair: Pair) -> np.ndarray:
        weights = np.zeros((len(pair.target), len(pair.source)), np.float32)
        for i, j in pair.alignment:
            weights[j, i] = 1
        return weights

    found = [links(look(pair)) for pair in some]
    gold = [pair.alignment for pair in some]
    assert error(found, gold) == pytest.approx(floor(some))
    assert 0 < floor(some) < 0.1


def test_every_head_has_its_error_and_the_best_errs_least() -> None:
    one, some = tokenizer("bytes"), list(WORLD[:5])
    model = Transformer(Attentive(one.vocab, 16, 2, 2, 16)).eval()
    found = errors(model, one, some, tag="[en] ")
    assert sorted(found) == [(f"decoder.blocks.{i}.cross", head) for i in (0, 1) for head in (0, 1)]
    assert found[best(found)] == min(found.values())
    assert found != errors(model, one, some)
    with pytest.raises(ValueError, match="no attention that looks at the source"):
        best(errors(Seq2Seq(Recurrent(one.vocab, None, 8, 8, attention="none")).eval(), one, some))
