"""Recurrent sequence-to-sequence models, before attention and with it.

Without attention, one vector c must hold the whole source (Sutskever 2014, Cho 2014). With it, the decoder attends to
the annotations of the words: before each step as in Bahdanau 2014, or after it as in Luong 2015.

Deviations: the words are predicted from one tanh layer of the embeddings' width, also in place of Bahdanau's maxout; a
decoder starts from its encoder's last states as they are, or, where that reads both ways, from a tanh layer over both
directions, an LSTM's cell from zero; Sutskever's c is given at every step as Cho's is. Reversing the source is up to
the data.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Attention, Dot, Memory, additive, bilinear, padding
from regard.layers.dropout import Dropout
from regard.layers.recurrent import Recurrent, RecurrentState
from regard.models.family import Family

Kind = Literal["none", "additive", "dot", "bilinear", "concat"]


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 30000
    target: int | None = 30000  # the vocabulary to write in; None: the one that is read, and its embeddings
    width: int = 620
    hidden: int = 1000
    cell: str = "gru"
    depth: int = 1
    attention: Kind = "additive"
    bidirectional: bool = True  # the encoder
    input_feeding: bool = False  # each step reads what the last one saw (Luong 2015, §3.3)
    dropout: float = 0.0  # of embeddings and predictions, and between layers


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The decoder's recurrent state, and what it knows of the source."""

    recurrent: RecurrentState
    extra_input: Float[Tensor, "b c"]  # read with every next word: the fixed context, or what is fed; or nothing
    sentences: Int[Tensor, " b"]  # which source each row translates
    memory: Memory | None = None  # the annotations, where they can be looked at

    def select(self, rows: Int[Tensor, " r"]) -> "State":
        """These rows, in this order and as often as they are named. The source is copied only if a row changes it."""
        sentences, memory = self.sentences[rows], self.memory
        if memory is not None and not sentences.equal(self.sentences):
            memory = memory.select(rows)
        hidden, cell = self.recurrent.hidden[rows], self.recurrent.cell
        recurrent = RecurrentState(hidden, None if cell is None else cell[rows])
        return State(recurrent, self.extra_input[rows], sentences, memory)


class Fixed(nn.Module):
    """All that the decoder knows of the source is one vector, given at every step (Cho 2014, §2.2)."""

    attn = None

    def __init__(self, config: Config, context: int) -> None:
        super().__init__()
        self.recurrent = _recurrent(config, config.width + context)
        self.readout = nn.Linear(config.hidden + config.width + context, config.width)

    def forward(self, y: Float[Tensor, "b n w"], state: State) -> tuple[Float[Tensor, "b n w"], State]:
        c = state.extra_input[:, None].expand(-1, y.shape[1], -1)
        s, recurrent = self.recurrent(torch.cat((y, c), dim=-1), state.recurrent)
        return self.readout(torch.cat((s, y, c), dim=-1)).tanh(), replace(state, recurrent=recurrent)


class Bahdanau(nn.Module):
    """Attend first, with the last state as query; then read the word and the context (Bahdanau 2014, §3.1)."""

    def __init__(self, config: Config, context: int) -> None:
        super().__init__()
        self.attn = additive(config.hidden, context, config.hidden)
        self.recurrent = _recurrent(config, config.width + context)
        self.readout = nn.Linear(config.hidden + config.width + context, config.width)

    def forward(self, y: Float[Tensor, "b n w"], state: State) -> tuple[Float[Tensor, "b n w"], State]:
        recurrent, steps = state.recurrent, []
        for word in y.split(1, dim=1):
            c = self.attn(recurrent.summary[:, None], state.memory)
            s, recurrent = self.recurrent(torch.cat((word, c), dim=-1), recurrent)
            steps.append(torch.cat((s, word, c), dim=-1))
        return self.readout(torch.cat(steps, dim=1)).tanh(), replace(state, recurrent=recurrent)


class Luong(nn.Module):
    """Read the word first, then attend with the new state as query, and predict from both (Luong 2015, §3).

    His `concat` is Bahdanau's score. A context helps to predict one word and, without input feeding, no later one, so
    that the weights say more plainly which word is being translated.
    """

    def __init__(self, config: Config, context: int) -> None:
        super().__init__()
        self.attn = SCORES[config.attention](config.hidden, context)
        self.input_feeding = config.input_feeding
        self.recurrent = _recurrent(config, config.width * (2 if self.input_feeding else 1))
        self.readout = nn.Linear(context + config.hidden, config.width)

    def forward(self, y: Float[Tensor, "b n w"], state: State) -> tuple[Float[Tensor, "b n w"], State]:
        if not self.input_feeding:  # no step waits for the look of another, so all go through the recurrence at once
            return self._read(y, state)
        outputs = []
        for word in y.split(1, dim=1):
            x, state = self._read(torch.cat((word, state.extra_input[:, None]), dim=-1), state)
            state = replace(state, extra_input=x[:, 0])
            outputs.append(x)
        return torch.cat(outputs, dim=1), state

    def _read(self, y: Float[Tensor, "b n i"], state: State) -> tuple[Float[Tensor, "b n w"], State]:
        s, recurrent = self.recurrent(y, state.recurrent)
        c = self.attn(s, state.memory)
        return self.readout(torch.cat((c, s), dim=-1)).tanh(), replace(state, recurrent=recurrent)


def _dot(query: int, context: int) -> Attention:
    """The decoder's state and an annotation as they are."""
    if query != context:
        raise ValueError(
            f"a dot product cannot compare a state of width {query} with annotations of width {context}; "
            f"set bidirectional=False, or choose bilinear attention"
        )
    return Attention(nn.Identity(), nn.Identity(), nn.Identity(), nn.Identity(), score=Dot(1.0))


SCORES: dict[Kind, Callable[[int, int], Attention]] = {
    "dot": _dot,
    "bilinear": bilinear,
    "concat": lambda query, context: additive(query, context, query),
}

DECODERS: dict[Kind, type[Fixed] | type[Bahdanau] | type[Luong]] = {
    "none": Fixed,
    "additive": Bahdanau,
    **dict.fromkeys(SCORES, Luong),
}


class Seq2Seq(nn.Module):
    """A recurrent encoder, and a decoder that gets one vector of it or attends to its annotations.

    `start` reads the source, `step` writes on; between two steps all is in the `State`, and steps equal `forward`.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.attention not in DECODERS:
            raise ValueError(f"no attention is called {config.attention!r}; choose one of {', '.join(DECODERS)}")
        if config.input_feeding and config.attention not in SCORES:
            raise ValueError(
                f"input feeding hands on what was seen after a step, and attention {config.attention!r} looks at "
                f"nothing then; choose {', '.join(SCORES)}, or leave it out"
            )
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.embed_target = None if config.target is None else nn.Embedding(config.target, config.width)
        self.dropout = Dropout(config.dropout)
        self.encoder = _recurrent(config, config.width, bidirectional=config.bidirectional)
        self.bridge = nn.Linear(self.encoder.annotation_width, config.hidden) if config.bidirectional else None
        self.decoder = DECODERS[config.attention](config, self.encoder.annotation_width)
        self.to_vocab = nn.Linear(config.width, config.vocab if config.target is None else config.target)

    @property
    def cross_attentions(self) -> tuple[str, ...]:
        """The names of the attentions that look at the source."""
        return () if self.decoder.attn is None else ("decoder.attn",)

    def forward(
        self, source: Int[Tensor, "b n"], target: Int[Tensor, "b m"], *, lengths: Int[Tensor, " b"] | None = None
    ) -> Float[Tensor, "b m v"]:
        """The logits of what follows each word of a target that opens with the start token.

        `lengths` are those of the source, where it is padded; what stands beyond them is not read.
        """
        logits, _ = self.step(target, self.start(source, lengths=lengths))
        return logits

    def start(self, source: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> State:
        """Read the source once, for all the words that will be written."""
        annotations, end = self.encoder(self.dropout(self.embed(source)), lengths=lengths)
        recurrent = end if self.bridge is None else RecurrentState(self.bridge(end.hidden).tanh())
        sentences = torch.arange(source.shape[0], device=source.device)
        if self.decoder.attn is None:
            return State(recurrent, end.summary, sentences)
        visible = None if lengths is None else padding(lengths, source.shape[1])
        fed = self.config.width if self.config.input_feeding else 0
        nothing = annotations.new_zeros(source.shape[0], fed)  # the first word comes after no other
        return State(recurrent, nothing, sentences, self.decoder.attn.remember(annotations, visible=visible))

    def step(self, words: Int[Tensor, "b n"], state: State) -> tuple[Float[Tensor, "b n v"], State]:
        """The logits of what follows each of the next words, and the state behind them."""
        embed = self.embed if self.embed_target is None else self.embed_target
        x, state = self.decoder(self.dropout(embed(words)), state)
        return self.to_vocab(self.dropout(x)), state


def _recurrent(config: Config, width: int, *, bidirectional: bool = False) -> Recurrent:
    dropout = config.dropout if config.depth > 1 else 0.0  # it lies between layers
    return Recurrent(
        width, config.hidden, cell=config.cell, depth=config.depth, bidirectional=bidirectional, dropout=dropout
    )


def example(config: Config) -> dict[str, Any]:
    target = config.vocab if config.target is None else config.target
    return {"source": torch.randint(config.vocab, (2, 5)), "target": torch.randint(target, (2, 4))}


# The papers' own sizes: Sutskever 2014 §3.4; Cho 2014 §4.1; Bahdanau 2014 §4 and appendix A; Luong 2015 §4.1.
# `small` and `tiny` suit some tens of thousands of sentences.
PRESETS = {
    "seq2seq-sutskever": Config(
        vocab=160_000, target=80_000, width=1000, cell="lstm", depth=4, attention="none", bidirectional=False
    ),
    "seq2seq-cho": Config(vocab=15_000, target=15_000, width=100, attention="none", bidirectional=False),
    "seq2seq-rnnenc": Config(attention="none", bidirectional=False),
    "seq2seq-rnnsearch": Config(),
    "seq2seq-luong": Config(
        vocab=50_000,
        target=50_000,
        width=1000,
        cell="lstm",
        depth=4,
        attention="dot",
        bidirectional=False,
        input_feeding=True,
        dropout=0.2,
    ),
    "seq2seq-small": Config(vocab=8000, target=8000, width=256, hidden=256, dropout=0.3),
    "seq2seq-tiny": Config(vocab=4000, target=None, width=256, hidden=384, dropout=0.3),
    "seq2seq-nano": Config(vocab=40, target=48, width=16, hidden=24),
}

FAMILY = Family("seq2seq", Config, Seq2Seq, PRESETS, example)
