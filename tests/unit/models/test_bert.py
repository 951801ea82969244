"""BERT reads both ways, tells two texts apart, and never reads its padding."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import record
from regard.models.bert import BERT, PRESETS, Config

NANO = PRESETS["bert-nano"]
HEADS: list[Any] = ["pretraining", "masked", "classify", "tokens", "spans", "none"]
LENGTHS = torch.tensor([7, 4, 1])


def model(**changes: Any) -> BERT:
    torch.manual_seed(0)
    return BERT(replace(NANO, **changes)).eval()


def words(*shape: int) -> Tensor:
    return torch.randint(NANO.vocab, shape)


@torch.no_grad()
@pytest.mark.parametrize("head", HEADS)
def test_padding_changes_nothing(head: Any) -> None:
    one, ids, segments = model(head=head), words(3, 7), torch.randint(2, (3, 7))
    together = one(ids, segments=segments, lengths=LENGTHS)
    for i, length in enumerate(LENGTHS):
        alone = one(ids[i : i + 1, :length], segments=segments[i : i + 1, :length])
        for many, single in zip(together, alone, strict=True):
            assert (many is None) == (single is None)
            if many is not None:
                row = many[i, :length] if many.ndim == 3 else many[i]
                torch.testing.assert_close(row, single[0], atol=1e-6, rtol=1e-5)


@torch.no_grad()
def test_what_stands_in_the_padding_is_not_read() -> None:
    one, ids = model(), words(3, 7)
    other = torch.where(torch.arange(7) < LENGTHS[:, None], ids, (ids + 1) % NANO.vocab)
    segments = torch.zeros_like(ids)
    before = one(ids, segments=segments, lengths=LENGTHS)
    after = one(other, segments=segments.where(ids == other, 1), lengths=LENGTHS)
    assert before.next_sentence.equal(after.next_sentence)
    for i, length in enumerate(LENGTHS):
        assert before.logits[i, :length].equal(after.logits[i, :length])
    assert not one(ids).next_sentence.equal(one(other).next_sentence)


@torch.no_grad()
def test_padding_is_weighed_with_nothing() -> None:
    one = model()
    with record(one) as trace:
        one(words(3, 7), lengths=LENGTHS)
    assert list(trace.names) == [f"encoder.blocks.{i}.attn" for i in range(NANO.depth)]
    for name in trace.names:
        assert trace.weights(name)[1, ..., 4:].eq(0.0).all()
        assert trace.weights(name)[0].gt(0.0).all()


@torch.no_grad()
def test_every_word_sees_those_before_and_those_after() -> None:
    one, ids = model(), words(1, 6)
    other = ids.clone()
    other[0, 3] = (ids[0, 3] + 1) % NANO.vocab
    assert one(ids).hidden.ne(one(other).hidden).any(dim=-1).all()


@torch.no_grad()
def test_the_order_of_words_and_their_segments_count_and_one_text_is_the_first_segment() -> None:
    one, ids = model(), torch.tensor([[2, 5, 6, 3]])
    hidden = one(ids).hidden
    assert one(ids, segments=torch.zeros_like(ids)).hidden.equal(hidden)
    assert not one(ids, segments=torch.tensor([[0, 0, 1, 1]])).hidden.allclose(hidden)
    assert not one(ids.flip(1)).hidden.allclose(hidden.flip(1))


@pytest.mark.parametrize(
    ("head", "logits", "has"),
    [
        ("pretraining", (2, 5, NANO.vocab), (True, True)),
        ("masked", (2, 5, NANO.vocab), (False, False)),
        ("classify", (2, 3), (True, False)),
        ("tokens", (2, 5, 3), (False, False)),
        ("spans", (2, 5, 2), (False, False)),
        ("none", None, (True, False)),
    ],
)
def test_the_heads_of_the_paper_say_what_figure_4_shows(head: Any, logits: Any, has: tuple[bool, bool]) -> None:
    found = model(head=head, classes=3)(words(2, 5))
    assert found.hidden.shape == (2, 5, NANO.width)
    assert (None if found.logits is None else tuple(found.logits.shape)) == logits
    assert (found.pooled is not None, found.next_sentence is not None) == has
    if found.pooled is not None:
        assert found.pooled.abs().max() <= 1.0


def test_words_are_told_apart_by_the_matrix_that_embeds_them() -> None:
    one = model(head="masked")
    assert one.head.words is not None
    assert one.head.words.to_vocab.weight is one.embed.weight
    ids = words(2, 5)
    assert one(ids).logits.equal(one.head.words(one.read(ids)))


@pytest.mark.parametrize(("preset", "count"), [("bert-base", 109_482_240), ("bert-large", 335_141_888)])
def test_published_sizes_have_the_published_number_of_parameters(preset: str, count: int) -> None:
    with torch.device("meta"):
        one = BERT(replace(PRESETS[preset], head="none"))
    assert sum(parameter.numel() for parameter in one.parameters()) == count


def test_first_weights_are_small_and_guess_every_word_alike() -> None:
    torch.manual_seed(0)
    one = BERT(replace(NANO, width=64, vocab=1000)).eval()
    for name in ("embed.weight", "segment.weight", "position.table", "encoder.blocks.0.mlp.up.weight"):
        assert one.get_parameter(name).std().item() == pytest.approx(0.02, rel=0.2)
    ids = torch.randint(1000, (4, 20))
    loss = torch.nn.functional.cross_entropy(one(ids).logits.flatten(0, 1), torch.randint(1000, (80,)))
    assert loss.item() == pytest.approx(torch.tensor(1000.0).log().item(), abs=0.1)


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_bert_cannot_do_is_said() -> None:
    with pytest.raises(ValueError, match="an encoder has no head 'nsp'; choose from pretraining, masked, classify"):
        BERT(Config(head="nsp"))
    with pytest.raises(ValueError, match="position 32 lies beyond a learned table of 32"):
        model()(words(1, 33))
