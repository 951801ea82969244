"""ALBERT runs through the same layers again and again, and every pass can be looked into."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import packed, record
from regard.models.albert import ALBERT, PRESETS, Details

NANO = PRESETS["albert-nano"]
HEADS: list[Any] = ["pretraining", "masked", "classify", "tokens", "spans", "none"]
LENGTHS = torch.tensor([7, 4, 1])
BEHIND = torch.arange(7) < LENGTHS[:, None]
ATTN = "encoder.blocks.0.attn"


def model(**changes: Any) -> ALBERT:
    torch.manual_seed(0)
    return ALBERT(replace(NANO, **changes)).eval()


def words(*shape: int) -> Tensor:
    return torch.randint(NANO.vocab, shape)


@torch.no_grad()
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("kept", [BEHIND, BEHIND.flip(1)], ids=["behind", "in front"])
def test_padding_changes_nothing_wherever_it_stands(head: Any, kept: Tensor) -> None:
    one, ids, segments = model(head=head), words(3, 7), torch.randint(2, (3, 7))
    together = one(ids, segments=segments, visible=kept)
    for i, row in enumerate(kept):
        alone = one(ids[i : i + 1, row], segments=segments[i : i + 1, row])
        for many, single in zip(together, alone, strict=True):
            assert (many is None) == (single is None)
            if many is not None:
                torch.testing.assert_close(many[i][row] if many.ndim == 3 else many[i], single[0], atol=1e-6, rtol=1e-5)


@torch.no_grad()
def test_texts_in_one_row_are_read_as_if_they_were_alone() -> None:
    one, ids = model(), words(1, 9)
    row, alone = one(ids, visible=packed([4, 5])), [one(text[None]) for text in ids[0].split([4, 5])]
    torch.testing.assert_close(row.logits[0], torch.cat([each.logits[0] for each in alone]), atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(
        row.next_sentence, torch.cat([each.next_sentence for each in alone]), atol=1e-6, rtol=1e-5
    )


@torch.no_grad()
def test_one_attention_has_as_many_looks_as_there_are_passes() -> None:
    one, ids = model(), words(2, 6)
    with record(one, hidden=True) as trace:
        output = one(ids)
    assert trace.names == [ATTN]
    assert len(trace[ATTN]) == len(trace.hidden["encoder.blocks.0"]) == NANO.depth
    passes = [trace.weights(ATTN, look=i) for i in range(NANO.depth)]
    assert all(each.shape == (2, NANO.heads, 6, 6) for each in passes)
    assert not passes[0].allclose(passes[1], atol=1e-4)
    assert trace.hidden["encoder.blocks.0"][-1].equal(output.hidden)
    assert trace.hidden.keys() == {"encoder.blocks.0"}


@torch.no_grad()
def test_an_edit_reaches_every_pass() -> None:
    one, ids = model(), words(1, 6)
    with record(one, edits={ATTN: lambda look: torch.eye(6).expand_as(look.weights())}) as trace:
        one(ids)
    assert all(trace.weights(ATTN, look=i).equal(torch.eye(6).expand(1, 4, 6, 6)) for i in range(NANO.depth))


@torch.no_grad()
@pytest.mark.parametrize(
    ("depth", "groups", "layers", "looks"),
    [(4, 2, 1, [2, 2]), (3, 2, 1, [2, 1]), (3, 3, 2, [1] * 6), (2, 1, 3, [2, 2, 2])],
)
def test_groups_share_the_depth_and_a_pass_runs_through_all_layers_of_its_group(
    depth: int, groups: int, layers: int, looks: list[int]
) -> None:
    one = model(depth=depth, details=Details(groups=groups, layers=layers))
    with record(one) as trace:
        one(words(1, 5))
    assert [len(trace[name]) for name in trace.names] == looks
    assert trace.names == [f"encoder.blocks.{i}.attn" for i in range(groups * layers)]


def test_a_deeper_model_has_no_more_parameters() -> None:
    counts = {sum(each.numel() for each in model(depth=depth).parameters()) for depth in (1, 2, 8)}
    assert len(counts) == 1


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
def test_every_head_says_what_it_is_for(head: Any, logits: Any, has: tuple[bool, bool]) -> None:
    found = model(head=head, classes=3)(words(2, 5))
    assert found.hidden.shape == (2, 5, NANO.width)
    assert (None if found.logits is None else tuple(found.logits.shape)) == logits
    assert (found.pooled is not None, found.next_sentence is not None) == has


def test_words_are_embedded_and_told_apart_by_one_narrow_matrix() -> None:
    one, ids = model(), words(2, 5)
    assert one.embed.weight.shape == (NANO.vocab, NANO.embedding)
    assert one.head.words is not None
    assert one.head.words.to_vocab.weight is one.embed.weight
    assert one(ids).logits.equal(one.head.words(one.read(ids)))


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_albert_cannot_do_is_said() -> None:
    with pytest.raises(ValueError, match="4 groups with 4 layers do not share 3 passes; give 1 group or more"):
        model(details=Details(groups=4))
    with pytest.raises(ValueError, match="an encoder has no head 'sop'; choose from pretraining"):
        model(head="sop")
    with pytest.raises(ValueError, match="position 32 lies beyond a learned table of 32"):
        model()(words(1, 33))
