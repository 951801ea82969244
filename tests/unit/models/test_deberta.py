"""DeBERTa knows where words stand by their distances, never reads its padding, and can decode by absolute positions."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import packed, record
from regard.decode import quantize
from regard.models.deberta import PRESETS, ROUNDS, Config, Convolution, DeBERTa, Details, MaskDecoder, Positions

NANO = PRESETS["deberta-nano"]
POSITIONS = NANO.positions
HEADS: list[Any] = ["masked", "classify", "tokens", "spans", "none"]
# Every way in which a word can know its place, or its neighbours.
WAYS: list[dict[str, Any]] = [
    {},
    {"convolution": Convolution()},
    {"positions": replace(POSITIONS, absolute="decoder")},
    {"positions": replace(POSITIONS, absolute="input", shared=False), "details": Details(segments=2, embedding=16)},
    {"positions": replace(POSITIONS, absolute="input", relative="none")},
]
every_way = pytest.mark.parametrize("changes", WAYS, ids=str)
LENGTHS = torch.tensor([7, 4, 1])
BEHIND = torch.arange(7) < LENGTHS[:, None]


def model(**changes: Any) -> DeBERTa:
    torch.manual_seed(0)
    one = DeBERTa(replace(NANO, **changes)).eval()
    for parameter in one.parameters():  # where nothing is zero, nothing is lost by mistake
        torch.nn.init.normal_(parameter, std=0.2)
    return one


def words(*shape: int) -> Tensor:
    return torch.randint(NANO.vocab, shape)


@torch.no_grad()
@every_way
@pytest.mark.parametrize("head", HEADS)
def test_padding_changes_nothing_behind_or_in_front(changes: dict[str, Any], head: Any) -> None:
    one, ids, segments = model(head=head, **changes), words(3, 7), torch.randint(2, (3, 7))
    behind = one(ids, segments=segments, lengths=LENGTHS)
    front = one(ids.flip(1), segments=segments.flip(1), visible=BEHIND.flip(1))
    for i, length in enumerate(LENGTHS):
        alone = one(ids[i : i + 1, :length], segments=segments[i : i + 1, :length])
        mirror = one(ids[i : i + 1, :length].flip(1), segments=segments[i : i + 1, :length].flip(1))
        for together, single, rows in ((behind, alone, BEHIND), (front, mirror, BEHIND.flip(1))):
            for many, wanted in zip(together, single, strict=True):
                assert (many is None) == (wanted is None)
                if many is not None:
                    row = many[i][rows[i]] if many.ndim == 3 else many[i]
                    torch.testing.assert_close(row, wanted[0], atol=1e-5, rtol=1e-4)


@torch.no_grad()
@every_way
def test_texts_in_one_row_are_read_as_if_each_were_alone(changes: dict[str, Any]) -> None:
    one, ids, segments = model(head="classify", **changes), words(3, 7), torch.randint(2, (3, 7))
    rows = BEHIND[[0, 1, 1]]
    batch = one(ids, segments=segments, visible=rows)
    row = one(ids[rows][None], segments=segments[rows][None], visible=packed([7, 4, 4]))
    torch.testing.assert_close(row.hidden[0], batch.hidden[rows], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(row.logits, batch.logits, atol=1e-5, rtol=1e-4)


@torch.no_grad()
@every_way
def test_what_stands_in_the_padding_is_not_read(changes: dict[str, Any]) -> None:
    one, ids = model(**changes), words(3, 7)
    other = ids.where(BEHIND, (ids + 1) % NANO.vocab)
    assert one(ids, lengths=LENGTHS).logits[BEHIND].equal(one(other, lengths=LENGTHS).logits[BEHIND])


@torch.no_grad()
def test_a_text_that_is_moved_is_read_alike_unless_places_are_absolute() -> None:
    ids = words(1, 6)
    for absolute, same in (("none", True), ("decoder", False)):
        one = model(positions=replace(POSITIONS, absolute=absolute))
        before = one.encoder(one.embed(ids))
        after = one.encoder(one.embed(ids), positions=torch.arange(3, 9)[None])
        assert torch.allclose(before, after, atol=1e-5) == same


@torch.no_grad()
def test_the_order_of_words_counts_and_segments_only_where_there_are_any() -> None:
    ids, segments = torch.tensor([[2, 5, 6, 3]]), torch.tensor([[0, 0, 1, 1]])
    one, two = model(), model(details=Details(segments=2))
    assert not one(ids.flip(1)).hidden.allclose(one(ids).hidden.flip(1))
    assert one(ids, segments=segments).hidden.equal(one(ids).hidden)
    assert not two(ids, segments=segments).hidden.allclose(two(ids).hidden)
    assert two(ids, segments=torch.zeros_like(ids)).hidden.equal(two(ids).hidden)


@torch.no_grad()
def test_the_mask_decoder_asks_the_same_memory_twice_and_first_by_position() -> None:
    positions = replace(POSITIONS, absolute="decoder")
    one, ids = model(positions=positions), words(2, 5)
    with record(one) as trace:
        hidden = one.read(ids)
    first, second = trace["encoder.blocks.1.attn"]
    assert ROUNDS == 2
    assert first.k.equal(second.k)
    assert not first.q.allclose(second.q)
    assert isinstance(one.encoder.blocks[-1], MaskDecoder)
    one.encoder.blocks[-1].position.table.zero_()
    assert not one.read(ids).allclose(hidden)
    # Other heads read the last block as it is (§3.2: fine-tuning is BERT's).
    plain = model(positions=positions, head="none")
    assert not any("position" in name for name in plain.state_dict())


@pytest.mark.parametrize(
    ("head", "logits", "pooled"),
    [
        ("masked", (2, 5, NANO.vocab), False),
        ("classify", (2, 3), True),
        ("tokens", (2, 5, 3), False),
        ("spans", (2, 5, 2), False),
        ("none", None, False),
    ],
)
def test_heads_say_what_they_are_named_for(head: Any, logits: Any, pooled: bool) -> None:
    found = model(head=head, classes=3)(words(2, 5))
    assert (None if found.logits is None else tuple(found.logits.shape)) == logits
    assert (found.pooled is not None, found.next_sentence) == (pooled, None)


def test_hidden_words_are_guessed_by_the_matrix_that_embeds_them() -> None:
    for changes in WAYS:
        one, ids = model(**changes), words(2, 5)
        assert one.head.words is not None
        assert one.head.words.to_vocab.weight is one.embed.weight
        assert one(ids).logits.equal(one.head.words(one.read(ids)))


@every_way
def test_gradients_reach_every_parameter(changes: dict[str, Any]) -> None:
    one = model(**changes).train()
    one(words(2, 6), segments=torch.randint(2, (2, 6)), lengths=torch.tensor([6, 4])).logits.square().sum().backward()
    assert [name for name, parameter in one.named_parameters() if parameter.grad is None] == []


@torch.no_grad()
def test_in_fewer_bits_it_says_nearly_the_same() -> None:
    one, ids = DeBERTa(NANO).eval(), words(2, 6)
    assert quantize(one, "int8")(ids).logits.allclose(one(ids).logits, atol=0.02)


# Without the head, as the authors count: backbone and embedding, in millions (github.com/microsoft/DeBERTa).
@pytest.mark.parametrize(
    ("preset", "backbone", "embedding"),
    [
        ("deberta-v3-xsmall", 22, 48),
        ("deberta-v3-small", 44, 98),
        ("deberta-v3-base", 86, 98),
        ("deberta-v3-large", 304, 131),
    ],
)
def test_published_sizes_have_the_published_number_of_parameters(preset: str, backbone: int, embedding: int) -> None:
    with torch.device("meta"):
        one = DeBERTa(replace(PRESETS[preset], head="none"))
    words = one.embed.weight.numel()
    rest = sum(parameter.numel() for parameter in one.parameters()) - words
    assert abs(words / 1e6 - embedding) < 1.5
    assert abs(rest / 1e6 - backbone) < 1.5


def test_first_weights_are_small_and_guess_every_word_alike() -> None:
    torch.manual_seed(0)
    one = DeBERTa(replace(NANO, width=64, vocab=1000, convolution=Convolution())).eval()
    for name in ("embed.weight", "distances.table.weight", "encoder.blocks.0.mlp.up.weight"):
        assert one.state_dict()[name].std() == pytest.approx(0.02, rel=0.1)
    loss = torch.nn.functional.cross_entropy(one(words(8, 20)).logits.flatten(0, 1), words(160))
    assert loss.item() == pytest.approx(torch.tensor(1000.0).log().item(), rel=0.02)


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="a DeBERTa guesses no next sentence; its head is 'masked' where it is train"):
        DeBERTa(replace(NANO, head="pretraining"))
    with pytest.raises(ValueError, match="a convolution over 4 words has no middle; give an odd number"):
        DeBERTa(replace(NANO, convolution=Convolution(kernel=4)))
    with pytest.raises(ValueError, match="lengths and visible both say what is padding"):
        model()(words(3, 7), lengths=LENGTHS, visible=BEHIND)
    assert Config().positions == Positions()
