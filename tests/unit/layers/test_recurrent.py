"""A recurrence reads word by word, and its state is a value that can be handed on."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import additive, padding, record
from regard.layers.recurrent import CELLS, Recurrent, RecurrentState

cells = pytest.mark.parametrize("cell", CELLS)


@cells
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=5), bidirectional=st.booleans(), depth=st.integers(1, 2)
)
def test_a_sentence_in_a_padded_batch_reads_as_it_does_alone(
    cell: str, lengths: list[int], bidirectional: bool, depth: int
) -> None:
    rnn = Recurrent(3, 4, cell=cell, depth=depth, bidirectional=bidirectional)
    x = torch.randn(len(lengths), 7, 3)
    y, state = rnn(x, lengths=torch.tensor(lengths))
    for i, length in enumerate(lengths):
        alone, end = rnn(x[i : i + 1, :length])
        torch.testing.assert_close(y[i : i + 1, :length], alone)
        assert not y[i, length:].any()
        torch.testing.assert_close(state.hidden[i : i + 1], end.hidden)
        if state.cell is not None:
            torch.testing.assert_close(state.cell[i : i + 1], end.cell)


@cells
def test_padding_may_hold_anything_and_learns_nothing(cell: str) -> None:
    rnn, lengths = Recurrent(3, 4, cell=cell, bidirectional=True), torch.tensor([2, 5, 1])
    x = torch.randn(3, 5, 3, requires_grad=True)
    hidden = ~padding(lengths, 5)[:, 0, 0, :, None]
    y, state = rnn(x, lengths=lengths)
    spoiled, same = rnn(x.masked_fill(hidden, torch.nan), lengths=lengths)
    assert y.equal(spoiled)
    assert state.hidden.equal(same.hidden)
    (grad,) = torch.autograd.grad(y.sum() + state.summary.sum(), x)
    assert not grad.masked_select(hidden).any()
    assert grad.masked_select(~hidden).all()


@cells
@given(words=st.integers(1, 7), depth=st.integers(1, 2))
def test_stepping_word_by_word_reads_the_same_as_the_whole(cell: str, words: int, depth: int) -> None:
    rnn = Recurrent(3, 4, cell=cell, depth=depth)
    x = torch.randn(2, words, 3)
    whole, end = rnn(x)
    steps, state = [], None
    for word in x.split(1, dim=1):
        y, state = rnn(word, state)
        steps.append(y)
    assert state is not None
    torch.testing.assert_close(torch.cat(steps, dim=1), whole)
    torch.testing.assert_close(state.hidden, end.hidden)
    if end.cell is not None:
        torch.testing.assert_close(state.cell, end.cell)


@cells
def test_a_gradient_reaches_the_first_word_through_the_steps(cell: str) -> None:
    rnn = Recurrent(3, 4, cell=cell)
    x = torch.randn(2, 5, 3, requires_grad=True)
    whole, _ = rnn(x)
    (expected,) = torch.autograd.grad(whole[:, -1].sum(), x)
    state = None
    for word in x.split(1, dim=1):
        y, state = rnn(word, state)
    (stepped,) = torch.autograd.grad(y.sum(), x)
    assert stepped[:, 0].all()
    torch.testing.assert_close(stepped, expected)


@cells
def test_the_summary_is_the_last_word_forward_beside_the_first_word_backward(cell: str) -> None:
    rnn = Recurrent(3, 4, cell=cell, depth=2, bidirectional=True)
    lengths = torch.tensor([5, 3])
    y, state = rnn(torch.randn(2, 5, 3), lengths=lengths)
    last = y[torch.arange(2), lengths - 1]
    assert state.summary.equal(torch.cat((last[:, :4], y[:, 0, 4:]), dim=-1))


def test_one_way_the_summary_is_the_last_annotation() -> None:
    y, state = Recurrent(3, 4, cell="gru", depth=2)(torch.randn(2, 5, 3))
    assert state.summary.equal(y[:, -1])


def test_reading_both_ways_each_word_knows_the_whole_sentence() -> None:
    rnn = Recurrent(3, 4, bidirectional=True)
    x = torch.randn(1, 6, 3, requires_grad=True)
    y, _ = rnn(x)
    (grad,) = torch.autograd.grad(y[0, 2].sum(), x)
    assert grad.all()


@cells
def test_the_state_of_an_encoder_that_reads_both_ways_starts_a_decoder_as_wide_as_its_annotations(cell: str) -> None:
    encoder = Recurrent(3, 4, cell=cell, depth=2, bidirectional=True)
    decoder = Recurrent(5, encoder.annotation_width, cell=cell, depth=2)
    x, word = torch.randn(2, 6, 3, requires_grad=True), torch.randn(2, 1, 5)
    _, state = encoder(x)
    told, _ = decoder(word, state)
    untold, _ = decoder(word)
    assert not torch.allclose(told, untold)
    (grad,) = torch.autograd.grad(told.sum(), x)
    assert grad.abs().sum(dim=-1).all()


def test_annotations_are_what_an_additive_attention_remembers() -> None:
    encoder, decoder = Recurrent(3, 4, bidirectional=True), Recurrent(5, 6)
    lengths = torch.tensor([4, 2])
    annotations, _ = encoder(torch.randn(2, 4, 3), lengths=lengths)
    attn = additive(6, encoder.annotation_width, 7)
    memory = attn.remember(annotations, visible=padding(lengths, 4))
    _, state = decoder(torch.randn(2, 1, 5))
    with record(attn) as trace:
        context = attn(state.summary[:, None], memory)
    assert context.shape == (2, 1, encoder.annotation_width)
    assert not trace.weights("")[1, ..., 2:].any()


def test_a_state_may_be_made_of_whatever_a_model_knows() -> None:
    """Captioning starts from the image alone, and intra-attention writes hidden and cell afresh at each step."""
    rnn, h, c = Recurrent(3, 4), torch.randn(2, 1, 4), torch.randn(2, 1, 4)
    word = torch.randn(2, 1, 3)
    without, _ = rnn(word, RecurrentState(h))
    zeros, _ = rnn(word, RecurrentState(h, torch.zeros_like(h)))
    filled, _ = rnn(word, RecurrentState(h, c))
    assert without.equal(zeros)
    assert not torch.allclose(filled, zeros)


def test_dropout_lies_between_the_layers_in_training_only() -> None:
    rnn, x = Recurrent(3, 4, depth=2, dropout=0.5), torch.randn(2, 5, 3)

    def read() -> Tensor:
        y: Tensor = rnn(x)[0]
        return y

    assert not read().equal(read())
    rnn.eval()
    assert read().equal(read())


def test_an_unknown_cell_is_told_the_choices() -> None:
    with pytest.raises(ValueError, match="no cell is called 'elman'; choose one of rnn, gru, lstm"):
        Recurrent(3, 4, cell="elman")


def test_dropout_needs_two_layers_to_lie_between() -> None:
    with pytest.raises(ValueError, match=r"dropout 0.1 lies between layers, and depth 1 has no between"):
        Recurrent(3, 4, dropout=0.1)


def test_an_empty_sequence_is_refused_by_its_place_in_the_batch() -> None:
    rnn = Recurrent(3, 4)
    with pytest.raises(ValueError, match="sequence 1 has length 0, which leaves nothing to read"):
        rnn(torch.randn(3, 5, 3), lengths=torch.tensor([2, 0, 5]))
    with pytest.raises(ValueError, match="a sequence of length 0 leaves nothing to read"):
        rnn(torch.randn(3, 0, 3))


def test_a_length_beyond_the_batch_is_refused() -> None:
    with pytest.raises(
        ValueError, match="sequence 2 has length 6, but the batch holds 5 words; give lengths from 1 to 5"
    ):
        Recurrent(3, 4)(torch.randn(3, 5, 3), lengths=torch.tensor([2, 1, 6]))


def test_a_state_of_another_shape_is_told_the_right_one() -> None:
    _, state = Recurrent(3, 4, bidirectional=True)(torch.randn(2, 5, 3))
    with pytest.raises(ValueError, match=r"a state of shape \(2, 1, 8\) cannot start .* give \(2, 1, 4\)"):
        Recurrent(3, 4)(torch.randn(2, 1, 3), state)


def test_only_an_lstm_takes_up_a_cell() -> None:
    _, state = Recurrent(3, 4)(torch.randn(2, 5, 3))
    gru = Recurrent(3, 4, cell="gru")
    with pytest.raises(ValueError, match=r"start this recurrence from RecurrentState\(state.hidden\)"):
        gru(torch.randn(2, 1, 3), state)
    gru(torch.randn(2, 1, 3), RecurrentState(state.hidden))
