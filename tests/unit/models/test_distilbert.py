"""DistilBERT is a short BERT that knows neither segments nor a pooler."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import packed, record
from regard.models.distilbert import PRESETS, DistilBERT

NANO = PRESETS["distilbert-nano"]
HEADS: list[Any] = ["masked", "classify", "tokens", "spans", "none"]
LENGTHS = torch.tensor([7, 4, 1])
BEHIND = torch.arange(7) < LENGTHS[:, None]


def model(**changes: Any) -> DistilBERT:
    torch.manual_seed(0)
    return DistilBERT(replace(NANO, **changes)).eval()


def words(*shape: int) -> Tensor:
    return torch.randint(NANO.vocab, shape)


@torch.no_grad()
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("kept", [BEHIND, BEHIND.flip(1)], ids=["behind", "in front"])
def test_padding_changes_nothing_wherever_it_stands(head: Any, kept: Tensor) -> None:
    one, ids = model(head=head), words(3, 7)
    together = one(ids, visible=kept)
    for i, row in enumerate(kept):
        alone = one(ids[i : i + 1, row])
        for many, single in zip(together, alone, strict=True):
            assert (many is None) == (single is None)
            if many is not None:
                torch.testing.assert_close(many[i][row] if many.ndim == 3 else many[i], single[0], atol=1e-6, rtol=1e-5)


@torch.no_grad()
def test_texts_in_one_row_are_read_as_if_they_were_alone() -> None:
    one, ids = model(head="classify"), words(1, 9)
    row, alone = one(ids, visible=packed([4, 5])), [one(text[None]) for text in ids[0].split([4, 5])]
    torch.testing.assert_close(row.logits, torch.cat([each.logits for each in alone]), atol=1e-6, rtol=1e-5)


@torch.no_grad()
def test_every_word_sees_those_before_and_those_after_and_no_padding() -> None:
    one = model()
    with record(one) as trace:
        one(words(3, 7), lengths=LENGTHS)
    assert list(trace.names) == [f"encoder.blocks.{i}.attn" for i in range(NANO.depth)]
    for name in trace.names:
        assert trace.weights(name)[1, ..., 4:].eq(0.0).all()
        assert trace.weights(name)[0].gt(0.0).all()


@torch.no_grad()
def test_the_order_of_words_counts_and_segments_are_not_read() -> None:
    one, ids = model(), words(1, 4)
    hidden = one(ids).hidden
    assert one(ids, segments=torch.tensor([[0, 0, 1, 1]])).hidden.equal(hidden)
    assert not one(ids.flip(1)).hidden.allclose(hidden.flip(1))


@pytest.mark.parametrize(
    ("head", "logits", "pools"),
    [
        ("masked", (2, 5, NANO.vocab), False),
        ("classify", (2, 3), True),
        ("tokens", (2, 5, 3), False),
        ("spans", (2, 5, 2), False),
        ("none", None, False),
    ],
)
def test_every_head_says_what_it_is_for(head: Any, logits: Any, pools: bool) -> None:
    found = model(head=head, classes=3)(words(2, 5))
    assert found.hidden.shape == (2, 5, NANO.width)
    assert (None if found.logits is None else tuple(found.logits.shape)) == logits
    assert (found.pooled is not None, found.next_sentence) == (pools, None)
    if found.pooled is not None:
        assert found.pooled.ge(0.0).all()  # a rectified layer pools, where BERT has a tanh


@pytest.mark.parametrize("head", HEADS)
def test_what_a_head_drops_is_its_own(head: Any) -> None:
    one = DistilBERT(replace(NANO, dropout=0.0, head_dropout=0.5, head=head)).train()
    ids = words(2, 5)
    first, second = one(ids), one(ids)
    assert first.hidden.equal(second.hidden)  # of which nothing is dropped, also below spans
    if first.logits is not None:
        assert first.logits.equal(second.logits) == (head not in ("classify", "spans"))


def test_words_are_told_apart_by_the_matrix_that_embeds_them() -> None:
    one, ids = model(), words(2, 5)
    assert one.head.words is not None
    assert one.head.words.to_vocab.weight is one.embed.weight
    assert one(ids).logits.equal(one.head.words(one.read(ids)))


def test_the_published_size_has_the_published_number_of_parameters() -> None:
    with torch.device("meta"):
        one = DistilBERT(replace(PRESETS["distilbert-base"], head="none"))
    assert sum(parameter.numel() for parameter in one.parameters()) == 66_362_880


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_distilbert_cannot_do_is_said() -> None:
    with pytest.raises(ValueError, match="DistilBERT is not trained on next sentences; give head='masked' instead of"):
        model(head="pretraining")
    with pytest.raises(ValueError, match="an encoder has no head 'nsp'; choose from"):
        model(head="nsp")
    with pytest.raises(ValueError, match="position 32 lies beyond a learned table of 32"):
        model()(words(1, 33))
