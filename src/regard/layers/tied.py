"""The output layer that shares its matrix with the embedding."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Tied(nn.Module):
    """Logits by the matrix that embeds the words: weight tying (Press and Wolf 2017)."""

    def __init__(self, embed: nn.Embedding, *, bias: bool = False) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(embed.num_embeddings)) if bias else None
        self._embed = (embed,)  # in a tuple: the matrix belongs to the embedding, and is stored once

    @property
    def weight(self) -> Float[Tensor, "v w"]:
        return self._embed[0].weight

    def forward(self, x: Float[Tensor, "*b w"]) -> Float[Tensor, "*b v"]:
        return F.linear(x, self.weight, self.bias)
