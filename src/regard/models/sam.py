"""SAM: a picture is seen once, and then every click, box or rough mask is answered by masks (Kirillov 2023).

An image encoder makes cells of the picture. A prompt becomes tokens, which look at each other and at the cells, and
the cells look back: attention both ways. One click may mean a whole or a part of it, so that three masks are given
beside a single one, each with how well the model thinks it fits.

MobileSAM is the same behind a TinyViT (Zhang 2023). Deviations: any tower of pictures may see in place of the paper's
ViT; rows of a batch may have a rough mask or none; there are no texts as prompts.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Decomposed2d, Partitioned, multihead
from regard.layers.blocks import Block
from regard.layers.convolution import PatchEmbed
from regard.layers.language import draw_weights
from regard.layers.mlp import MLP
from regard.layers.vision import VisionModel
from regard.models import tinyvit
from regard.models.family import Family
from regard.models.tower import Tower, make_tower, width_of

IN, OUT, NOWHERE = 1, 0, -1  # labels of points: in what is meant, not in it, and no point, as rows are filled up
EPS = 1e-6  # of the norms of channels


@dataclass(frozen=True, slots=True)
class Eye:
    """A plain ViT whose blocks look inside windows, but for a few that look everywhere (Li 2022, ViTDet)."""

    size: int = 1024  # of the pictures, in pixels
    channels: int = 3
    patch: int = 16
    width: int = 768
    depth: int = 12
    heads: int = 12
    hidden: int = 3072
    window: int = 14  # in cells
    everywhere: tuple[int, ...] = (2, 5, 8, 11)  # the blocks that look at all of the picture
    eps: float = 1e-6

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} does not split into {self.heads} heads; make it a multiple of them")
        if strange := [i for i in self.everywhere if not 0 <= i < self.depth]:
            raise ValueError(f"there is no block {strange[0]} of {self.depth}; count from 0")


Seer = Eye | tinyvit.Config | Tower
VIT_B = Eye()


@dataclass(frozen=True, slots=True)
class Config:
    eye: Seer = VIT_B
    width: int = 256  # of cells behind the neck, and of tokens
    depth: int = 2  # of the decoder
    heads: int = 8
    hidden: int = 2048
    narrow: int = 2  # how much narrower the attentions between tokens and cells are
    masks: int = 3  # beside the single one
    mask_width: int = 16  # channels of a rough mask on its way in
    iou_hidden: int = 256
    iou_depth: int = 3
    eps: float = 1e-6  # of the norms of tokens

    def __post_init__(self) -> None:
        if self.width % (8 * math.lcm(self.heads, self.narrow)):
            raise ValueError(
                f"width {self.width} does not split into {self.heads} heads {self.narrow} times narrower, nor by 8 as "
                f"masks are made larger; give a multiple of {8 * math.lcm(self.heads, self.narrow)}"
            )
        if self.depth < 1 or self.masks < 1 or self.iou_depth < 2 or self.mask_width % 4:
            raise ValueError(
                f"depth {self.depth}, {self.masks} masks, an iou_depth of {self.iou_depth} and a mask_width of "
                f"{self.mask_width} make no decoder; give 1, 1 and 2 or more, and a multiple of 4"
            )

    @property
    def size(self) -> int:
        """The side of the pictures, in pixels."""
        return self.eye.size

    @property
    def channels(self) -> int:
        """Those of the pictures."""
        return self.eye.channels


class Seen(NamedTuple):
    """A picture that was seen: its cells, and where they lie. Prompts ask this, as many as there are."""

    cells: Float[Tensor, "b i j w"]
    where: Float[Tensor, "n w"]


class Segmented(NamedTuple):
    """Masks as logits, four to the side of a cell, and the intersection over union that is expected of each.

    The first is the one that is meant where a prompt is clear; the others are what it may mean.
    """

    masks: Float[Tensor, "b m h w"]
    iou: Float[Tensor, "b m"]


class SAM(nn.Module):
    """An eye with a neck, what makes tokens of prompts, the decoder of both, and masks from its tokens."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        width, count = config.width, config.masks + 1
        self.eye = make_eye(config.eye)
        self.neck = nn.Sequential(
            nn.Conv2d(_width_of(config.eye), width, 1, bias=False),
            ChannelNorm(width, eps=EPS),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            ChannelNorm(width, eps=EPS),
        )
        self.prompts = Prompts(config)
        self.iou_token, self.mask_tokens = nn.Parameter(torch.randn(1, width)), nn.Parameter(torch.randn(count, width))
        self.blocks = nn.ModuleList(TwoWayBlock(config, first=not i) for i in range(config.depth))
        self.last = _between(config)
        self.norm = nn.LayerNorm(width)
        self.enlarge = nn.Sequential(
            nn.ConvTranspose2d(width, width // 4, 2, stride=2),
            ChannelNorm(width // 4, eps=EPS),
            nn.GELU(),
            nn.ConvTranspose2d(width // 4, width // 8, 2, stride=2),
            nn.GELU(),
        )
        self.hyper = nn.ModuleList(_perceptron(width, width, width // 8, 3) for _ in range(count))
        self.to_iou = _perceptron(width, config.iou_hidden, count, config.iou_depth)

    def forward(
        self,
        image: Float[Tensor, "b c h w"],
        points: Float[Tensor, "b n 2"] | None = None,
        labels: Int[Tensor, "b n"] | None = None,
        boxes: Float[Tensor, "b 4"] | None = None,
        masks: Float[Tensor, "b 1 y x"] | None = None,
        with_mask: Bool[Tensor, " b"] | None = None,
    ) -> Segmented:
        """One prompt for each picture; see `prompt`."""
        return self.prompt(self.encode(image), points, labels, boxes, masks, with_mask)

    def encode(self, image: Float[Tensor, "b c h w"]) -> Seen:
        """See pictures once, to be asked often."""
        size = self.config.size
        if image.shape[-2:] != (size, size):
            raise ValueError(
                f"a picture of {image.shape[-2]}×{image.shape[-1]} is not what this model was built for; scale and pad "
                f"it to {size}×{size}"
            )
        cells = self.neck(self.eye.features(image).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return Seen(cells, self.prompts.cells(*cells.shape[1:3]))

    def prompt(
        self,
        seen: Seen,
        points: Float[Tensor, "p n 2"] | None = None,
        labels: Int[Tensor, "p n"] | None = None,
        boxes: Float[Tensor, "p 4"] | None = None,
        masks: Float[Tensor, "p 1 y x"] | None = None,
        with_mask: Bool[Tensor, " p"] | None = None,
    ) -> Segmented:
        """All masks that a prompt may mean: a row for each prompt, of one picture or of as many as there are prompts.

        `points` are x and y in pixels of the picture as the model sees it, where 0 is the middle of the first, with
        `labels`: 1 for in, 0 for out, -1 for none. `boxes` are left, top, right, bottom. `masks` are logits of an
        earlier answer; `with_mask` says which rows have one, if not all do.
        """
        tokens, dense = self.prompts(seen.cells.shape[1:3], points, labels, boxes, masks, with_mask)
        pictures, rows, columns = seen.cells.shape[:3]
        # Sizes, and not len(): one that is a symbol, as an exporter has them, would become a number.
        asked = tokens.shape[0] if pictures == 1 else pictures
        if tokens.shape[0] not in (1, asked):
            raise ValueError(
                f"{len(tokens)} prompts do not go with {pictures} pictures; give one picture, or one for each"
            )
        own = torch.cat((self.iou_token, self.mask_tokens)).expand(asked, -1, -1)
        tokens = torch.cat((own, tokens.expand(asked, -1, -1)), dim=1)
        x, y = tokens, (seen.cells + dense).flatten(1, 2).expand(asked, -1, -1)
        for block in self.blocks:
            x, y = block(x, y, tokens, seen.where)
        x = self.norm(x + self.last(x, self.last.remember(y, where=seen.where), where=tokens))
        fine = self.enlarge(torch.unflatten(y, 1, (rows, columns)).permute(0, 3, 1, 2))
        weights = torch.stack([make(x[:, 1 + i]) for i, make in enumerate(self.hyper)], dim=1)
        drawn = torch.unflatten(weights @ fine.flatten(2), 2, fine.shape[2:])
        return Segmented(drawn, self.to_iou(x[:, 0]))


class TwoWayBlock(nn.Module):
    """Tokens look at each other and at the cells, think, and are looked at by the cells (figure 14).

    What a token says at first is where it stands, so that the first block has no other positions for it.
    """

    def __init__(self, config: Config, *, first: bool) -> None:
        super().__init__()
        width, norm = config.width, partial(nn.LayerNorm, eps=config.eps)
        self.first = first
        self.attn, self.attn_norm = multihead(width, config.heads), norm(width)
        self.cross, self.cross_norm = _between(config), norm(width)
        self.mlp, self.mlp_norm = MLP(width, config.hidden, activation=nn.ReLU), norm(width)
        self.back, self.back_norm = _between(config), norm(width)

    def forward(
        self,
        x: Float[Tensor, "p m w"],
        y: Float[Tensor, "p n w"],
        tokens: Float[Tensor, "p m w"],
        where: Float[Tensor, "n w"],
    ) -> tuple[Float[Tensor, "p m w"], Float[Tensor, "p n w"]]:
        x = self.attn_norm(self.attn(x) if self.first else x + self.attn(x, where=tokens))
        x = self.cross_norm(x + self.cross(x, self.cross.remember(y, where=where), where=tokens))
        x = self.mlp_norm(x + self.mlp(x))
        y = self.back_norm(y + self.back(y, self.back.remember(x, where=tokens), where=where))
        return x, y


class Prompts(nn.Module):
    """Tokens of points and boxes, and cells of rough masks.

    A place is turned into waves of random directions (Tancik 2020), the same for prompts and cells, and what kind of
    point it is is added: out, in, or a corner of a box.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        width, quarter = config.width, config.mask_width // 4
        self.size = config.size
        self.waves = nn.Buffer(torch.randn(2, width // 2))
        # Out, in, first and last corner; small, so that a token says at first where it is.
        self.kinds = nn.ParameterList(torch.randn(1, width) * 0.1 for _ in range(4))
        self.nowhere, self.no_mask = nn.Parameter(torch.randn(1, width)), nn.Parameter(torch.randn(1, width))
        self.shrink = nn.Sequential(
            nn.Conv2d(1, quarter, 2, stride=2),
            ChannelNorm(quarter, eps=EPS),
            nn.GELU(),
            nn.Conv2d(quarter, config.mask_width, 2, stride=2),
            ChannelNorm(config.mask_width, eps=EPS),
            nn.GELU(),
            nn.Conv2d(config.mask_width, width, 1),
        )

    def forward(
        self,
        grid: tuple[int, int],
        points: Float[Tensor, "p n 2"] | None,
        labels: Int[Tensor, "p n"] | None,
        boxes: Float[Tensor, "p 4"] | None,
        masks: Float[Tensor, "p 1 y x"] | None,
        with_mask: Bool[Tensor, " p"] | None,
    ) -> tuple[Float[Tensor, "q m w"], Float[Tensor, "r i j w"]]:
        """The tokens of each prompt, and what is added to the cells; prompts without any have no tokens."""
        given = [each for each in (points, boxes, masks) if each is not None]
        found = [self.no_mask.new_zeros(given[0].shape[0] if given else 1, 0, self.no_mask.shape[1])]
        if (points is None) != (labels is None):
            raise ValueError("points and labels go together: 1 for a point in what is meant, 0 for one that is not")
        if points is not None and labels is not None:
            found.append(self.points(points, labels))
            if boxes is None:  # as in training, where a row was filled up to the tokens of a box
                found.append(self.nowhere.expand(points.shape[0], 1, -1))
        if boxes is not None:
            found.append(self.waved(torch.unflatten(boxes, 1, (2, 2)) + 0.5) + torch.stack((*self.kinds[2:],), dim=1))
        return torch.cat(found, dim=1), self.rough(grid, masks, with_mask)

    def points(self, points: Float[Tensor, "p n 2"], labels: Int[Tensor, "p n"]) -> Float[Tensor, "p n w"]:
        """Their tokens; those that are none have all the same one."""
        kind = labels[..., None]
        placed = self.waved(points + 0.5) + torch.where(kind == IN, self.kinds[IN], self.kinds[OUT])
        return torch.where(kind == NOWHERE, self.nowhere, placed)

    def rough(
        self, grid: tuple[int, int], masks: Float[Tensor, "p 1 y x"] | None, with_mask: Bool[Tensor, " p"] | None
    ) -> Float[Tensor, "r i j w"]:
        """What is added to the cells: that of a rough mask, or what says that there is none."""
        nothing = self.no_mask[:, None, None]
        if masks is None:
            return nothing
        if masks.shape[-2:] != (4 * grid[0], 4 * grid[1]):
            raise ValueError(
                f"a mask of {masks.shape[-2]}×{masks.shape[-1]} does not fit {grid[0]}×{grid[1]} cells; give the "
                f"logits of an earlier answer, which are {4 * grid[0]}×{4 * grid[1]}"
            )
        drawn: Tensor = self.shrink(masks).permute(0, 2, 3, 1)
        return drawn if with_mask is None else torch.where(with_mask[:, None, None, None], drawn, nothing)

    def cells(self, rows: int, columns: int) -> Float[Tensor, "n w"]:
        """Where the middles of the cells lie, row by row."""
        down, across = (torch.arange(side, device=self.waves.device) + 0.5 for side in (rows, columns))
        shares = torch.cartesian_prod(across / columns, down / rows).view(columns, rows, 2).transpose(0, 1)
        return self.waved(shares.flatten(0, 1) * self.size)

    def waved(self, places: Float[Tensor, "*n 2"]) -> Float[Tensor, "*n w"]:
        """Sines and cosines of places in pixels, x before y."""
        turns = 2 * math.pi * ((2 * places / self.size - 1).to(self.waves.dtype) @ self.waves)
        return torch.cat((turns.sin(), turns.cos()), dim=-1)


class EyeTower(VisionModel):
    """The paper's image encoder, without its neck."""

    def __init__(self, config: Eye) -> None:
        super().__init__()
        self.config = config
        self.stem = PatchEmbed(config.channels, config.patch, config.width)
        self.side = config.size // config.patch
        self.position = nn.Parameter(torch.randn(1, self.side, self.side, config.width) * 0.02)
        self.blocks = nn.ModuleList(
            Block(
                config.width,
                self.make_attention(self.side if i in config.everywhere else config.window),
                MLP(config.width, config.hidden),
                norm=partial(nn.LayerNorm, eps=config.eps),
            )
            for i in range(config.depth)
        )
        draw_weights(self)

    def make_attention(self, window: int) -> Partitioned:
        """One window may be as large as the map."""
        config, cells = self.config, (window, window)
        bias = Decomposed2d(config.width // config.heads, cells, cells)
        return Partitioned(multihead(config.width, config.heads, bias=bias), tinyvit.Padded(window))

    def features(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i j o"]:
        x: Tensor = self.stem(image) + self.position
        for block in self.blocks:
            x = block(x)
        return x

    def grid(self, height: int, width: int) -> tuple[int, int]:
        return height // self.config.patch, width // self.config.patch

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        return self.features(image).mean(dim=(1, 2))


class ChannelNorm(nn.LayerNorm):
    """A layer norm of the channels of each cell."""

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def make_eye(config: Seer) -> VisionModel:
    """A fresh model of pictures, which gives a map of features."""
    if isinstance(config, Eye):
        return EyeTower(config)
    if not isinstance(config, tinyvit.Config):
        return make_tower(config)
    if config.classes:
        raise ValueError(f"an eye with {config.classes} classes has a head that nothing reads; give 0")
    return tinyvit.TinyViT(config)


def _width_of(config: Seer) -> int:
    if isinstance(config, Eye):
        return config.width
    return config.widths[-1] if isinstance(config, tinyvit.Config) else width_of(config)


def _between(config: Config) -> Any:
    """An attention between tokens and cells, either way."""
    return multihead(config.width, config.heads, head_width=config.width // config.narrow // config.heads)


def _perceptron(width: int, hidden: int, outputs: int, depth: int) -> nn.Sequential:
    widths = [width, *[hidden] * (depth - 1), outputs]
    layers = [layer for before, after in pairwise(widths) for layer in (nn.Linear(before, after), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def example(config: Config) -> dict[str, Any]:
    size = config.size
    with torch.device("meta"), torch.no_grad():
        cells = make_eye(config.eye).eval().features(torch.empty(1, config.channels, size, size)).shape[1:3]
    return {
        "image": torch.randn(2, config.channels, size, size),
        "points": torch.rand(2, 3, 2) * size,
        "labels": torch.tensor([[IN, OUT, NOWHERE], [IN, IN, OUT]]),
        "boxes": torch.tensor([[0.1, 0.2, 0.6, 0.9], [0.3, 0.3, 0.7, 0.5]]) * size,
        "masks": torch.randn(2, 1, 4 * cells[0], 4 * cells[1]),
        "with_mask": torch.tensor([True, False]),
    }


_TINY = tinyvit.Config(
    96, widths=(32, 80), depths=(1, 3), heads=(4,), windows=(12,), strides=(2,), classes=0, drop_path=0.0
)
# §A of the paper and the authors' settings; the world's pictures have 96 pixels.
PRESETS = {
    "sam-base": Config(),
    "sam-large": Config(Eye(width=1024, depth=24, heads=16, hidden=4096, everywhere=(5, 11, 17, 23))),
    "sam-huge": Config(Eye(width=1280, depth=32, heads=16, hidden=5120, everywhere=(7, 15, 23, 31))),
    "sam-mobile": Config(tinyvit.PRESETS["tinyvit-mobile"], eps=1e-5),
    "sam-world": Config(_TINY, width=64, heads=4, hidden=128, narrow=1, mask_width=8, iou_hidden=64),
    "sam-nano": Config(
        Eye(32, patch=8, width=16, depth=2, heads=2, hidden=32, window=3, everywhere=(1,)),
        width=32,
        depth=2,
        heads=2,
        hidden=32,
        mask_width=4,
        iou_hidden=16,
    ),
}

FAMILY = Family("sam", Config, SAM, PRESETS, example)
