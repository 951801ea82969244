"""Counter: a toy model from outside of the package, one attention over bytes that guesses how many words there are."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import multihead
from regard.models import Family


@dataclass(frozen=True, slots=True)
class Config:
    width: int = 16
    heads: int = 2


class Counter(nn.Module):
    """Bytes in, one number out."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(256, config.width)
        self.attn = multihead(config.width, config.heads)
        self.head = nn.Linear(config.width, 1)

    def forward(self, ids: Int[Tensor, "b n"]) -> Float[Tensor, "b 1"]:
        x = self.embed(ids)
        y: Tensor = self.head((x + self.attn(x)).mean(dim=1))
        return y


def example(config: Config) -> dict[str, Any]:
    return {"ids": torch.randint(256, (2, 7))}


PRESETS = {"counter-nano": Config(width=8)}

FAMILY = Family("counter", Config, Counter, PRESETS, example)
