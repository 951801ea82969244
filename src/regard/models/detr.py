"""DETR: detection as a set; learned queries look at a picture, and each names one object or none (Carion 2020).

A CNN sees, an encoder looks over its map, and a decoder looks there with one query an object. Positions enter every
attention anew, as part of queries and keys and never of values.

Deviations: `frozen=False` lets the batch norms of the backbone learn, which training from the first pixel needs; the
backbone may be another ResNet or an EfficientNet; `anchored=True` makes each query a place on the picture, in the same
waves as the cells, from which its box is measured, so that far fewer steps are needed (Wang 2022, "Anchor DETR").
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import multihead
from regard.layers.blocks import PostNormBlock
from regard.layers.convolution import freeze_norms
from regard.layers.mlp import MLP
from regard.layers.position import sinusoid
from regard.layers.stack import Stack
from regard.models import efficientnet, resnet
from regard.models.family import Family
from regard.models.tower import make_tower, width_of

Backbone = resnet.Config | efficientnet.Config
RESNET_50 = resnet.Config(classes=0)


@dataclass(frozen=True, slots=True)
class Config:
    size: int = 800  # of the shorter side; pictures of any other size will do
    backbone: Backbone = RESNET_50
    frozen: bool = True  # the batch norms of the backbone
    width: int = 256
    depth: int = 6  # of the encoder
    decoder_depth: int = 6
    heads: int = 8
    hidden: int = 2048
    queries: int = 100
    anchored: bool = False  # each query is a place, and not a vector of any meaning
    turns: float = 1.0  # that the fastest wave makes along a side; with more, cells and anchors are told apart sooner
    classes: int = 91  # without the one of no object
    dropout: float = 0.1
    inner_dropout: float = 0.1  # of attention weights and inside of the MLPs

    def __post_init__(self) -> None:
        if self.width % 4:
            raise ValueError(f"width {self.width} does not split into waves of rows and columns; give a multiple of 4")
        if self.decoder_depth < 1 or self.queries < 1:
            raise ValueError(
                f"{self.queries} queries in a decoder of depth {self.decoder_depth} find nothing; give 1 or more"
            )


class Detected(NamedTuple):
    """What each query has found; the last class is that of no object.

    A box is centre x, centre y, width and height as shares of the picture, without its padding.
    """

    logits: Float[Tensor, "b q c"]
    boxes: Float[Tensor, "b q 4"]
    auxiliary: tuple[tuple[Tensor, Tensor], ...]  # what the blocks of the decoder before the last would have said


class DETR(nn.Module):
    """A backbone, an encoder over its map, a decoder of object queries, and what each query says in the end."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.backbone = _backbone(config)
        self.project = nn.Conv2d(width_of(config.backbone), width, 1)
        self.encoder = Stack(_block(config) for _ in range(config.depth))
        # A vector for each query, or its place: the share of height and width, before the sigmoid.
        first = torch.rand(config.queries, 2).logit(1e-2) if config.anchored else torch.randn(config.queries, width)
        self.queries = nn.Parameter(first)
        self.decoder = nn.ModuleList(_block(config, cross=True) for _ in range(config.decoder_depth))
        self.norm = nn.LayerNorm(width)
        for part in (*self.encoder.parameters(), *self.decoder.parameters()):
            if part.ndim > 1:
                nn.init.xavier_uniform_(part)
        self.to_class = nn.Linear(width, config.classes + 1)
        self.to_box = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4)
        )

    @property
    def trunk(self) -> list[str]:
        """The names of the blocks that a picture passes, those of the backbone and of the encoder."""
        own = (f"encoder.blocks.{i}" for i in range(len(self.encoder.blocks)))
        return [*(f"backbone.{name}" for name in self.backbone.trunk), *own]

    def to_map(self, output: Tensor, height: int, width: int) -> Float[Tensor, "b i j o"]:
        """What a block of the trunk gave for a picture of this size, as a map."""
        if output.ndim == 3:
            return torch.unflatten(output, 1, self.grid(height, width))
        return cast("Tensor", self.backbone.to_map(output, height, width))

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """How many rows and columns of cells the encoder sees of a picture of this size."""
        return -(-height // self.backbone.stride), -(-width // self.backbone.stride)

    def forward(self, image: Float[Tensor, "b c h w"], visible: Bool[Tensor, "b h w"] | None = None) -> Detected:
        """`visible` is True at the pixels of a picture and False at those that pad it to the size of the batch."""
        x = self.project(self.backbone.features(image).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        seen = x.new_ones(x.shape[:3], dtype=torch.bool) if visible is None else _shrink(visible, *x.shape[1:3])
        where, keys = (
            waves(seen, self.config.width, self.config.turns).to(x).flatten(1, 2),
            seen.flatten(1)[:, None, None],
        )
        if visible is None:
            keys = None
        encoded = self.encoder(x.flatten(1, 2), where=where, visible=keys)
        objects = self._objects().expand(x.shape[0], -1, -1)
        y, found = torch.zeros_like(objects), list[tuple[Tensor, Tensor]]()
        for block in cast("Iterable[PostNormBlock]", self.decoder):
            assert block.cross is not None
            y = block(y, block.cross.remember(encoded, where=where), where=objects, context_visible=keys)
            found.append(self._say(self.norm(y)))
        logits, boxes = found.pop()
        return Detected(logits, boxes, tuple(found))

    def _say(self, y: Float[Tensor, "b q w"]) -> tuple[Float[Tensor, "b q c"], Float[Tensor, "b q 4"]]:
        box = self.to_box(y)
        if self.config.anchored:
            box = box + F.pad(self.queries.flip(-1), (0, 2))  # x before y, and nothing about width and height
        return self.to_class(y), box.sigmoid()

    def _objects(self) -> Float[Tensor, "q w"]:
        if not self.config.anchored:
            return self.queries
        down, across = self.queries.sigmoid().unbind(-1)
        return _waves(down, across, self.config.width, self.config.turns)


def waves(visible: Bool[Tensor, "b i j"], width: int, turns: float = 1.0) -> Float[Tensor, "b i j {width}"]:
    """Sines and cosines of a cell's row, then of its column, counted within the picture."""
    down, across = (visible.cumsum(dim, dtype=torch.float32) for dim in (1, 2))
    # 1e-6, since padding counts nothing
    return _waves(down / (down[:, -1:] + 1e-6), across / (across[:, :, -1:] + 1e-6), width, turns)


def _waves(
    down: Float[Tensor, "*n"], across: Float[Tensor, "*n"], width: int, turns: float
) -> Float[Tensor, "*n {width}"]:
    """Sines and cosines of shares of the height, then of the width."""
    return torch.cat([sinusoid(2 * math.pi * turns * share, width // 2) for share in (down, across)], dim=-1)


def _shrink(visible: Bool[Tensor, "b h w"], rows: int, columns: int) -> Bool[Tensor, "b i j"]:
    """What is visible of a picture, cell by cell; a cell goes by the pixel where it begins."""
    return F.interpolate(visible[:, None].float(), size=(rows, columns))[:, 0] > 0


def _backbone(config: Config) -> Any:
    made = make_tower(config.backbone)
    if config.frozen:
        freeze_norms(made)
    return made


def _block(config: Config, *, cross: bool = False) -> PostNormBlock:
    inner = config.inner_dropout
    return PostNormBlock(
        config.width,
        multihead(config.width, config.heads, dropout=inner),
        MLP(config.width, config.hidden, activation=nn.ReLU, dropout=inner),
        cross=multihead(config.width, config.heads, dropout=inner) if cross else None,
        dropout=config.dropout,
    )


def example(config: Config) -> dict[str, Any]:
    size = config.size
    visible = torch.ones(2, size, size, dtype=torch.bool)
    visible[1, size // 2 :] = False
    return {"image": torch.randn(2, config.backbone.channels, size, size), "visible": visible}


_small = replace(resnet.PRESETS["resnet-world"], size=96, classes=0, zero_init=False, pooled=True)
# §4 of the paper with its table 1; the tiny one is for pictures of the little world, of 96 to 128 pixels.
PRESETS = {
    "detr-resnet-50": Config(),
    "detr-resnet-101": Config(backbone=resnet.Config(depths=(3, 4, 23, 3), classes=0)),
    "detr-tiny": Config(
        size=96,
        backbone=_small,
        frozen=False,
        width=128,
        depth=1,
        decoder_depth=3,
        heads=4,
        hidden=256,
        queries=12,
        anchored=True,
        turns=6.0,
        classes=8,
        dropout=0.0,
        inner_dropout=0.0,
    ),
    "detr-nano": Config(
        size=32,
        backbone=resnet.Config(
            size=32, stem="deep", stem_width=8, block="basic", widths=(16, 24), depths=(1, 1), classes=0, pooled=True
        ),
        frozen=False,
        width=32,
        depth=1,
        decoder_depth=2,
        heads=4,
        hidden=64,
        queries=5,
        classes=4,
    ),
}

FAMILY = Family("detr", Config, DETR, PRESETS, example)
