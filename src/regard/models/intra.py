"""LSTMN: an LSTM that attends to its own past states at each word, here as a classifier (Cheng 2016).

Where an LSTM carries one state, this one keeps them all on a tape, and each word is related to the words before it.
Deviations: the gates have biases, as torch's LSTM has, and the word vectors are learned from the start, where
the paper begins with GloVe's. The encoder–decoder forms of its section 4 are not here.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Additive, Attention, padding
from regard.layers.dropout import Dropout
from regard.layers.recurrent import check_lengths
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 20_000  # of the order of the Stanford treebank's
    width: int = 300
    hidden: int = 168
    depth: int = 2
    classes: int = 5
    dropout: float = 0.5  # of the classifier


class Reader(nn.Module):
    """An LSTM that starts each step from an attention over all its past states in place of the last one (§3.1)."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.attn = Attention(
            q=nn.Linear(width + hidden, hidden, bias=False),  # [W_x W_h̃] of eq. 4
            k=_Hidden(hidden, hidden, bias=False),
            v=nn.Identity(),
            out=nn.Identity(),
            score=Additive(hidden),
        )
        self.cell = nn.LSTMCell(width, hidden)

    def forward(self, x: Float[Tensor, "b n w"]) -> Float[Tensor, "b n h"]:
        """The hidden state at each word."""
        # The first word looks at an empty tape, which gives zeros.
        tape = self.attn.remember(x.new_zeros(x.shape[0], 0, 2 * self.hidden))
        hidden = x.new_zeros(x.shape[0], self.hidden)
        for word in x.unbind(dim=1):
            hidden, memory = self.attn(torch.cat((word, hidden), dim=-1)[:, None], tape)[:, 0].chunk(2, dim=-1)
            state = torch.cat(self.cell(word, (hidden, memory)), dim=-1)
            tape = self.attn.remember(state[:, None].to(x.dtype), tape)  # autocast may have lowered its precision
        return tape.v[:, 0, :, : self.hidden]


class LSTMN(nn.Module):
    """A classifier of sentences: a stack of readers, and an MLP over the mean of their states."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.readers = nn.Sequential(
            *(Reader(config.hidden if i else config.width, config.hidden) for i in range(config.depth))
        )
        self.head = nn.Sequential(
            Dropout(config.dropout),
            nn.Linear(config.hidden, config.hidden),
            nn.ReLU(),
            Dropout(config.dropout),
            nn.Linear(config.hidden, config.classes),
        )

    def forward(self, ids: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> Float[Tensor, "b c"]:
        """The logits of the classes; what lies beyond `lengths` is padding."""
        output: Tensor = self.head(_mean(self.read(ids), lengths))
        return output

    def read(self, ids: Int[Tensor, "b n"]) -> Float[Tensor, "b n h"]:
        """The state of the last reader at each word."""
        states: Tensor = self.readers(self.embed(ids))
        return states


class _Hidden(nn.Linear):
    """Reads the hidden half of a state [h; c]: the memory half is mixed by the weights and has no part in them."""

    def forward(self, state: Float[Tensor, "b n s"]) -> Float[Tensor, "b n h"]:
        return super().forward(state[..., : self.in_features])


def _mean(states: Float[Tensor, "b n h"], lengths: Int[Tensor, " b"] | None) -> Float[Tensor, "b h"]:
    check_lengths(lengths, states.shape[1])
    if lengths is None:
        return states.mean(dim=1)
    real = padding(lengths, states.shape[1])[:, 0, 0, :, None]
    return states.masked_fill(~real, 0.0).sum(dim=1) / lengths[:, None]


def example(config: Config) -> dict[str, Any]:
    return {"ids": torch.randint(config.vocab, (2, 5))}


PRESETS = {
    "intra-sst": Config(),  # §5.2: two layers of 168, and five grades of sentiment or two
    "intra-sst-binary": Config(classes=2),
    "intra-nano": Config(vocab=120, width=24, hidden=32, depth=1, classes=2, dropout=0.0),
}

FAMILY = Family("intra", Config, LSTMN, PRESETS, example)
