"""Recurrent translation, before attention and with it: one network reads a sentence, another writes it anew.

Without attention, one vector c must hold the whole source (Sutskever 2014, Cho 2014). With it, the decoder looks back
at the annotations of the words: before each step as in Bahdanau 2014, or after it as in Luong 2015.

Deviations: the words are predicted from one tanh layer of the embeddings' width, also in place of Bahdanau's maxout; a
decoder starts from its encoder's last states as they are, or, where that reads both ways, from a tanh layer over both
directions, an LSTM's cell from zero; Sutskever's c is given at every step as Cho's is. Reversing the source is up to
the data.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Attention, Dot, Memory, additive, bilinear, padding
from regard.layers import recurrent
from regard.layers.dropout import Dropout
from regard.layers.recurrent import Recurrent
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
    """Where the writing of a batch stands: the decoder's own state, and what it knows of the source."""

    at: recurrent.State
    beside: Float[Tensor, "b c"]  # read beside every next word: the fixed context, or what is fed; or nothing
    sentences: Int[Tensor, " b"]  # which source each row translates
    memory: Memory | None = None  # the annotations, where they can be looked at

    def select(self, rows: Int[Tensor, " r"]) -> "State":
        """These rows, in this order and as often as they are named. The source is copied only if a row changes it."""
        sentences, memory = self.sentences[rows], self.memory
        if memory is not None and not sentences.equal(self.sentences):
            memory = memory.select(rows)
        at = recurrent.State(self.at.hidden[rows], None if self.at.cell is None else self.at.cell[rows])
        return State(at, self.beside[rows], sentences, memory)


class Fixed(nn.Module):
    """All that the decoder knows of the source is one vector, given at every step (Cho 2014, §2.2)."""

    attn = None

    def __init__(self, config: Config, context: int) -> None:
        super().__init__()
        self.recurrent = _decoder(config, config.width + context)
        self.readout = nn.Linear(config.hidden + config.width + context, config.width)

    def forward(self, y: Float[Tensor, "b n w"], state: State) -> tuple[Float[Tensor, "b n w"], State]:
        c = state.beside[:, None].expand(-1, y.shape[1], -1)
        s, at = self.recurrent(torch.cat((y, c), dim=-1), state.at)
        return self.readout(torch.cat((s, y, c), dim=-1)).tanh(), replace(state, at=at)


class Bahdanau(nn.Module):
    """Look first, from where the last step ended; then read the word and what was seen (Bahdanau 2014, §3.1)."""

    def __init__(self, config: Config, context: int) -> None:
        super().__init__()
        self.attn = additive(config.hidden, context, config.hidden)
        self.recurrent = _decoder(config, config.width + context)
        self.readout = nn.Linear(config.hidden + config.width + context, config.width)

    def forward(self, y: Float[Tensor, "b n w"], state: State) -> tuple[Float[Tensor, "b n w"], State]:
        at, steps = state.at, []
        for word in y.split(1, dim=1):
            c = self.attn(at.summary[:, None], state.memory)
            s, at = self.recurrent(torch.cat((word, c), dim=-1), at)
            steps.append(torch.cat((s, word, c), dim=-1))
        return self.readout(torch.cat(steps, dim=1)).tanh(), replace(state, at=at)


class Luong(nn.Module):
    """Read the word first, then look, and predict from both (Luong 2015, §3).

    His `concat` is Bahdanau's score. What is seen helps to write one word and, unless it is fed, no later one, so that
    a look says more plainly which word is being translated.
    """

    def __init__(self, config: Config, context: int) -> None:
        super().__init__()
        self.attn = SCORES[config.attention](config.hidden, context)
        self.feeding = config.input_feeding
        self.recurrent = _decoder(config, config.width * (2 if self.feeding else 1))
        self.readout = nn.Linear(context + config.hidden, config.width)

    def forward(self, y: Float[Tensor, "b n w"], state: State) -> tuple[Float[Tensor, "b n w"], State]:
        if not self.feeding:  # no step waits for the look of another, so all go through the recurrence at once
            return self._read(y, state)
        seen = []
        for word in y.split(1, dim=1):
            x, state = self._read(torch.cat((word, state.beside[:, None]), dim=-1), state)
            state = replace(state, beside=x[:, 0])
            seen.append(x)
        return torch.cat(seen, dim=1), state

    def _read(self, y: Float[Tensor, "b n i"], state: State) -> tuple[Float[Tensor, "b n w"], State]:
        s, at = self.recurrent(y, state.at)
        c = self.attn(s, state.memory)
        return self.readout(torch.cat((c, s), dim=-1)).tanh(), replace(state, at=at)


def _dot(query: int, context: int) -> Attention:
    """The decoder's state and an annotation as they are."""
    if query != context:
        raise ValueError(
            f"a dot product cannot compare a state of {query} numbers with annotations of {context}; "
            f"let the encoder read one way, or choose bilinear attention"
        )
    return Attention(nn.Identity(), nn.Identity(), nn.Identity(), nn.Identity(), score=Dot(1.0))


def _concat(query: int, context: int) -> Attention:
    """The same small network as Bahdanau's, as wide as the state."""
    return additive(query, context, query)


SCORES: dict[Kind, Callable[[int, int], Attention]] = {"dot": _dot, "bilinear": bilinear, "concat": _concat}

DECODERS: dict[Kind, type[Fixed] | type[Bahdanau] | type[Luong]] = {
    "none": Fixed,
    "additive": Bahdanau,
    **dict.fromkeys(SCORES, Luong),
}


class Seq2Seq(nn.Module):
    """A recurrent encoder, and a decoder that is left with one vector of it or looks back at its annotations.

    `start` reads the source, `step` writes on; between two steps all is in the `State`, and steps equal `forward`.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        _check(config)
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.embed_target = None if config.target is None else nn.Embedding(config.target, config.width)
        self.dropout = Dropout(config.dropout)
        self.encoder = Recurrent(
            config.width,
            config.hidden,
            cell=config.cell,
            depth=config.depth,
            bidirectional=config.bidirectional,
            dropout=_between(config),
        )
        self.bridge = nn.Linear(self.encoder.annotation, config.hidden) if config.bidirectional else None
        self.decoder = DECODERS[config.attention](config, self.encoder.annotation)
        self.to_vocab = nn.Linear(config.width, config.vocab if config.target is None else config.target)

    @property
    def cross_attentions(self) -> tuple[str, ...]:
        """The names of the attentions that look at the source."""
        return () if self.decoder.attn is None else ("decoder.attn",)

    def forward(
        self,
        source: Int[Tensor, "b n"],
        target: Int[Tensor, "b m"],
        *,
        lengths: Int[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b m v"]:
        """The logits of what follows each word of a target that opens with the start token.

        `lengths` are those of the source, where it is padded; what stands beyond them is not read.
        """
        logits, _ = self.step(target, self.start(source, lengths=lengths))
        return logits

    def start(self, source: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"] | None = None) -> State:
        """Read the source once, for all the words that will be written."""
        annotations, end = self.encoder(self.dropout(self.embed(source)), lengths=lengths)
        at = end if self.bridge is None else recurrent.State(self.bridge(end.hidden).tanh())
        sentences = torch.arange(len(source), device=source.device)
        if self.decoder.attn is None:
            return State(at, end.summary, sentences)
        visible = None if lengths is None else padding(lengths, source.shape[1])
        fed = self.config.width if self.config.input_feeding else 0
        nothing = annotations.new_zeros(len(source), fed)  # the first word comes after no other
        return State(at, nothing, sentences, self.decoder.attn.remember(annotations, visible=visible))

    def step(self, words: Int[Tensor, "b n"], state: State) -> tuple[Float[Tensor, "b n v"], State]:
        """The logits of what follows each of the next words, and where the writing stands then."""
        embed = self.embed if self.embed_target is None else self.embed_target
        x, state = self.decoder(self.dropout(embed(words)), state)
        return self.to_vocab(self.dropout(x)), state


def _decoder(config: Config, reads: int) -> Recurrent:
    return Recurrent(reads, config.hidden, cell=config.cell, depth=config.depth, dropout=_between(config))


def _between(config: Config) -> float:
    return config.dropout if config.depth > 1 else 0.0


def _check(config: Config) -> None:
    if config.attention not in DECODERS:
        raise ValueError(f"no attention is called {config.attention!r}; choose one of {', '.join(DECODERS)}")
    if config.input_feeding and config.attention not in SCORES:
        raise ValueError(
            f"input feeding hands on what was seen after a step, and attention {config.attention!r} looks at nothing "
            f"then; choose {', '.join(SCORES)}, or leave it out"
        )


# The papers' own sizes: Sutskever 2014 §3.4; Cho 2014 §4.1; Bahdanau 2014 §4 and appendix A; Luong 2015 §4.1.
# `small` suits some tens of thousands of sentences.
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

FAMILY = Family("seq2seq", Config, Seq2Seq, PRESETS)
