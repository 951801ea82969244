"""GroupViT: a picture is divided into groups that texts can name, learnt from captions alone (Xu 2022).

Group tokens travel with the tokens of the picture through some blocks; then each token is given to one group, by a hard
choice, and the groups travel on in their place. After the last stage few groups are left, whose mean is the vector of
the picture; each of them alone can be compared with the name of a class, so that its cells are segmented.

Deviations: the text tower and the projections are CLIP's; there is no loss of several labels for one picture; group
tokens of a later stage do not begin as a mixture of those before.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import multihead
from regard.layers.blocks import Block
from regard.layers.convolution import ConvStem, PatchEmbed
from regard.layers.grouping import Grouping, masks_of, through
from regard.layers.language import draw_weights
from regard.layers.mlp import MLP
from regard.layers.position import LearnedCells
from regard.models.clip import TEMPERATURE, Matched, Text, TextTower
from regard.models.family import Family

READER = Text(width=256, heads=4, hidden=1024)


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 224
    channels: int = 3
    patch: int = 16
    stem: str = "patch"  # or conv
    width: int = 384
    heads: int = 6
    hidden: int = 1536
    depths: tuple[int, ...] = (6, 3, 3)  # blocks before each grouping, and behind the last
    groups: tuple[int, ...] = (64, 8)
    text: Text = READER
    joint: int = 256
    eps: float = 1e-6

    def __post_init__(self) -> None:
        if len(self.depths) != len(self.groups) + 1 or not self.groups:
            raise ValueError(
                f"depths {self.depths} and groups {self.groups} do not describe the same stages; give one more depth "
                "than groups"
            )

    @property
    def vocab(self) -> int:
        return self.text.vocab

    @property
    def context(self) -> int:
        return self.text.context


class Seen(NamedTuple):
    """The last groups of a picture, and to which of them each cell went."""

    groups: Float[Tensor, "b g w"]
    chosen: Float[Tensor, "b g n"]


class GroupViT(nn.Module):
    """An eye that groups, and CLIP's text tower."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.stem = _stem(config)
        self.position = LearnedCells(*self.grid(config.size, config.size), config.width)
        self.tokens = nn.ParameterList(torch.randn(1, count, config.width) * 0.02 for count in config.groups)
        self.stages = nn.ModuleList(nn.ModuleList(_block(config) for _ in range(depth)) for depth in config.depths)
        self.groupings = nn.ModuleList(Grouping(config.width, config.hidden, eps=config.eps) for _ in config.groups)
        self.norm = nn.LayerNorm(config.width, eps=config.eps)
        self.to_image = nn.Linear(config.width, config.joint, bias=False)
        self.text = TextTower(config.text)
        self.to_text = nn.Linear(config.text.width, config.joint, bias=False)
        self.log_scale = nn.Parameter(torch.tensor(TEMPERATURE))
        self.bias = None  # which a CLIP may have
        draw_weights(self)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return height // self.config.patch, width // self.config.patch

    def forward(
        self,
        image: Float[Tensor, "b c h w"],
        ids: Int[Tensor, "t n"],
        *,
        lengths: Int[Tensor, " t"] | None = None,
    ) -> Matched:
        return self.match(self.encode_image(image), self.encode_text(ids, lengths))

    def match(self, image: Float[Tensor, "b j"], text: Float[Tensor, "t j"]) -> Matched:
        """Vectors that were made before, as `forward` gives them."""
        return Matched(image, text, self.log_scale.exp(), self.bias)

    def encode_image(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b j"]:
        """The vector of each picture, of length 1: that of the mean of its groups."""
        return F.normalize(self.to_image(self.see(image).groups.mean(dim=1)), dim=-1)

    def encode_text(self, ids: Int[Tensor, "t n"], lengths: Int[Tensor, " t"] | None = None) -> Float[Tensor, "t j"]:
        """The vector of each text, of length 1."""
        return F.normalize(self.to_text(self.text(ids, lengths)), dim=-1)

    def see(self, image: Float[Tensor, "b c h w"]) -> Seen:
        """The last groups, and which cells are theirs."""
        cells = self.stem(image)
        x = cells.flatten(1, 2) + self.position(*cells.shape[1:3]).to(cells)
        chosen = list[Tensor]()
        for i, stage in enumerate(self.stages):
            count = x.shape[1]
            if i < len(self.tokens):
                x = torch.cat((x, self.tokens[i].expand(x.shape[0], -1, -1)), dim=1)
            for block in cast(nn.ModuleList, stage):
                x = block(x)
            if i < len(self.tokens):
                grouped = self.groupings[i](x[:, count:], x[:, :count])
                x = grouped.tokens
                chosen.append(grouped.chosen)
        return Seen(self.norm(x), through(chosen))

    def segment(
        self, image: Float[Tensor, "b c h w"], classes: Float[Tensor, "k j"], *, least: float = 0.0
    ) -> Int[Tensor, "b h w"]:
        """The class of each pixel by the vectors of classes, zero-shot; -1 where nothing is as alike as `least`.

        Every group takes the class it is most like, and gives it to its cells.
        """
        seen = self.see(image)
        alike = F.normalize(self.to_image(seen.groups), dim=-1) @ classes.T
        masks = masks_of(seen.chosen, self.grid(*image.shape[-2:]), (image.shape[-2], image.shape[-1]))
        near, which = alike.max(dim=-1)
        which = which.masked_fill(near < least, -1)
        owner = masks.argmax(dim=1).flatten(1)
        return torch.unflatten(which.gather(1, owner), 1, (image.shape[-2], image.shape[-1]))


def _stem(config: Config) -> nn.Module:
    if config.stem == "conv":
        return ConvStem(config.channels, config.width, depth=config.patch.bit_length() - 1)
    return PatchEmbed(config.channels, config.patch, config.width)


def _block(config: Config) -> Block:
    return Block(
        config.width,
        multihead(config.width, config.heads),
        MLP(config.width, config.hidden),
        norm=partial(nn.LayerNorm, eps=config.eps),
    )


def example(config: Config) -> dict[str, Any]:
    return {
        "image": torch.randn(2, config.channels, config.size, config.size),
        "ids": torch.randint(config.vocab, (2, 6)),
        "lengths": torch.tensor([6, 4]),
    }


PRESETS = {
    "groupvit-small": Config(),
    "groupvit-world": Config(
        64,
        patch=4,
        width=96,
        heads=4,
        hidden=192,
        depths=(2, 2),
        groups=(8,),
        text=Text(vocab=200, context=40, width=96, depth=2, heads=4, hidden=192, activation="gelu"),
        joint=96,
    ),
    "groupvit-nano": Config(
        16,
        patch=4,
        width=32,
        heads=4,
        hidden=64,
        depths=(1, 1, 1),
        groups=(6, 3),
        text=Text(vocab=48, context=12, width=32, depth=1, heads=4, hidden=64),
        joint=16,
    ),
}

FAMILY = Family("groupvit", Config, GroupViT, PRESETS, example)
