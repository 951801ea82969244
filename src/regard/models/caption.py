"""A picture in words: a tower sees, and one of four decoders writes what it saw.

`fixed` gets one vector of the picture, the mean of its map, as its first state and with every word (Vinyals 2015, "Show
and Tell"). `soft` and `hard` look at the map before each word, at a mixture of its cells or at one of them (Xu 2015,
"Show, Attend and Tell"), behind a gate that says how much the picture matters for the next word. `transformer` is a
Transformer decoder that looks across to the map; with a ViT as the tower, nothing in the model is a convolution.

Deviations: the tower may be any of ours, and its cells pass a linear layer to the width of the words; cells carry
waves of their row and column wherever they are scored, since things are told in an order; words share one matrix at
both ends. A cell that is looked at hard is the likeliest one outside of training, and by default a drawn one learns
straight through (Bengio 2013) instead of by REINFORCE, which is there too.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Attention, Memory, causal
from regard.attention.hard import pick
from regard.layers.decoder import DecoderState
from regard.layers.dropout import Dropout
from regard.layers.position import Sinusoidal
from regard.layers.position.cells import WaveCells
from regard.layers.recurrent import RecurrentState
from regard.layers.stack import Stack
from regard.layers.tied import Tied
from regard.models import efficientnet, resnet, seq2seq, transformer, vit
from regard.models.family import Family
from regard.models.tower import Tower, make_tower, width_of

Way = Literal["fixed", "soft", "hard", "transformer"]
State = seq2seq.State | DecoderState
RESNET_50 = resnet.Config(classes=0)


@dataclass(frozen=True, slots=True)
class Config:
    vocab: int = 10_000
    tower: Tower = RESNET_50
    frozen: bool = True  # the tower, as it was trained before
    way: Way = "soft"
    width: int = 512  # of words, and of the cells as the decoder sees them
    hidden: int = 1000  # of the recurrence, or inside of the MLPs of blocks
    depth: int = 1  # of the decoder
    cell: Literal["lstm", "gru"] = "lstm"  # of a recurrence
    gate: bool = True  # of `soft` and `hard`: how much the picture matters for the next word (§4.2.1 of Xu)
    estimator: Literal["straight_through", "reinforce"] = "straight_through"  # of `hard`
    heads: int = 8  # of blocks
    encoder: int = 0  # blocks in which cells look at each other before anything is written
    dropout: float = 0.5

    def __post_init__(self) -> None:
        if self.width % 4:
            raise ValueError(f"width {self.width} does not split into waves of rows and columns; give a multiple of 4")
        if self.depth < 1 or self.encoder < 0:
            raise ValueError(f"depth {self.depth} and encoder {self.encoder} write nothing; give 1 and 0, or more")

    @property
    def size(self) -> int:
        """The side of the pictures that the tower is made for, in pixels."""
        return self.tower.size

    @property
    def channels(self) -> int:
        """Those of a picture."""
        return self.tower.channels


class Told(NamedTuple):
    """What is said of a picture, and where was looked for it."""

    logits: Float[Tensor, "b m v"]
    weights: Float[Tensor, "b m k"] | None = None  # of each word over the cells; for `soft` and `hard`
    log_prob: Float[Tensor, "b m"] | None = None  # of the cells that were drawn; for `hard`


class Attending(seq2seq.Bahdanau):
    """Look before each word, at a mixture of cells or at one of them, as far as a gate opens (Xu 2015, §3.1.2)."""

    def __init__(self, config: Config) -> None:
        super().__init__(_recurrent(config), config.width)
        self.hard, self.straight_through = config.way == "hard", config.estimator == "straight_through"
        self.gate = nn.Linear(config.hidden, 1) if config.gate else None

    def tell(
        self, y: Float[Tensor, "b n w"], state: seq2seq.State
    ) -> tuple[Float[Tensor, "b n w"], seq2seq.State, Float[Tensor, "b n k"], Float[Tensor, "b n"]]:
        """The same as `forward`, with the weights of each look and how likely the cell was that it chose."""
        assert state.memory is not None
        recurrent, steps = state.recurrent, list[Tensor]()
        weights, chosen = list[Tensor](), list[Tensor]()
        for word in y.split(1, dim=1):
            before = recurrent.summary[:, None]
            c, weight, log_prob = self._look(before, state.memory)
            if self.gate is not None:
                c = self.gate(before).sigmoid() * c
            s, recurrent = self.recurrent(torch.cat((word, c), dim=-1), recurrent)
            steps.append(torch.cat((s, word, c), dim=-1))
            weights.append(weight)
            chosen.append(log_prob)
        x = self.readout(torch.cat(steps, dim=1)).tanh()
        return x, replace(state, recurrent=recurrent), torch.cat(weights, dim=1), torch.cat(chosen, dim=1)

    def forward(self, y: Float[Tensor, "b n w"], state: seq2seq.State) -> tuple[Float[Tensor, "b n w"], seq2seq.State]:
        x, state, _, _ = self.tell(y, state)
        return x, state

    def _look(self, query: Float[Tensor, "b 1 h"], memory: Memory) -> tuple[Tensor, Tensor, Tensor]:
        look = self.attn.look(query, memory)
        if self.hard:
            picked = pick(look, memory.v, sample=self.training, straight_through=self.straight_through)
            return self.attn.finish(picked.y), picked.weights[:, 0], picked.log_prob[:, 0]
        weights = look.weights()
        return self.attn.finish(weights @ memory.v), weights[:, 0], weights.new_zeros(weights.shape[0], 1)


class Stacked(nn.Module):
    """A Transformer decoder: words look at the words before them, and across to the picture (Vaswani 2017)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.position = Sinusoidal(config.width)
        self.stack = Stack(transformer.make_block(_blocks(config), cross=True) for _ in range(config.depth))
        self.norm = nn.LayerNorm(config.width)

    def begin(self, cells: Float[Tensor, "b k w"], where: Float[Tensor, "k w"]) -> DecoderState:
        contexts = [cast(Attention, block.cross).remember(cells, where=where) for block in self.stack.blocks]
        return DecoderState(contexts, torch.arange(cells.shape[0], device=cells.device))

    def forward(self, y: Float[Tensor, "b n w"], state: DecoderState) -> Float[Tensor, "b n w"]:
        """All words at once, from the first on."""
        x: Tensor = self.norm(self.stack(self.position(y), state.contexts, visible=causal(y.shape[1])))
        return x

    def step(self, y: Float[Tensor, "b n w"], state: DecoderState) -> tuple[Float[Tensor, "b n w"], DecoderState]:
        x, past = self.stack.step(self.position(y, state.length), state.past, state.contexts)
        return self.norm(x), replace(state, past=past)


class Caption(nn.Module):
    """A tower and a decoder. `start` sees the picture once, `step` writes on; steps equal `forward`.

    In place of pictures, each of them takes the `features` that `see` gave, which a frozen tower need not compute
    again.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.way not in DECODERS:
            raise ValueError(f"no decoder is called {config.way!r}; choose one of {', '.join(DECODERS)}")
        self.config = config
        self.tower = make_tower(config.tower)
        self.project = nn.Sequential(nn.Linear(width_of(config.tower), config.width), nn.LayerNorm(config.width))
        self.position = WaveCells(config.width)
        self.encoder = Stack(transformer.make_block(_blocks(config), cross=False) for _ in range(config.encoder))
        self.encoder_norm = nn.LayerNorm(config.width) if config.encoder else nn.Identity()
        self.embed = nn.Embedding(config.vocab, config.width)
        self.dropout = Dropout(config.dropout)
        self.decoder = DECODERS[config.way](config)
        states = config.depth * (2 if config.cell == "lstm" else 1)
        self.first = None if config.way == "transformer" else nn.Linear(config.width, states * config.hidden)
        self.to_vocab = Tied(self.embed, bias=True)
        nn.init.normal_(self.embed.weight, std=config.width**-0.5)  # of unit variance once scaled
        if config.frozen:
            self.tower.requires_grad_(False)

    @property
    def cross_attentions(self) -> tuple[str, ...]:
        """The names of the attentions that look at the picture."""
        if isinstance(self.decoder, Stacked):
            return tuple(f"decoder.stack.blocks.{i}.cross" for i in range(self.config.depth))
        return () if self.decoder.attn is None else ("decoder.attn",)

    def train(self, mode: bool = True) -> "Caption":
        """As torch's; a frozen tower stays as it was trained, and so do its norms and its dropout."""
        super().train(mode)
        if self.config.frozen:
            self.tower.eval()
        return self

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """How many rows and columns of cells the decoder sees of a picture of this size."""
        if isinstance(self.tower, vit.ViT):
            return self.tower.grid(height, width)
        stride: int = cast(Any, self.tower).stride
        return -(-height // stride), -(-width // stride)

    def see(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        """The map that the tower makes of pictures; of a frozen one, without a gradient."""
        if not self.config.frozen:
            return self.tower.features(image)
        with torch.no_grad():
            return self.tower.features(image)

    def forward(
        self,
        image: Float[Tensor, "b c h w"] | None,
        target: Int[Tensor, "b m"],
        *,
        features: Float[Tensor, "b i j o"] | None = None,
    ) -> Float[Tensor, "b m v"]:
        """The logits of what follows each word of a target that opens with the start token."""
        return self.tell(image, target, features=features).logits

    def tell(
        self,
        image: Float[Tensor, "b c h w"] | None,
        target: Int[Tensor, "b m"],
        *,
        features: Float[Tensor, "b i j o"] | None = None,
    ) -> Told:
        """The same as `forward`, with what a loss may ask of `soft` and `hard` looks."""
        state, y = self.start(image, features=features), self._embed(target)
        if isinstance(state, DecoderState):
            return Told(self._say(self.decoder(y, state)))
        if isinstance(self.decoder, Attending):
            x, _, weights, log_prob = self.decoder.tell(y, state)
            return Told(self._say(x), weights, log_prob if self.config.way == "hard" else None)
        x, _ = self.decoder(y, state)
        return Told(self._say(x))

    def start(
        self, image: Float[Tensor, "b c h w"] | None = None, *, features: Float[Tensor, "b i j o"] | None = None
    ) -> State:
        """See the picture once, for all the words that will be written."""
        if (image is None) == (features is None):
            raise ValueError("a caption is written of pictures or of the features of them; give one of the two")
        seen = self.see(image) if image is not None else cast(Tensor, features)
        cells = self.project(seen.to(self.embed.weight.dtype).flatten(1, 2))
        where = self.position(*seen.shape[1:3]).to(cells)
        cells = self.encoder_norm(self.encoder(cells, where=where[None])) if self.config.encoder else cells
        if isinstance(self.decoder, Stacked):
            return self.decoder.begin(cells, where)
        z, rows = cells.mean(dim=1), torch.arange(cells.shape[0], device=cells.device)
        attn = self.decoder.attn
        if attn is None:
            return seq2seq.State(self._first_state(z), z, rows)
        return seq2seq.State(self._first_state(z), z[:, :0], rows, attn.remember(cells, where=where))

    def step(self, words: Int[Tensor, "b n"], state: State) -> tuple[Float[Tensor, "b n v"], State]:
        """The logits of what follows each of the next words, and the state behind them."""
        after: State
        if isinstance(state, DecoderState):
            x, after = self.decoder.step(self._embed(words), state)
        else:
            x, after = self.decoder(self._embed(words), state)
        return self._say(x), after

    def _first_state(self, z: Float[Tensor, "b w"]) -> RecurrentState:
        assert self.first is not None
        states = torch.unflatten(self.first(z).tanh(), 1, (-1, self.config.depth, self.config.hidden))
        return RecurrentState(states[:, 0], states[:, 1] if self.config.cell == "lstm" else None)

    def _embed(self, words: Int[Tensor, "b n"]) -> Float[Tensor, "b n w"]:
        y: Tensor = self.dropout(self.embed(words) * self.config.width**0.5)
        return y

    def _say(self, x: Float[Tensor, "b n w"]) -> Float[Tensor, "b n v"]:
        logits: Tensor = self.to_vocab(self.dropout(x))
        return logits


def _recurrent(config: Config) -> seq2seq.Config:
    """What a recurrent decoder of seq2seq asks for."""
    return seq2seq.Config(
        vocab=config.vocab,
        target=None,
        width=config.width,
        hidden=config.hidden,
        cell=config.cell,
        depth=config.depth,
        bidirectional=False,
        dropout=config.dropout,
    )


def _blocks(config: Config) -> transformer.Config:
    """What a block of the Transformer asks for."""
    return transformer.Config(
        vocab=config.vocab,
        width=config.width,
        heads=config.heads,
        hidden=config.hidden,
        dropout=config.dropout,
        norm_first=True,
        activation="gelu",
    )


DECODERS: dict[Way, Any] = {
    "fixed": lambda config: seq2seq.Fixed(_recurrent(config), config.width),
    "soft": Attending,
    "hard": Attending,
    "transformer": Stacked,
}


def example(config: Config) -> dict[str, Any]:
    size = config.tower.size
    return {
        "image": torch.randn(2, config.tower.channels, size, size),
        "target": torch.randint(config.vocab, (2, 4)),
    }


_lite0 = replace(efficientnet.PRESETS["efficientnet-lite0"], size=160, classes=0)
_flickr8k = partial(Config, vocab=4000, tower=_lite0, width=256, hidden=512, dropout=0.3)
_resnet = replace(resnet.PRESETS["resnet-world"], classes=0, zero_init=False, pooled=True)
_vit = vit.Config(64, patch=8, width=128, depth=5, heads=4, hidden=256, classes=0, pool="mean")
_world = partial(Config, vocab=400, tower=_resnet, frozen=False, width=128, hidden=256, heads=4, dropout=0.0)
# Xu's own size for Flickr8k is the first; those for a frozen EfficientNet-Lite0 and for the little world are ours.
PRESETS = {
    "caption-show-attend-tell": Config(),
    "caption-flickr8k-fixed": _flickr8k(way="fixed"),
    "caption-flickr8k-soft": _flickr8k(way="soft"),
    "caption-flickr8k-hard": _flickr8k(way="hard"),
    "caption-flickr8k-cnn": _flickr8k(way="transformer", depth=2, heads=8, encoder=1),
    "caption-world-fixed": _world(way="fixed"),
    "caption-world-soft": _world(way="soft"),
    "caption-world-hard": _world(way="hard"),
    "caption-world-cnn": _world(way="transformer", depth=2, encoder=1),
    "caption-world-vit": _world(way="transformer", depth=2, tower=_vit),
    "caption-nano": Config(
        vocab=48,
        tower=resnet.Config(
            size=32, stem="deep", stem_width=8, block="basic", widths=(16, 24), depths=(1, 1), classes=0, pooled=True
        ),
        frozen=False,
        width=32,
        hidden=48,
        heads=4,
        encoder=1,
    ),
}

FAMILY = Family("caption", Config, Caption, PRESETS, example)
