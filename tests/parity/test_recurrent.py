"""Recurrent beside torch's own modules, with the same weights."""

from itertools import product

import pytest
import torch
from torch import Tensor, nn

from regard.layers.recurrent import Recurrent

TORCH = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
kinds = pytest.mark.parametrize(("cell", "bidirectional", "depth"), list(product(TORCH, (False, True), (1, 2))))


def pair(cell: str, bidirectional: bool, depth: int) -> tuple[Recurrent, nn.RNNBase]:
    ours = Recurrent(3, 4, cell=cell, bidirectional=bidirectional, depth=depth)
    theirs: nn.RNNBase = TORCH[cell](3, 4, num_layers=depth, bidirectional=bidirectional)
    theirs.load_state_dict(ours.loop.state_dict())
    return ours, theirs


def laid_out(theirs: Tensor, depth: int) -> Tensor:
    """Torch's rows (layer and direction, batch, hidden) as ours, written out by loops."""
    directions = len(theirs) // depth
    layers = [torch.cat([theirs[i * directions + d] for d in range(directions)], dim=-1) for i in range(depth)]
    return torch.stack(layers, dim=1)


@kinds
def test_annotations_and_states_are_those_of_torch(cell: str, bidirectional: bool, depth: int) -> None:
    ours, theirs = pair(cell, bidirectional, depth)
    x, more = torch.randn(2, 5, 3), torch.randn(2, 4, 3)
    y, state = ours(x)
    expected, end = theirs(x.transpose(0, 1))
    torch.testing.assert_close(y, expected.transpose(0, 1))
    continued, later = ours(more, state)
    expected, later_end = theirs(more.transpose(0, 1), end)
    torch.testing.assert_close(continued, expected.transpose(0, 1))
    for mine, other in ((state, end), (later, later_end)):
        rows = other if isinstance(other, tuple) else (other,)
        torch.testing.assert_close(mine.hidden, laid_out(rows[0], depth))
        if cell == "lstm":
            torch.testing.assert_close(mine.cell, laid_out(rows[1], depth))
        else:
            assert mine.cell is None


@kinds
def test_gradients_are_those_of_torch(cell: str, bidirectional: bool, depth: int) -> None:
    ours, theirs = pair(cell, bidirectional, depth)
    x = torch.randn(2, 5, 3, requires_grad=True)
    y, state = ours(x)
    z, end = theirs(x.transpose(0, 1))
    goal = torch.randn_like(y)
    hidden = end[0] if isinstance(end, tuple) else end
    mine = torch.autograd.grad((y * goal).sum() + state.hidden.square().sum(), [x, *ours.parameters()])
    other = torch.autograd.grad((z.transpose(0, 1) * goal).sum() + hidden.square().sum(), [x, *theirs.parameters()])
    torch.testing.assert_close(mine, other)
