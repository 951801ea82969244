"""The state of a decoder between two steps, one for every model that writes with a `Stack`."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.attention import Memory


@dataclass(frozen=True, slots=True, eq=False)
class DecoderState:
    """What was read, encoded once, and the KV cache of what has been written so far."""

    contexts: Sequence[Memory]  # one for each block that has a cross-attention; empty where there is nothing to read
    sentences: Int[Tensor, " b"]  # which source each row writes about
    past: Sequence[Memory] | None = None  # one for each block; None before the first step

    @property
    def length(self) -> int:
        """How many tokens have been written, padding too."""
        return 0 if self.past is None else self.past[0].length

    def positions(self, words: Int[Tensor, "b n"], visible: Bool[Tensor, "b n"] | None) -> Int[Tensor, "b n"] | None:
        """Where the next words stand, counted without padding; None where there is none and they follow on."""
        before = None if self.past is None else self.past[0].visible
        if visible is None and before is None:
            return None
        new = torch.ones_like(words) if visible is None else visible.long()
        first = self.length if before is None else before[:, 0, 0].sum(dim=-1, keepdim=True)
        return (first + new.cumsum(dim=-1) - 1).clamp(min=0)

    def select(self, rows: Int[Tensor, " r"]) -> "DecoderState":
        """These rows, in this order and as often as they are named. Neighbours of one sentence share its source."""
        sentences = self.sentences[rows]
        return DecoderState(
            self.contexts if sentences.equal(self.sentences) else [memory.share(rows) for memory in self.contexts],
            sentences,
            None if self.past is None else [memory.select(rows) for memory in self.past],
        )
