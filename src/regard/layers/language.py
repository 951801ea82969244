"""What models of language share: texts of unequal length go in, padded or packed, and states, logits or heads come out.

A model assembles its parts and says how words and positions are embedded; the rest is here, once.
"""

from abc import ABC, abstractmethod
from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Packed, both, causal, read_visible
from regard.layers.decoder import DecoderState
from regard.layers.heads import EncoderHead, Output
from regard.layers.stack import Stack


class LanguageEncoder(nn.Module, ABC):
    """An encoder of one text or of two, with the head that its config names."""

    encoder: nn.Module  # a Stack, or what is called like one
    head: EncoderHead

    @abstractmethod
    def embed_words(
        self, ids: Int[Tensor, "b n"], segments: Int[Tensor, "b n"] | None, positions: int | Int[Tensor, "#b n"]
    ) -> Float[Tensor, "b n w"]:
        """What goes into the first layer; `positions` begin at a number, or are those of every token."""

    def forward(
        self,
        ids: Int[Tensor, "b n"],
        *,
        segments: Int[Tensor, "b n"] | None = None,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
        masked: Bool[Tensor, "b n"] | None = None,
    ) -> Output:
        """The states of all tokens, and what the head says.

        `segments` are 0 in the first text and 1 in the second; without them there is one text. `lengths` are those of
        rows that are padded behind; `visible` is True at tokens that are no padding, wherever it stands, or says that
        the texts are `packed` in one row. What is not visible is not read. Where `masked` is given, words are guessed
        at its places alone.
        """
        output: Output = self.head(self.read(ids, segments=segments, lengths=lengths, visible=visible), visible, masked)
        return output

    def read(
        self,
        ids: Int[Tensor, "b n"],
        *,
        segments: Int[Tensor, "b n"] | None = None,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
    ) -> Float[Tensor, "b n w"]:
        """The states of all tokens, without the head."""
        seen, positions = read_visible(lengths, visible, ids.shape[1])
        x = self.embed_words(ids, segments, 0 if positions is None else positions)
        hidden: Tensor = self.encoder(x, visible=seen, positions=positions)
        return hidden


class LanguageDecoder(nn.Module, ABC):
    """A decoder without a source: it reads words from the left and says what follows each of them.

    A state starts empty, and a prompt is its first step; steps equal `forward`::

        _, state = model.advance(prompt[:, :-1], model.start(len(prompt)))
        written = greedy(model.step, state, prompt[:, -1], stop=stop, limit=50)
    """

    cross_attentions: tuple[str, ...] = ()  # there is no source to look at
    embed: nn.Embedding
    decoder: Stack
    norm: nn.Module
    to_vocab: nn.Module

    @abstractmethod
    def embed_words(self, words: Int[Tensor, "b n"], positions: int | Int[Tensor, "#b n"]) -> Float[Tensor, "b n w"]:
        """What goes into the first layer; `positions` begin at a number, or are those of every word."""

    def forward(
        self,
        ids: Int[Tensor, "b n"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
    ) -> Float[Tensor, "b n v"]:
        """The logits of what follows each word.

        `lengths` are those of rows that are padded behind; `visible` is True at words that are no padding, wherever it
        stands, or says that the texts are `packed` in one row. Nothing looks at what is not visible.
        """
        logits: Tensor = self.to_vocab(self.read(ids, lengths=lengths, visible=visible))
        return logits

    def read(
        self,
        ids: Int[Tensor, "b n"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
        visible: Bool[Tensor, "b n"] | Packed | None = None,
    ) -> Float[Tensor, "b n w"]:
        """The states of all words, from which their next ones are guessed."""
        seen, positions = read_visible(lengths, visible, ids.shape[1])
        seen = replace(seen, causal=True) if isinstance(seen, Packed) else both(causal(ids.shape[1]), seen)
        x = self.embed_words(ids, 0 if positions is None else positions)
        hidden: Tensor = self.norm(self.decoder(x, visible=seen, positions=positions))
        return hidden

    def start(self, rows: int) -> DecoderState:
        """The state of so many rows before their first word."""
        return DecoderState((), torch.arange(rows, device=self.embed.weight.device))

    def step(
        self, words: Int[Tensor, "b n"], state: DecoderState, *, visible: Bool[Tensor, "b n"] | None = None
    ) -> tuple[Float[Tensor, "b n v"], DecoderState]:
        """The logits of what follows each of the next words, and the state behind them."""
        hidden, state = self.advance(words, state, visible=visible)
        return self.to_vocab(hidden), state

    def advance(
        self, words: Int[Tensor, "b n"], state: DecoderState, *, visible: Bool[Tensor, "b n"] | None = None
    ) -> tuple[Float[Tensor, "b n w"], DecoderState]:
        """Go on by some words without saying what follows them: the states of the words, and the state behind them.

        `visible` is False at padding, which every later step will pass over; positions count what is visible.
        """
        positions, new = state.positions(words, visible), None if visible is None else visible[:, None, None]
        x = self.embed_words(words, state.length if positions is None else positions)
        x, past = self.decoder.step(x, state.past, visible=new, positions=positions)
        return self.norm(x), replace(state, past=past)


def draw_weights(model: nn.Module, std: float = 0.02) -> None:
    """First weights from a normal distribution, and constants of zero, as BERT and GPT-2 have them."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding | nn.Conv1d):
            nn.init.normal_(module.weight, std=std)
        if isinstance(module, nn.Linear | nn.Conv1d) and module.bias is not None:
            nn.init.zeros_(module.bias)
