"""Context encoder: the middle of a picture is cut out, and what is around must be enough to paint it (Pathak 2016).

A tower of convolutions reads what is left. A layer that joins all places of a map, each channel for itself, tells every
place what the others saw; convolutions that double the map paint the hole. Painted by its mean square alone, the hole
is blurred, since the mean of all that it might be is nearest to each of it. An adversary that tells painted holes from
true ones asks for one of them instead (Goodfellow 2014).

Deviations: the tower is any of convolutions in place of AlexNet's layers; the adversary sees the painted square alone,
as the authors' does, and has no batch norm, so that what it says of one picture does not depend on others.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.func import functional_call

from regard.models import efficientnet, resnet
from regard.models.family import Family
from regard.models.tower import make_tower, width_of

RESNET = resnet.Config(block="basic", widths=(64, 128, 256, 512), depths=(2, 2, 2, 2), classes=0)
MORE = 10.0  # how much more the rim counts, which is seen and painted as well
SHARE = 0.001  # of the adversary in the loss, as the paper has it; the rest is the mean square's


@dataclass(frozen=True, slots=True)
class Config:
    tower: resnet.Config | efficientnet.Config = RESNET
    hole: int = 112  # side of the square in the middle that is painted, in pixels
    rim: int = 7  # pixels along its edges that are not hidden
    width: int = 512  # of the widest convolution that paints; each that doubles the map halves it
    judge: int = 64  # of the adversary's first convolution; 0 has none

    def __post_init__(self) -> None:
        if not 0 < self.hole - 2 * self.rim < self.hole + 1 <= self.tower.size:
            raise ValueError(
                f"a hole of {self.hole} with a rim of {self.rim} does not lie in a picture of {self.tower.size}; "
                "give a smaller hole that is more than twice as wide as its rim"
            )

    @property
    def size(self) -> int:
        return self.tower.size

    @property
    def channels(self) -> int:
        return self.tower.channels


class Filled(NamedTuple):
    """What is painted into the hole of each picture, and how true an adversary finds it, as logits."""

    hole: Float[Tensor, "b c s s"]
    judged: Float[Tensor, " b"] | None


class ChannelWise(nn.Module):
    """Every place of a map tells every other, each channel by a matrix of its own (§3.1); then channels are mixed."""

    def __init__(self, channels: int, cells: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, cells, cells) * cells**-0.5)
        self.mix = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Float[Tensor, "b c i j"]) -> Float[Tensor, "b c i j"]:
        told = torch.einsum("bcn,cnm->bcm", x.flatten(2), self.weight)
        mixed: Tensor = self.mix(F.relu(told).view_as(x))
        return mixed


class ContextEncoder(nn.Module):
    """A tower, the layer that joins all places, and convolutions that paint the hole; and its adversary."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.tower = make_tower(config.tower)
        with torch.no_grad(), torch.device("meta"):
            shape = make_tower(config.tower).features(torch.empty(1, config.channels, config.size, config.size)).shape
        rows, channels = shape[1], width_of(config.tower)
        doublings = (config.hole // rows).bit_length() - 1
        if rows << doublings != config.hole:
            raise ValueError(
                f"a map of {rows}×{rows} does not double to a hole of {config.hole}; give {rows << max(doublings, 0)}"
            )
        self.join = ChannelWise(channels, rows * rows)
        widths = [channels, *(max(config.width >> i, 8) for i in range(doublings))]
        self.paint = nn.Sequential()
        for before, after in pairwise(widths):
            double = nn.ConvTranspose2d(before, after, 4, 2, 1)
            self.paint.append(nn.Sequential(double, nn.BatchNorm2d(after), nn.ReLU()))
        self.last = nn.Conv2d(widths[-1], config.channels, 3, padding=1)
        self.adversary = _adversary(config) if config.judge else None

    @property
    def eye(self) -> nn.Module:
        """The part that is kept when there is nothing left to paint."""
        return self.tower

    @property
    def place(self) -> slice:
        """Where the painted square lies, along either side."""
        start = (self.config.size - self.config.hole) // 2
        return slice(start, start + self.config.hole)

    def forward(self, image: Float[Tensor, "b c h w"]) -> Filled:
        """Paint the middle of whole pictures, of which it is hidden first."""
        hole = self.fill(image)
        return Filled(hole, None if self.adversary is None else self.adversary(hole).flatten())

    def fill(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c s s"]:
        x = self.tower.features(self.hide(image)).permute(0, 3, 1, 2)
        painted: Tensor = self.last(self.paint(self.join(x)))
        return painted

    def hide(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        """A picture without its middle: 0 there, which is the mean colour of pictures that are scaled as usual."""
        return image.masked_fill(_square(self.config, image.device), 0.0)

    def filled(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        """A picture with its middle as it is painted; the rim stays as it is."""
        said = image.clone()
        said[..., self.place, self.place] = self.fill(image)
        return torch.where(_square(self.config, image.device), said, image)

    def hidden(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c s s"]:
        """Of pictures, what is hidden of each."""
        start, side = self.place.start + self.config.rim, self.config.hole - 2 * self.config.rim
        return image[..., start : start + side, start : start + side]

    def off(self, hole: Float[Tensor, "b c s s"], image: Float[Tensor, "b c h w"]) -> Float[Tensor, " b"]:
        """The mean square of what each hole is off; its rim, which is known, counts more."""
        weight = torch.full(hole.shape[-2:], MORE, device=hole.device)
        inner = slice(self.config.rim, self.config.hole - self.config.rim)
        weight[inner, inner] = 1.0
        return ((hole - image[..., self.place, self.place]).square() * (weight / weight.mean())).mean(dim=(1, 2, 3))

    def contest(
        self, hole: Float[Tensor, "b c s s"], image: Float[Tensor, "b c h w"]
    ) -> tuple[Float[Tensor, " b"], Float[Tensor, " b"]]:
        """The painter's loss and the adversary's: by neither the other learns.

        So one step of one optimizer moves both, each in its own interest.
        """
        if self.adversary is None:
            raise ValueError("judge is 0, so that there is no adversary; build the model with judge=64, say")
        true = image[..., self.place, self.place]
        held = {name: each.detach() for name, each in self.adversary.named_parameters()}
        believed = functional_call(self.adversary, held, (hole,)).flatten()
        found, real = self.adversary(hole.detach()).flatten(), self.adversary(true).flatten()
        return F.softplus(-believed), (F.softplus(found) + F.softplus(-real)) / 2


def _adversary(config: Config) -> nn.Sequential:
    """Convolutions that halve the square until 4 pixels are left, and one number."""
    layers, before, side, width = nn.Sequential(), config.channels, config.hole, config.judge
    while side > 4:
        layers.append(nn.Sequential(nn.Conv2d(before, width, 4, 2, 1), nn.LeakyReLU(0.2)))
        before, width, side = width, 2 * width, side // 2
    layers.append(nn.Conv2d(before, 1, side))
    return layers


def _square(config: Config, device: torch.device) -> Bool[Tensor, "h w"]:
    """Which pixels are hidden."""
    start = (config.size - config.hole) // 2 + config.rim
    inside = torch.zeros(config.size, dtype=torch.bool, device=device)
    inside[start : start + config.hole - 2 * config.rim] = True
    return inside[:, None] & inside


def example(config: Config) -> dict[str, Any]:
    return {"image": torch.randn(2, config.channels, config.size, config.size)}


def _small(size: int, stem_width: int, depths: tuple[int, ...]) -> Config:
    widths = (stem_width, 2 * stem_width, 4 * stem_width)
    tower = resnet.Config(
        size, stem="fast", stem_width=stem_width, block="basic", widths=widths, depths=depths, classes=0
    )
    return Config(tower=tower, hole=size // 2, rim=size // 32, width=4 * stem_width, judge=32)


# Base is about as large as the paper's; those for CIFAR and for the little world are ours, and learn on a laptop.
PRESETS = {
    "inpaint-base": Config(),
    "inpaint-cifar": _small(32, 32, (1, 1, 1)),
    "inpaint-world": _small(64, 32, (1, 1, 1)),
    "inpaint-nano": Config(
        tower=resnet.Config(16, stem="fast", stem_width=8, block="basic", widths=(8, 16), depths=(1, 1), classes=0),
        hole=8,
        rim=1,
        width=16,
        judge=8,
    ),
}

FAMILY = Family("inpaint", Config, ContextEncoder, PRESETS, example)
