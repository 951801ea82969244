"""The state of a decoder between two steps, one for every model that writes with a `Stack`."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Int
from torch import Tensor

from regard.attention import Memory


@dataclass(frozen=True, slots=True, eq=False)
class DecoderState:
    """What was read, encoded once, and the KV cache of what has been written so far."""

    contexts: Sequence[Memory]  # one for each block that has a cross-attention; empty where there is nothing to read
    sentences: Int[Tensor, " b"]  # which source each row writes about
    past: Sequence[Memory] | None = None  # one for each block; None before the first step

    def select(self, rows: Int[Tensor, " r"]) -> "DecoderState":
        """These rows, in this order and as often as they are named. Neighbours of one sentence share its source."""
        sentences = self.sentences[rows]
        return DecoderState(
            self.contexts if sentences.equal(self.sentences) else [memory.share(rows) for memory in self.contexts],
            sentences,
            None if self.past is None else [memory.select(rows) for memory in self.past],
        )
