"""Masked autoencoder: most of a picture is hidden, and the rest must be enough to paint it again (He 2022).

A ViT reads the patches that are left, and them alone, so that learning is cheap. A light decoder gets what it made of
them, puts a token of its own where a patch is hidden, and says the pixels of every patch. Afterwards it is thrown away:
the ViT is what was wanted, and is called `eye` here.

With `ground`, places are measured on the ground instead of in the picture (Scale-MAE, Reed 2023): the waves of the
positions are stretched by the metres of a pixel, so that one field looks alike from two heights. At distance 1 they are
the usual waves. Scale-MAE's second decoder, for low and high frequencies apart, is left out.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import multihead
from regard.layers.blocks import Block
from regard.layers.language import draw_weights
from regard.layers.mlp import MLP
from regard.layers.position import GroundSample, LearnedCells, WaveCells
from regard.models import vit
from regard.models.family import Family

PLACES = ("learned", "learned2d", "sinusoidal", "sinusoidal2d")  # positions that a patch takes with it
BASE = vit.Config(classes=0, position="sinusoidal2d")
EPS = 1e-6  # keeps the deviation of a patch of one colour from zero


@dataclass(frozen=True, slots=True)
class Config:
    tower: vit.Config = BASE
    width: int = 512  # of the decoder, as the three below
    depth: int = 8
    heads: int = 16
    hidden: int = 2048
    masked: float = 0.75  # the share of patches that is hidden
    normalized: bool = True  # each patch is to be painted with mean 0 and deviation 1 of its own
    ground: bool = False  # positions are scaled by metres per pixel

    def __post_init__(self) -> None:
        tower = self.tower
        if tower.classes or tower.stem != "patch" or tower.inject != "once" or tower.pool == "probe":
            raise ValueError(
                f"a masked autoencoder hides patches of a ViT without a head; this one has classes={tower.classes}, "
                f"stem={tower.stem!r}, inject={tower.inject!r} and pool={tower.pool!r}; give 0, 'patch', 'once' and "
                "'cls', 'mean' or 'both'"
            )
        if tower.position not in PLACES or (self.ground and tower.position != "sinusoidal2d"):
            allowed = "'sinusoidal2d'" if self.ground else f"one of {', '.join(PLACES)}"
            raise ValueError(f"position={tower.position!r} does not go with patches that are hidden; give {allowed}")
        if tower.size % tower.patch:
            raise ValueError(
                f"pictures of {tower.size} pixels are not cut into patches of {tower.patch}; give a multiple"
            )
        if not 0 < self.masked < 1:
            raise ValueError(f"masked={self.masked} leaves nothing to see or to paint; give a share such as 0.75")

    @property
    def size(self) -> int:
        return self.tower.size

    @property
    def channels(self) -> int:
        return self.tower.channels


class Painted(NamedTuple):
    """The pixels that are said of every patch, and which patches were hidden."""

    patches: Float[Tensor, "b n p"]
    hidden: Bool[Tensor, "b n"]


class Decoder(nn.Module):
    """Blocks over all patches, those that were seen and a token in place of each that was not; then pixels."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        tower = config.tower
        side = tower.size // tower.patch
        leading = int(vit.has_cls(tower))
        self.embed = nn.Linear(tower.width, config.width)
        self.mask = nn.Parameter(torch.randn(1, 1, config.width) * 0.02)
        self.position = (
            LearnedCells(side, side, config.width, leading=leading, full=tower.position == "learned")
            if tower.position.startswith("learned")
            else WaveCells(config.width, leading=leading, flat=tower.position == "sinusoidal")
        )
        self.ground = GroundSample(config.width) if config.ground else None
        norm = partial(nn.LayerNorm, eps=tower.eps)
        self.blocks = nn.ModuleList(
            Block(config.width, multihead(config.width, config.heads), MLP(config.width, config.hidden), norm=norm)
            for _ in range(config.depth)
        )
        self.norm = norm(config.width)
        self.paint = nn.Linear(config.width, tower.patch**2 * tower.channels)

    def forward(
        self,
        first: Float[Tensor, "b l w"],
        seen: Float[Tensor, "b m w"],
        kept: Int[Tensor, "b m"],
        grid: tuple[int, int],
        distance: Float[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b n p"]:
        """Leading tokens, the patches that were seen, their numbers, and the grid that all patches fill."""
        x = self.embed(torch.cat((first, seen), dim=1))
        leading, shown = x[:, : first.shape[1]], x[:, first.shape[1] :]
        everywhere = self.mask.to(x).expand(x.shape[0], grid[0] * grid[1], -1)
        cells = everywhere.scatter(1, kept[..., None].expand(-1, -1, x.shape[-1]), shown)
        if self.ground is not None and distance is not None:
            cells = self.ground(torch.unflatten(cells, 1, grid), distance).flatten(1, 2)
            x = torch.cat((leading, cells), dim=1)
        else:
            where = self.position(*grid).to(x)
            # Registers stand before the patches and have no place.
            spare = where.new_zeros(leading.shape[1] + cells.shape[1] - len(where), where.shape[-1])
            after = len(where) - cells.shape[1]
            x = torch.cat((leading, cells), dim=1) + torch.cat((where[:after], spare, where[after:]))
        for block in self.blocks:
            x = block(x)
        painted: Tensor = self.paint(self.norm(x[:, first.shape[1] :]))
        return painted


class MAE(nn.Module):
    """A ViT that sees a part of the patches, and a decoder that paints all."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.tower = vit.ViT(config.tower)
        self.ground = GroundSample(config.tower.width) if config.ground else None
        self.decoder = Decoder(config)
        draw_weights(self.decoder)

    @property
    def eye(self) -> vit.ViT:
        """The part that is kept when there is nothing left to paint."""
        return self.tower

    def forward(
        self,
        image: Float[Tensor, "b c h w"],
        noise: Float[Tensor, "b n"] | None = None,
        *,
        distance: Float[Tensor, " b"] | None = None,
    ) -> Painted:
        """The patches with the least `noise` are seen, all others hidden; without it, chance decides.

        `distance` is how much of the ground a pixel shows, in units of the pictures that are seen as usual.
        """
        if distance is not None and self.ground is None:
            raise ValueError(
                "a distance is given, and positions are not on the ground; build the model with ground=True"
            )
        grid = self.tower.grid(*image.shape[-2:])
        if noise is None:
            noise = torch.rand(image.shape[0], grid[0] * grid[1], device=image.device)
        kept, hidden = self.choose(noise)
        x = self.encode(image, kept, distance=distance)
        first = len(self.tower.leading)
        return Painted(self.decoder(x[:, :first], x[:, first:], kept, grid, distance), hidden)

    def choose(self, noise: Float[Tensor, "b n"]) -> tuple[Int[Tensor, "b m"], Bool[Tensor, "b n"]]:
        """The numbers of the patches that are seen, and which are hidden."""
        count = max(1, int(noise.shape[1] * (1 - self.config.masked)))
        kept = noise.argsort(dim=1)[:, :count]
        return kept, torch.ones_like(noise, dtype=torch.bool).scatter(1, kept, False)

    def encode(
        self,
        image: Float[Tensor, "b c h w"],
        kept: Int[Tensor, "b m"] | None = None,
        *,
        distance: Float[Tensor, " b"] | None = None,
    ) -> Float[Tensor, "b k o"]:
        """The states of the leading tokens and of the patches that are kept, or of all."""
        tower = self.tower
        cells = tower.stem(image)
        rows, columns = cells.shape[1:3]
        if self.ground is not None and distance is not None:
            x = torch.cat((*tower.prefix(image.shape[0]), self.ground(cells, distance).flatten(1, 2)), dim=1)
        else:
            x = torch.cat((*tower.prefix(image.shape[0]), cells.flatten(1, 2)), dim=1)
            x = tower.add_position(x, 0, rows, columns)
        first = len(tower.leading)
        if kept is not None:
            shown = x[:, first:].gather(1, kept[..., None].expand(-1, -1, x.shape[-1]))
            x = torch.cat((x[:, :first], shown), dim=1)
        x = tower.dropout(tower.first_norm(x))
        for block in tower.blocks:
            x = block(x)
        states: Tensor = tower.norm(x)
        return states


def cut(image: Float[Tensor, "b c h w"], patch: int) -> Float[Tensor, "b n p"]:
    """The pixels of each patch, row by row, the colours of one pixel beside each other."""
    return rearrange(image, "b c (i p) (j q) -> b (i j) (p q c)", p=patch, q=patch)


def join(patches: Float[Tensor, "b n p"], patch: int, grid: tuple[int, int]) -> Float[Tensor, "b c h w"]:
    """The picture that patches were cut from."""
    return rearrange(patches, "b (i j) (p q c) -> b c (i p) (j q)", i=grid[0], j=grid[1], p=patch, q=patch)


def lost(painted: Painted, image: Float[Tensor, "b c h w"], config: Config) -> Float[Tensor, " b"]:
    """The mean square of what the hidden patches are off, of each picture."""
    wanted = cut(image, config.tower.patch)
    if config.normalized:
        mean, scale = _own(wanted)
        wanted = (wanted - mean) / scale
    off = (painted.patches.float() - wanted).square().mean(dim=-1)
    return (off * painted.hidden).sum(dim=1) / painted.hidden.sum(dim=1)


def restored(painted: Painted, image: Float[Tensor, "b c h w"], config: Config) -> Float[Tensor, "b c h w"]:
    """The picture with its hidden patches as they were painted.

    Where patches are painted with a mean and deviation of their own, they get those of the true patch, as nothing else
    says them.
    """
    patch = config.tower.patch
    wanted, said = cut(image, patch), painted.patches
    if config.normalized:
        mean, scale = _own(wanted)
        said = said * scale + mean
    grid = image.shape[-2] // patch, image.shape[-1] // patch
    return join(torch.where(painted.hidden[..., None], said.to(wanted), wanted), patch, grid)


def _own(patches: Float[Tensor, "b n p"]) -> tuple[Tensor, Tensor]:
    """Mean and deviation of each patch."""
    return patches.mean(dim=-1, keepdim=True), (patches.var(dim=-1, keepdim=True) + EPS).sqrt()


def example(config: Config) -> dict[str, Any]:
    cells = (config.size // config.tower.patch) ** 2
    return {
        "image": torch.randn(2, config.channels, config.size, config.size),
        "noise": torch.rand(2, cells),
        **({"distance": torch.tensor([1.0, 2.5])} if config.ground else {}),
    }


# Base, large and huge are the paper's; those for CIFAR and for the little world are ours, and learn on a laptop.
PRESETS = {
    "mae-base": Config(),
    "mae-large": Config(
        tower=vit.Config(width=1024, depth=24, heads=16, hidden=4096, classes=0, position="sinusoidal2d")
    ),
    "mae-huge": Config(
        tower=vit.Config(patch=14, width=1280, depth=32, heads=16, hidden=5120, classes=0, position="sinusoidal2d")
    ),
    "mae-cifar": Config(
        tower=vit.Config(
            32, patch=4, width=128, depth=5, heads=4, hidden=256, classes=0, pool="mean", position="sinusoidal2d"
        ),
        width=64,
        depth=2,
        heads=4,
        hidden=128,
    ),
    "mae-world": Config(
        tower=vit.Config(
            64, patch=8, width=128, depth=5, heads=4, hidden=256, classes=0, pool="mean", position="sinusoidal2d"
        ),
        width=64,
        depth=2,
        heads=4,
        hidden=128,
    ),
    "mae-nano": Config(
        tower=vit.Config(16, patch=4, width=32, depth=2, heads=4, hidden=64, classes=0, position="sinusoidal2d"),
        width=16,
        depth=1,
        heads=2,
        hidden=32,
        ground=True,
    ),
}

FAMILY = Family("mae", Config, MAE, PRESETS, example)
