"""Recurrent networks: torch's own RNN, GRU and LSTM, batch first, with one kind of state whatever the cell."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

CELLS: dict[str, Callable[..., nn.RNNBase]] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


@dataclass(frozen=True, slots=True)
class RecurrentState:
    """The state of a recurrence, from which it goes on, or another one of the same depth and width begins."""

    hidden: Float[Tensor, "b l h"]  # one row for each layer, with both directions side by side
    cell: Float[Tensor, "b l h"] | None = None  # of an LSTM; zeros where it is left out

    @property
    def summary(self) -> Float[Tensor, "b h"]:
        """The last hidden state of the last layer: the forward one beside the backward one."""
        return self.hidden[:, -1]


class Recurrent(nn.Module):
    """An RNN, GRU or LSTM, with an annotation for each word (Elman 1990, Cho 2014, Hochreiter 1997).

    A decoder steps by giving one word and the state of the last step. Of a bidirectional one, each direction has
    `hidden` channels. Dropout lies between the layers.
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        *,
        cell: str = "lstm",
        depth: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if cell not in CELLS:
            raise ValueError(f"no cell is called {cell!r}; choose one of {', '.join(CELLS)}")
        if dropout and depth == 1:
            raise ValueError(
                f"dropout {dropout} lies between layers, and depth 1 has no between; "
                f"give depth 2 or more, or drop out the annotations"
            )
        self.loop = CELLS[cell](
            width, hidden, num_layers=depth, batch_first=True, dropout=dropout, bidirectional=bidirectional
        )
        self.depth, self.directions = depth, 2 if bidirectional else 1

    @property
    def annotation_width(self) -> int:
        """`hidden` for each direction."""
        return self.directions * self.loop.hidden_size

    def forward(
        self,
        x: Float[Tensor, "b n w"],
        state: RecurrentState | None = None,
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> tuple[Float[Tensor, "b n h"], RecurrentState]:
        """The annotations and the last state. What lies beyond `lengths` is not read, and its annotations are zero."""
        words = x.shape[1]
        check_lengths(lengths, words)
        start = None if state is None else self._start(state, batch=x.shape[0])
        if lengths is None:
            y, end = self.loop(x, start)
        else:
            packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            y, end = self.loop(packed, start)
            y, _ = pad_packed_sequence(y, batch_first=True, total_length=words)
        hidden, cell = end if isinstance(end, tuple) else (end, None)
        return y, RecurrentState(self._join_directions(hidden), None if cell is None else self._join_directions(cell))

    def _start(self, state: RecurrentState, batch: int) -> Tensor | tuple[Tensor, Tensor]:
        fits = (batch, self.depth, self.annotation_width)
        for given in (state.hidden, state.cell):
            if given is not None and given.shape != fits:
                raise ValueError(
                    f"a state of shape {tuple(given.shape)} cannot start this recurrence, which has batch {batch}, "
                    f"depth {self.depth} and width {self.annotation_width}; give {fits}"
                )
        if isinstance(self.loop, nn.LSTM):
            cell = torch.zeros_like(state.hidden) if state.cell is None else state.cell
            return self._split_directions(state.hidden), self._split_directions(cell)
        if state.cell is not None:
            raise ValueError(
                "only an LSTM takes up another's cell; start this recurrence from RecurrentState(state.hidden)"
            )
        return self._split_directions(state.hidden)

    def _split_directions(self, x: Float[Tensor, "b l h"]) -> Float[Tensor, "ld b k"]:
        """As torch takes it: layers first, and a row for each direction."""
        return torch.unflatten(x, -1, (self.directions, -1)).permute(1, 2, 0, 3).flatten(0, 1).contiguous()

    def _join_directions(self, x: Float[Tensor, "ld b k"]) -> Float[Tensor, "b l h"]:
        return torch.unflatten(x, 0, (self.depth, self.directions)).permute(2, 0, 1, 3).flatten(2)


def check_lengths(lengths: Int[Tensor, " b"] | None, words: int) -> None:
    """Refuse a sequence that is empty, or longer than the batch that holds it."""
    if words == 0:
        raise ValueError("a sequence of length 0 leaves nothing to read; leave it out, or give it a word for its end")
    if lengths is None or torch.compiler.is_compiling():  # a graph is traced without values
        return
    shortest, longest = int(lengths.min()), int(lengths.max())
    if shortest < 1:
        raise ValueError(
            f"sequence {int(lengths.argmin())} has length {shortest}, which leaves nothing to read; "
            f"leave it out, or give it a word for its end"
        )
    if longest > words:
        raise ValueError(
            f"sequence {int(lengths.argmax())} has length {longest}, but the batch holds {words} words; "
            f"give lengths from 1 to {words}"
        )
