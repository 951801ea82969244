"""DeiT: a ViT with a second token that learns from a teacher, such as a CNN (Touvron 2021).

Either token has a classifier of its own, and in use they are averaged. DeiT III (Touvron 2022) has no such token and is
a ViT with LayerScale and more stochastic depth: the presets that begin with deit-3. There positions are added before
[CLS] joins, which is left out here.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.vision import classifier
from regard.models import vit
from regard.models.family import Family
from regard.models.vit import ViT, example


@dataclass(frozen=True, slots=True)
class Config(vit.Config):
    drop_path: float = 0.1
    # Whether the classifier of the second token is averaged with that of [CLS], or there is none, or no such token.
    distilled: Literal["averaged", "unread", "none"] = "averaged"


class Answers(NamedTuple):
    """What the classifier says that learns from labels, and the one that learns from a teacher."""

    label: Float[Tensor, "b c"]
    teacher: Float[Tensor, "b c"]


class DeiT(ViT):
    """A ViT with [CLS] and [DISTILL] before its patches."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        second = config.distilled != "none"
        self.distill = nn.Parameter(torch.randn(1, 1, config.width) * 0.02) if second else None
        self.distill_head = classifier(config.width, config.classes) if config.distilled == "averaged" else None
        if isinstance(self.distill_head, nn.Linear):
            nn.init.normal_(self.distill_head.weight, std=0.02)
            nn.init.zeros_(self.distill_head.bias)

    @property
    def placed(self) -> tuple[str, ...]:
        return super().placed + (("[DISTILL]",) if self.config.distilled != "none" else ())

    def prefix(self, batch: int) -> list[Float[Tensor, "b n w"]]:
        first, *registers = super().prefix(batch)
        return [first, *([] if self.distill is None else [self.distill.expand(batch, -1, -1)]), *registers]

    def forward(self, image: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o"]:
        """The mean of what both classifiers say; without classes, of both tokens."""
        if self.distill_head is None:
            return super().forward(image)
        label, teacher = self.answer(image)
        return (label + teacher) / 2

    def answer(self, image: Float[Tensor, "b c h w"]) -> Answers:
        """What each classifier says, for a training that teaches them different things."""
        if self.distill_head is None:
            raise ValueError(
                f"a DeiT with distilled={self.config.distilled!r} has one answer; build it with 'averaged'"
            )
        states = self.read(image)
        return Answers(self.head(self.pool(states)), self.distill_head(states[:, 1]))


# Tiny, small and base are table 1 of the paper; those of DeiT III are table 1 of theirs, with LayerScale of 1e-6.
PRESETS = {
    "deit-tiny": Config(width=192, heads=3, hidden=768),
    "deit-small": Config(width=384, heads=6, hidden=1536),
    "deit-base": Config(),
    "deit-3-small": Config(width=384, heads=6, hidden=1536, layer_scale=1e-6, drop_path=0.05, distilled="none"),
    "deit-3-base": Config(layer_scale=1e-6, drop_path=0.2, distilled="none"),
    "deit-cifar": Config(32, patch=4, width=128, depth=5, heads=4, hidden=256, classes=10, drop_path=0.0),
    "deit-world": Config(64, patch=8, width=128, depth=5, heads=4, hidden=256, classes=64, drop_path=0.0),
    "deit-nano": Config(16, patch=4, width=32, depth=2, heads=4, hidden=64, classes=5),
}

FAMILY = Family("deit", Config, DeiT, PRESETS, example)
