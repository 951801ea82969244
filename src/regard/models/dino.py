"""DINO: a student guesses, from parts of a picture, what its teacher says of the whole; no label is used (Caron 2021).

Both are the same network: a tower, and a head that ends in a distribution over `outputs` nameless classes. The teacher
is a moving average of the student. Two habits keep both from saying the same of every picture: its answers are
sharpened by a low temperature, and centred, so that no class is said more often than others.

Deviation: the teacher's buffers, such as the means of a batch norm, are those of the student.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.models import resnet, vit
from regard.models.family import Family
from regard.models.tower import Tower, make_tower

TEMPERATURE = 0.1  # of the student
SMALL = vit.Config(width=384, heads=6, hidden=1536, classes=0)


@dataclass(frozen=True, slots=True)
class Config:
    tower: Tower = SMALL
    small: int = 96  # side of the small crops, in pixels; the large ones are as the tower likes pictures
    depth: int = 3  # linear layers of the head before its bottleneck is scaled to length 1
    hidden: int = 2048
    bottleneck: int = 256
    outputs: int = 65536

    @property
    def size(self) -> int:
        return self.tower.size

    @property
    def channels(self) -> int:
        return self.tower.channels


class Said(NamedTuple):
    """What is said of the crops of each picture, as logits: by the student of all, by the teacher of the large ones."""

    student: Float[Tensor, "b n k"]
    teacher: Float[Tensor, "b v k"]


class Head(nn.Module):
    """An MLP down to a bottleneck of length 1, and the cosine with each class: a layer whose weights have length 1."""

    def __init__(self, width: int, config: Config) -> None:
        super().__init__()
        if config.depth < 1:
            raise ValueError(f"a head of depth {config.depth} has no bottleneck; give 1 or more, as the paper's 3")
        sides = [width, *[config.hidden] * (config.depth - 1), config.bottleneck]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sides))
        # The paper's 0.02 is right for its 2048 numbers. By how many there are, a narrow head tells pictures apart too.
        self.last = nn.Parameter(torch.randn(config.outputs, config.bottleneck) * config.bottleneck**-0.5)
        for layer, side in zip(self.layers, sides, strict=False):
            nn.init.trunc_normal_(layer.weight, std=side**-0.5)  # type: ignore[arg-type] # of a linear layer
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, x: Float[Tensor, "n w"], *, hold: bool = False) -> Float[Tensor, "n k"]:
        """`hold` keeps the last layer as it is, by gradients of zero."""
        for i, layer in enumerate(self.layers):
            x = layer(F.gelu(x) if i else x)
        last = self.last.detach() + 0.0 * self.last if hold else self.last
        with torch.autocast(x.device.type, enabled=False):  # low temperatures make much of the last digits of a cosine
            return F.linear(F.normalize(x.float(), dim=-1).to(last), F.normalize(last, dim=-1))


class Projected(nn.Module):
    """A tower and its head."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.tower = make_tower(config.tower)
        self.head = Head(_width(config.tower), config)

    def forward(self, image: Float[Tensor, "b v c h w"], *, hold: bool = False) -> Float[Tensor, "b v k"]:
        """What is said of several crops of each picture, all of one size."""
        vectors = self.tower(image.flatten(0, 1))
        return torch.unflatten(self.head(vectors, hold=hold), 0, (image.shape[0], image.shape[1]))


class DINO(nn.Module):
    """A student and its teacher, the centre of what the teacher says, and the step at which they stand."""

    centre: Tensor
    step: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.student, self.teacher = Projected(config), Projected(config)
        self.teacher.load_state_dict(self.student.state_dict())
        self.teacher.requires_grad_(False)
        self.register_buffer("centre", torch.zeros(config.outputs))
        self.register_buffer("step", torch.zeros((), dtype=torch.long))

    def train(self, mode: bool = True) -> "DINO":
        """The teacher never trains: nothing of it is dropped, and its norms are those of a measurement."""
        super().train(mode)
        self.teacher.eval()
        return self

    def forward(
        self,
        large: Float[Tensor, "b v c h w"],
        small: Float[Tensor, "b u c s t"] | None = None,
        *,
        hold: bool = False,
    ) -> Said:
        """`hold` keeps the last layer of the head as it is, as in the first epoch."""
        said = [self.student(each, hold=hold) for each in (large, small) if each is not None]
        with torch.no_grad():
            taught = self.teacher(large)
        return Said(torch.cat(said, dim=1), taught)

    @torch.no_grad()
    def follow(self, momentum: float) -> None:
        """The teacher keeps this share of itself and takes the rest from the student."""
        theirs, mine = ([*each.parameters()] for each in (self.teacher, self.student))
        torch._foreach_lerp_(theirs, mine, 1 - momentum)  # type: ignore[arg-type] # parameters are tensors
        for own, new in zip(self.teacher.buffers(), self.student.buffers(), strict=True):
            own.copy_(new)

    @torch.no_grad()
    def move_centre(self, mean: Float[Tensor, " k"], momentum: float = 0.9) -> None:
        """The centre keeps this share of itself and takes the rest from the mean of what the teacher said (eq. 4)."""
        self.centre.lerp_(mean, 1 - momentum)


def sharpen(
    taught: Float[Tensor, "b v k"], centre: Float[Tensor, " k"] | None, temperature: float
) -> Float[Tensor, "b v k"]:
    """What a teacher says as probabilities: less the centre, if there is one, and sharper the lower the temperature."""
    return ((taught.float() if centre is None else taught.float() - centre) / temperature).softmax(dim=-1)


def disagreement(
    student: Float[Tensor, "b n k"], taught: Float[Tensor, "b v k"], temperature: float = TEMPERATURE
) -> Float[Tensor, " b"]:
    """The cross-entropy of each of the teacher's answers with the student's to all other crops; the mean of a picture.

    The large crops stand first among those of the student.
    """
    said = (student.float() / temperature).log_softmax(dim=-1)
    lost = -(taught[:, :, None] * said[:, None]).sum(
        dim=-1
    )  # no product of matrices, which would be rounded to bfloat16
    views, crops = lost.shape[1:]
    if crops < 2:
        raise ValueError("one crop of a picture has no other to agree with; give two large ones, or small ones too")
    other = ~torch.eye(views, crops, dtype=torch.bool, device=lost.device)
    return lost[:, other].mean(dim=-1)


class Meters(NamedTuple):
    """How far from collapse a teacher is, in nats.

    Without centring one class takes all: both entropies go to 0. Without sharpening every answer becomes the same for
    all classes: both go to the logarithm of their number. In health each answer is sure, and all together are not.
    """

    entropy: float  # of an answer, on average
    spread: float  # the entropy of the mean answer
    divergence: float  # of the student from the teacher: 0 once nothing is left to learn


@torch.no_grad()
def meters(student: Float[Tensor, "b n k"], taught: Float[Tensor, "b v k"], temperature: float = TEMPERATURE) -> Meters:
    """Meters of a batch; `taught` are probabilities."""
    said = (student.float() / temperature).log_softmax(dim=-1)[:, : taught.shape[1]]
    entropy = _entropy(taught).mean()
    crossed = -(taught * said).sum(dim=-1).mean()
    return Meters(float(entropy), float(_entropy(taught.mean(dim=(0, 1)))), max(0.0, float(crossed - entropy)))


def teacher_momentum(step: int, steps: int, first: float = 0.996, last: float = 1.0) -> float:
    """What the teacher keeps of itself at a step: it goes from the first to the last along a cosine."""
    return last - (last - first) * (math.cos(math.pi * min(step / max(steps, 1), 1.0)) + 1) / 2


def teacher_temperature(step: int, warmup: int, first: float, last: float) -> float:
    """The temperature of the teacher at a step: from the first to the last on a line; a hot one learns more calmly."""
    return last if step >= warmup else first + (last - first) * step / warmup


def _entropy(taught: Float[Tensor, "*b k"]) -> Float[Tensor, "*b"]:
    found: Tensor = torch.special.entr(taught).sum(dim=-1)
    return found


def _width(config: Tower) -> int:
    """How many numbers the vector of a picture has."""
    if isinstance(config, vit.Config):
        return config.width * (2 if config.pool == "both" else 1)
    return config.widths[-1] if isinstance(config, resnet.Config) else config.last_width


def example(config: Config) -> dict[str, Any]:
    return {
        "large": torch.randn(2, 2, config.channels, config.size, config.size),
        "small": torch.randn(2, 3, config.channels, config.small, config.small),
    }


# Small and base are the paper's; those for CIFAR and for the little world are ours, and learn on a laptop.
PRESETS = {
    "dino-small": Config(),
    "dino-base": Config(tower=vit.Config(classes=0)),
    "dino-resnet": Config(tower=resnet.Config(classes=0)),
    "dino-cifar": Config(
        tower=vit.Config(32, patch=4, width=128, depth=5, heads=4, hidden=256, classes=0),
        small=16,
        hidden=256,
        bottleneck=64,
        outputs=1024,
    ),
    "dino-world": Config(
        tower=vit.Config(64, patch=8, width=96, depth=4, heads=4, hidden=192, classes=0),
        small=32,
        hidden=256,
        bottleneck=64,
        outputs=1024,
    ),
    "dino-nano": Config(
        tower=vit.Config(16, patch=4, width=32, depth=2, heads=4, hidden=64, classes=0),
        small=8,
        hidden=32,
        bottleneck=16,
        outputs=40,
    ),
}

FAMILY = Family("dino", Config, DINO, PRESETS, example, frozen=("teacher.",))
