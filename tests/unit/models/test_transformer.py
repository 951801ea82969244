"""A Transformer reads the source once, and writes without looking ahead or computing anything twice."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import record
from regard.layers import DecoderState
from regard.models.transformer import PRESETS, Config, Transformer

NANO = PRESETS["transformer-nano"]
norms_anywhere = pytest.mark.parametrize("first", [True, False])


def model(norm_first: bool = False) -> Transformer:
    return Transformer(replace(NANO, norm_first=norm_first)).eval()


def words(*shape: int) -> Tensor:
    return torch.randint(1, NANO.vocab, shape)


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def written(one: Transformer, pieces: list[Tensor], state: DecoderState) -> Tensor:
    logits = []
    for piece in pieces:
        after, state = one.step(piece, state)
        logits.append(after)
    return torch.cat(logits, dim=1)


@norms_anywhere
def test_padding_changes_nothing(first: bool) -> None:
    one, source, target = model(first), words(3, 7), words(3, 5)
    lengths = torch.tensor([7, 4, 1])
    together = one(source, target, lengths=lengths)
    for i, length in enumerate(lengths):
        close(together[i : i + 1], one(source[i : i + 1, :length], target[i : i + 1]))


def test_what_stands_in_the_padding_is_not_read() -> None:
    one, source, target = model(), words(2, 6), words(2, 4)
    lengths = torch.tensor([6, 3])
    other = source.clone()
    other[1, 3:] = words(3)
    assert one(source, target, lengths=lengths).equal(one(other, target, lengths=lengths))
    assert not one(source, target).equal(one(other, target))


def test_padding_is_weighed_with_nothing() -> None:
    one, lengths = model(), torch.tensor([6, 3])
    with record(one) as trace:
        one(words(2, 6), words(2, 4), lengths=lengths)
    for name in ("encoder.blocks.0.attn", "decoder.blocks.1.cross"):
        assert trace.weights(name)[1, ..., 3:].eq(0.0).all()
        assert trace.weights(name)[0].gt(0.0).all()


@norms_anywhere
def test_a_word_cannot_see_its_future(first: bool) -> None:
    one, source, target = model(first), words(1, 5), words(1, 6)
    other = target.clone()
    other[0, 3] = 1 + target[0, 3] % (NANO.vocab - 1)
    before, after = one(source, target), one(source, other)
    assert before[:, :3].equal(after[:, :3])
    assert before[:, 3:].ne(after[:, 3:]).any(dim=-1).all()


@given(st.booleans(), st.booleans(), st.lists(st.integers(1, 3), min_size=1, max_size=5))
def test_writing_in_steps_equals_writing_at_once(first: bool, learning: bool, steps: list[int]) -> None:
    one, source, target = model(first), words(2, 5), words(2, sum(steps))
    lengths = torch.tensor([5, 3])
    with torch.set_grad_enabled(learning):
        in_steps = written(one, list(target.split(steps, dim=1)), one.start(source, lengths=lengths))
        close(in_steps, one(source, target, lengths=lengths))


@norms_anywhere
def test_a_hook_sees_what_every_block_adds_to_the_stream(first: bool) -> None:
    one, seen = model(first), []
    for block in (*one.encoder.blocks, *one.decoder.blocks):
        block.register_forward_hook(lambda _, __, y: seen.append(y))
    one(words(2, 5), words(2, 4))
    assert [tuple(y.shape) for y in seen] == [(2, 5, 32), (2, 5, 32), (2, 4, 32), (2, 4, 32)]


@torch.no_grad()
def test_the_source_is_projected_once_and_the_past_is_not_computed_again() -> None:
    one, counted = model(), {"source": 0, "past": 0}
    block = one.decoder.blocks[0]
    block.cross.k.register_forward_hook(lambda _, x, __: counted.update(source=counted["source"] + x[0].shape[1]))
    block.attn.k.register_forward_hook(lambda _, x, __: counted.update(past=counted["past"] + x[0].shape[1]))
    written(one, list(words(2, 9).split(1, dim=1)), one.start(words(2, 5)))
    assert counted == {"source": 5, "past": 9}


@torch.no_grad()
def test_selected_rows_go_on_as_if_they_had_always_stood_there() -> None:
    one, source, target, rows = model(), words(2, 5), words(2, 3), torch.tensor([1, 0, 1])
    lengths, newer = torch.tensor([5, 2]), words(3, 2)
    _, state = one.step(target, one.start(source, lengths=lengths))
    logits, _ = one.step(newer, state.select(rows))
    whole = one(source[rows], torch.cat((target[rows], newer), dim=1), lengths=lengths[rows])
    close(logits, whole[:, 3:])


def test_rows_may_be_selected_before_anything_is_written() -> None:
    one, source, target, rows = model(), words(2, 5), words(4, 3), torch.tensor([0, 0, 1, 1])
    logits, _ = one.step(target, one.start(source).select(rows))
    close(logits, one(source[rows], target))


@torch.no_grad()
@pytest.mark.parametrize("chosen", [[0, 0, 1, 1, 2, 2], [2, 2, 2, 0, 0, 0], [1, 1], [0, 0, 1], [1, 0, 1]])
@pytest.mark.parametrize("then", [[0, 1], [1, 1, 0, 0], [1, 0, 0]])
def test_rows_share_a_source_in_any_order_and_go_on_as_alone(chosen: list[int], then: list[int]) -> None:
    one, source, lengths = model(), words(3, 5), torch.tensor([5, 2, 4])
    first, second = words(len(chosen), 2), words(len(then), 1)
    _, state = one.step(first, one.start(source, lengths=lengths).select(torch.tensor(chosen)))
    logits, _ = one.step(second, state.select(torch.tensor(then)))
    rows = torch.tensor(chosen)[then]
    close(logits, one(source[rows], torch.cat((first[then], second), dim=1), lengths=lengths[rows])[:, 2:])


@torch.no_grad()
def test_a_source_is_held_once_for_all_beginnings_of_its_sentence() -> None:
    one = model()
    state = one.start(words(3, 5))
    beams = state.select(torch.tensor([0, 0, 1, 1, 2, 2]))
    assert all(after.k is before.k for after, before in zip(beams.contexts, state.contexts, strict=True))
    fewer = beams.select(torch.tensor([0, 1, 5, 4]))
    assert [len(memory.k) for memory in fewer.contexts] == [2] * len(fewer.contexts)


@torch.no_grad()
def test_hypotheses_that_change_places_within_a_sentence_leave_its_source_where_it_is() -> None:
    one = model()
    beams = one.start(words(2, 5)).select(torch.tensor([0, 0, 1, 1]))
    _, state = one.step(words(4, 1), beams)
    assert state.select(torch.tensor([1, 1, 3, 2])).contexts is beams.contexts
    assert state.select(torch.tensor([2, 3, 0, 1])).contexts is not beams.contexts


def test_dropout_is_for_training_alone() -> None:
    one, source, target = Transformer(replace(NANO, dropout=0.5)), words(1, 5), words(1, 4)
    assert not one(source, target).equal(one(source, target))
    one.eval()
    assert one(source, target).equal(one(source, target))


def test_dropout_thins_words_together_with_their_places() -> None:
    one, seen = Transformer(replace(NANO, dropout=0.5)), []
    one.encoder.register_forward_pre_hook(lambda _, x: seen.append(x[0]))
    one(words(4, 50), words(4, 1))
    assert 0.45 < seen[0].eq(0.0).float().mean() < 0.55


def test_reading_and_writing_share_one_matrix() -> None:
    one = model()
    assert [name for name, p in one.named_parameters() if NANO.vocab in p.shape] == ["embed.weight"]
    one(words(1, 3), torch.tensor([[1]])).logsumexp(dim=-1).sum().backward()
    assert one.embed.weight.grad.ne(0.0).any(dim=-1).all()  # of words neither read nor written too


def test_scaled_embeddings_start_with_unit_variance_and_logits_too() -> None:
    one = Transformer(Config(vocab=1000, width=64, depth=1, heads=2, hidden=8, dropout=0.0))
    assert 0.9 < (one.embed.weight.detach() * 64**0.5).std() < 1.1
    assert 0.7 < one(torch.randint(1000, (2, 9)), torch.randint(1000, (2, 9))).detach().std() < 1.3


@pytest.mark.parametrize(("size", "millions"), [("transformer-base", 65), ("transformer-big", 213)])
def test_the_published_sizes_weigh_what_table_3_says(size: str, millions: int) -> None:
    with torch.device("meta"):
        count = sum(p.numel() for p in Transformer(PRESETS[size]).parameters())
    assert abs(count / 1e6 / millions - 1) < 0.05


def test_only_norms_that_come_first_need_a_last_one() -> None:
    final = {name for name, _ in model(norm_first=True).named_parameters()} - {n for n, _ in model().named_parameters()}
    assert final == {f"{side}_norm.{p}" for side in ("encoder", "decoder") for p in ("weight", "bias")}


def test_watching_changes_nothing() -> None:
    one, source, target = model(), words(2, 5), words(2, 4)
    with record(one) as trace:
        watched = one(source, target)
    assert watched.equal(one(source, target))
    assert trace.weights("decoder.blocks.0.cross").shape == (2, NANO.heads, 4, 5)


@torch.no_grad()
def test_the_looks_of_all_steps_lie_end_to_end() -> None:
    one, source, target = model(), words(2, 5), words(2, 4)
    with record(one) as whole:
        one(source, target)
    with record(one) as stepped:
        written(one, list(target.split(1, dim=1)), one.start(source))
    for name in whole:
        close(stepped.weights(name), whole.weights(name))


def test_an_empty_source_is_no_trouble() -> None:
    one = model()
    logits = one(words(2, 5), words(2, 4), lengths=torch.tensor([5, 0]))
    logits.square().sum().backward()
    assert logits.isfinite().all()
    assert all(p.grad.isfinite().all() for p in one.parameters())


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(ValueError, match="width 32 does not split into 5 heads; try"):
        Transformer(replace(NANO, heads=5))
