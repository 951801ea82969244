"""Perceiver: a few latents look at an input of any kind and size, and think among themselves (Jaegle 2021).

With a decoder it is Perceiver IO: queries look at the latents in their turn, one for each output (Jaegle 2022).

An input is cells "b m c" and their places in [-1, 1], of any number of axes: `regard.layers.cells` lays out sounds,
spectrograms, pictures and films, and points are places alone. What has narrower cells or fewer axes than a model reads
is filled up with zeros, so that one config serves all of them. With `words` it is ids, whose places are learned.

Deviations: a norm stands before the linear map of the mean; what later looks share is projected once for all of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Attention, Memory
from regard.layers.blocks import Block
from regard.layers.cells import AXES, NUMBERS, cells, filled_up
from regard.layers.mlp import MLP
from regard.layers.position import Fourier, Learned, coordinates
from regard.layers.tied import Tied
from regard.layers.vision import classifier
from regard.models.family import Family

# What is made of the latents: their mean is read; one learned query asks them; one asks for each place, for each cell
# of the input, or for each word; or nothing. All but the first and the last are Perceiver IO's.
Decoder = Literal["mean", "query", "places", "cells", "words", "none"]
WORD_HEADS, WORD_QK = 8, 256  # of the look that asks for words, in every published model


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 224  # of the inputs it is trained on, along the longest axis: pixels, frames, words
    axes: int = 2  # of an input: 0 of a set, 1 of a sound, 2 of a picture, 3 of a film or of points in space
    channels: int = 3  # of a pixel; 0 of points that are places alone; of words the width of their vectors
    patch: int = 1  # side of a cell, along every axis
    stem: int = 0  # cells are mapped to this width before their places join them; 0 leaves them as they are
    bands: int = 64  # of the Fourier features of a place, along each axis
    latents: int = 512
    width: int = 1024
    looks: int = 8  # at the input, before so many of the repeats
    repeats: int = 8  # of the tower
    depth: int = 6  # of the tower
    heads: int = 8
    cross_heads: int = 1
    qk: int = 0  # channels of queries and keys; 0 is the width of what is looked at
    widen: int = 1  # the hidden width of an MLP, in widths
    share: bool = True  # one tower for all repeats, and one look for all but the first
    classes: int = 1000  # or numbers that are said of each place or cell
    decoder: Decoder = "mean"
    words: int = 0  # in the vocabulary, where the input is a text
    dropout: float = 0.0  # of attention weights

    def __post_init__(self) -> None:
        if not 1 <= self.looks <= self.repeats:
            raise ValueError(f"{self.looks} looks do not fit {self.repeats} repeats; give 1 to {self.repeats}")
        if self.decoder not in get_args(Decoder):
            raise ValueError(f"no decoder is called {self.decoder!r}; choose {', '.join(get_args(Decoder))}")
        if self.decoder == "words" and not self.words:
            raise ValueError("a decoder of words needs a vocabulary; give words, say 262")
        if self.decoder == "places" and (self.words or not self.axes):
            raise ValueError("words and sets have no places to be asked for; choose another decoder than 'places'")

    @property
    def vocab(self) -> int:
        return self.words

    @property
    def context(self) -> int:
        return self.size


class CrossBlock(nn.Module):
    """Queries look at a memory and then think for themselves; without `residual` they forget what they were."""

    def __init__(self, width: int, attn: Attention, *, context: int, widen: int = 1, residual: bool = True) -> None:
        super().__init__()
        self.attn_norm, self.context_norm, self.attn = nn.LayerNorm(width), nn.LayerNorm(context), attn
        self.mlp_norm, self.mlp = nn.LayerNorm(width), MLP(width, widen * width)
        self.residual = residual

    def remember(self, context: Float[Tensor, "b m c"], visible: Bool[Tensor, "b 1 1 m"] | None = None) -> Memory:
        return self.attn.remember(self.context_norm(context), visible=visible)

    def forward(self, x: Float[Tensor, "b n w"], memory: Memory) -> Float[Tensor, "b n w"]:
        seen = self.attn(self.attn_norm(x), memory)
        x = x + seen if self.residual else seen
        y: Tensor = x + self.mlp(self.mlp_norm(x))
        return y


class Perceiver(nn.Module):
    """Cells with their places, latents that look at them and pass a tower, again and again, and a decoder."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        if config.words:
            self.embed = nn.Embedding(config.words, config.channels)
            self.position = Learned(config.size, config.channels)
            inside = config.channels
        else:
            self.cell = config.channels * config.patch**config.axes
            self.stem = nn.Linear(self.cell, config.stem) if config.stem else nn.Identity()
            inside = config.stem or self.cell
            if config.axes:
                self.place = Fourier(config.axes, config.bands, max(2, config.size // config.patch))
                inside += self.place.width
        self.latents = nn.Parameter(torch.randn(config.latents, config.width) * 0.02)
        count = min(config.looks, 2) if config.share else config.looks
        self.crosses = nn.ModuleList(_cross(config, inside) for _ in range(count))
        self.towers = nn.ModuleList(_tower(config) for _ in range(1 if config.share else config.repeats))
        self.decode = self.queries = None
        match config.decoder:
            case "mean":
                self.norm = nn.LayerNorm(config.width)
                self.head = classifier(config.width, config.classes)
            case "query":
                self.queries = nn.Parameter(torch.randn(1, config.width) * 0.02)
                self.decode = _decode(config, config.width, residual=True)
                self.head = classifier(config.width, config.classes)
            case "places" | "cells":
                asked = self.place.width if config.decoder == "places" else inside
                self.decode = _decode(config, asked)
                self.head = nn.Linear(asked, config.classes)
            case "words":
                self.queries = nn.Parameter(torch.randn(config.size, config.channels) * 0.02)
                self.decode = _decode(config, config.channels)
                self.head = Tied(self.embed, bias=True)
        _draw_weights(self)

    def forward(
        self,
        x: Float[Tensor, "b k *n"] | Int[Tensor, "b m"],
        places: Float[Tensor, "*#b m a"] | None = None,
        *,
        visible: Bool[Tensor, "b m"] | None = None,
        queries: Float[Tensor, "*#b q d"] | None = None,
    ) -> Float[Tensor, "b o *p"]:
        """What the decoder says: logits "b c", or "b q c" for each place, cell or word; without one, the latents.

        x are cells "b m c" at their `places`, a picture "b c h w" or a film "b c t h w", which have places of their
        own, or ids "b m". `visible` is False at cells that are padding. `queries` are places to say something of;
        without them, those of the input.
        """
        if queries is not None and self.config.decoder != "places":
            raise ValueError(f"a decoder of {self.config.decoder!r} is asked for no places; leave queries out")
        features, where = self.lay_out(x, places)
        latents = self.read(features, visible)
        match self.config.decoder:
            case "mean":
                return cast(Tensor, self.head(self.norm(latents).mean(dim=1)))
            case "none":
                return latents
            case "places":
                places = where if queries is None else filled_up(queries, self.config.axes, front=True, what=AXES)
                asked = self.place(places)
            case "cells":
                asked = features
            case _:
                assert self.queries is not None
                asked = self.queries[: features.shape[1]] if self.config.decoder == "words" else self.queries
                asked = asked.repeat(x.shape[0], 1, 1)
        said: Tensor = self.head(self.ask(asked, latents))
        return said[:, 0] if self.config.decoder == "query" else said

    def lay_out(
        self, x: Tensor, places: Float[Tensor, "*#b m a"] | None = None
    ) -> tuple[Float[Tensor, "b m f"], Float[Tensor, "*#b m axes"]]:
        """What the latents look at, each cell with its place beside it; and the places."""
        if self.config.words:
            return self.position(self.embed(x)), coordinates(x.shape[1]).to(self.latents)
        if x.ndim > 3:
            if places is not None:
                raise ValueError(f"an array of shape {tuple(x.shape)} has places of its own; leave places out")
            x, places = cells(x, self.config.patch)
        x = filled_up(x, self.cell, front=False, what=NUMBERS)
        if not self.config.axes:
            return self.stem(x), x.new_zeros(x.shape[1], 0)
        if places is None:
            raise ValueError(f"cells of {self.config.axes} axes need places; give them, as `cells` does")
        places = filled_up(places, self.config.axes, front=True, what=AXES)
        where = self.place(places).to(x).expand(x.shape[0], -1, -1)
        return torch.cat((self.stem(x), where), dim=-1), places

    def read(
        self, features: Float[Tensor, "b m f"], visible: Bool[Tensor, "b m"] | None = None
    ) -> Float[Tensor, "b n w"]:
        """The latents, after all their looks at the input."""
        seen = None if visible is None else visible[:, None, None]
        x = self.latents.repeat(features.shape[0], 1, 1)  # no view, which a counter of operations cannot follow
        memories = [cast(CrossBlock, each).remember(features, seen) for each in self.crosses]
        for i in range(self.config.repeats):
            if i < self.config.looks:
                which = min(i, len(memories) - 1)
                x = self.crosses[which](x, memories[which])
            for block in cast("Iterable[Block]", self.towers[min(i, len(self.towers) - 1)]):
                x = block(x)
        return x

    def ask(self, queries: Float[Tensor, "*#b q a"], latents: Float[Tensor, "b n w"]) -> Float[Tensor, "b q a"]:
        """The answer of the latents to each query, before it is put into numbers."""
        assert self.decode is not None
        answer: Tensor = self.decode(queries.expand(latents.shape[0], -1, -1), self.decode.remember(latents))
        return answer

    @property
    def leading(self) -> tuple[str, ...]:
        """No token stands before the cells."""
        return ()

    def grid(self, *sides: int) -> tuple[int, ...]:
        """How many cells an array of these sides has along each axis."""
        return tuple(side // self.config.patch for side in sides)


def _draw_weights(model: Perceiver) -> None:
    """First weights that keep a vector's length, as the authors', so that each latent begins with a look of its own."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02 if name == "head" else module.in_features**-0.5)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)


def _attention(config: Config, width: int, context: int, heads: int, qk: int, v: int) -> Attention:
    for name, channels in (("queries and keys", qk), ("values", v)):
        if channels % heads:
            raise ValueError(f"{channels} channels of {name} do not split into {heads} heads; set qk, or other heads")
    return Attention(
        nn.Linear(width, qk),
        nn.Linear(context, qk),
        nn.Linear(context, v),
        nn.Linear(v, width),
        heads=heads,
        dropout=config.dropout,
    )


def _cross(config: Config, context: int) -> CrossBlock:
    qk, v = (config.qk, config.width) if config.qk else (context, context)
    attn = _attention(config, config.width, context, config.cross_heads, qk, v)
    return CrossBlock(config.width, attn, context=context, widen=config.widen)


def _tower(config: Config) -> nn.ModuleList:
    width = config.width

    def block() -> Block:
        attn = _attention(config, width, width, config.heads, config.qk or width, width)
        return Block(width, attn, MLP(width, config.widen * width))

    return nn.ModuleList(block() for _ in range(config.depth))


def _decode(config: Config, asked: int, *, residual: bool = False) -> CrossBlock:
    if config.decoder == "words":
        attn = _attention(config, asked, config.width, WORD_HEADS, WORD_QK, asked)
    else:
        attn = _attention(config, asked, config.width, 1, config.width, config.width)
    return CrossBlock(asked, attn, context=config.width, residual=residual)


def example(config: Config) -> dict[str, Any]:
    if config.words:
        return {"x": torch.randint(config.words, (2, 6))}
    if config.axes == 2:
        return {"x": torch.randn(2, config.channels, config.size, config.size)}
    cell = config.channels * config.patch**config.axes
    return {"x": torch.randn(2, 7, cell), "places": torch.rand(2, 7, config.axes) * 2 - 1}


# Ours learn on one core.
SMALL = Config(
    32,
    patch=4,
    bands=8,
    latents=48,
    width=96,
    looks=2,
    repeats=2,
    depth=2,
    heads=4,
    cross_heads=4,
    qk=96,
    widen=2,
    classes=10,
)
CIFAR = Config(32, bands=16, latents=64, width=128, looks=2, repeats=2, depth=3, heads=4, qk=128, widen=2, classes=10)
ONCE = replace(SMALL, looks=1, repeats=1, width=128, qk=128, latents=64)  # as Perceiver IO looks

# ImageNet is §4.1 of the first paper; those of IO are its appendices F and H, as their weights are published. The rest
# are ours: pictures by pixels, as in the paper, and by patches; sounds as patches of a spectrogram, clouds of points,
# any of them; of IO the flow between two frames, hidden letters, and films with sentences, whose first axis says which
# it is.
PRESETS = {
    "perceiver-imagenet": Config(),
    "perceiver-io-imagenet": Config(looks=1, decoder="query", dropout=0.1),
    "perceiver-io-language": Config(
        2048,
        axes=1,
        channels=768,
        bands=0,
        latents=256,
        width=1280,
        looks=1,
        repeats=1,
        depth=26,
        cross_heads=8,
        qk=256,
        classes=0,
        decoder="words",
        words=262,
        dropout=0.1,
    ),
    "perceiver-cifar": CIFAR,
    "perceiver-cifar-patches": replace(CIFAR, patch=2),
    "perceiver-world": replace(CIFAR, size=64, patch=4, latents=48, depth=2, classes=64),
    "perceiver-any": replace(SMALL, axes=3),
    "perceiver-digits": replace(SMALL, size=96, channels=1, bands=12, latents=32),
    "perceiver-clouds": replace(SMALL, size=16, axes=3, channels=0, patch=1),
    "perceiver-flow": replace(ONCE, channels=6, stem=64, width=96, qk=96, depth=4, classes=32, decoder="cells"),
    "perceiver-letters": replace(
        ONCE,
        size=128,
        axes=1,
        channels=96,
        patch=1,
        bands=0,
        latents=48,
        depth=4,
        classes=0,
        decoder="words",
        words=262,
    ),
    "perceiver-modes": replace(
        ONCE, size=64, axes=4, channels=192, patch=1, bands=16, depth=3, classes=192, decoder="places"
    ),
    "perceiver-nano": Config(
        16, patch=4, bands=4, latents=6, width=32, looks=2, repeats=3, depth=2, heads=4, qk=32, classes=5
    ),
}

FAMILY = Family("perceiver", Config, Perceiver, PRESETS, example)
