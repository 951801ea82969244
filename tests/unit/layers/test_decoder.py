"""The state of a decoder is a value, with a source or without one."""

import torch

from regard.attention import multihead
from regard.layers import MLP, Block, DecoderState, Stack


@torch.no_grad()
def test_a_decoder_that_reads_nothing_goes_on_in_the_rows_that_were_selected() -> None:
    stack = Stack(Block(16, multihead(16, 4), MLP(16)) for _ in range(2)).eval()
    x, newer, rows = torch.randn(3, 4, 16), torch.randn(4, 1, 16), torch.tensor([2, 0, 0, 1])
    _, past = stack.step(x)
    state = DecoderState((), torch.arange(3), past).select(rows)
    assert state.sentences.tolist() == [2, 0, 0, 1]
    assert not state.contexts
    assert state.past is not None
    y, _ = stack.step(newer, state.past)
    _, alone = stack.step(x[rows])
    torch.testing.assert_close(y, stack.step(newer, alone)[0])


def test_before_the_first_step_there_is_no_past_to_select() -> None:
    assert DecoderState((), torch.arange(2)).select(torch.tensor([1, 1])).past is None
