"""TCN: causal dilated convolutions in place of a recurrence (Bai 2018).

The prediction is made at the last word, as in the paper's task of permuted pixels. Deviation: words enter by a learned
embedding also where the paper feeds numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.layers.convolution import TemporalConv
from regard.layers.recurrent import check_lengths
from regard.models.family import Family


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 10
    width: int = 10
    hidden: int = 10
    kernel: int = 8
    depth: int = 8
    classes: int = 10
    dropout: float = 0.0


class TCN(nn.Module):
    """A classifier of sequences that sees as many of the last words as its convolutions reach."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.past = TemporalConv(
            config.width, config.hidden, kernel=config.kernel, depth=config.depth, dropout=config.dropout
        )
        self.head = nn.Linear(config.hidden, config.classes)

    @property
    def receptive_field(self) -> int:
        """How many words a prediction depends on, the last one included."""
        return self.past.receptive_field

    def forward(self, ids: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> Float[Tensor, "b c"]:
        """The logits of the classes at the last word; what lies beyond `lengths` is padding."""
        output: Tensor = self.head(_last(self.past(self.embed(ids)), lengths))
        return output

    def __reduce__(self) -> tuple[Callable[..., "TCN"], tuple[Config, bool, Mapping[str, Tensor]]]:
        # Torch does not pickle a module with a weight norm, so the model is pickled as its config and weights.
        return _rebuild, (self.config, self.training, self.state_dict(keep_vars=True))


def _rebuild(config: Config, training: bool, weights: Mapping[str, Tensor]) -> TCN:
    frozen = {name for name, weight in weights.items() if not weight.requires_grad}  # loading would thaw them
    with torch.device("meta"):
        model = TCN(config)
    model.load_state_dict(weights, assign=True)
    for name, weight in model.named_parameters():
        weight.requires_grad_(name not in frozen)
    return model.train(training)


def _last(states: Float[Tensor, "b n h"], lengths: Int[Tensor, " b"] | None) -> Float[Tensor, "b h"]:
    check_lengths(lengths, states.shape[1])
    if lengths is None:
        return states[:, -1]
    return states[torch.arange(states.shape[0], device=states.device), lengths - 1]


def example(config: Config) -> dict[str, Any]:
    return {"ids": torch.randint(config.vocab, (2, 5))}


# The authors' settings for copying ten digits over a thousand blanks.
PRESETS = {
    "tcn-copy": Config(),
    "tcn-nano": Config(vocab=16, width=16, hidden=24, kernel=3, depth=3, classes=16, dropout=0.0),
}

FAMILY = Family("tcn", Config, TCN, PRESETS, example)
